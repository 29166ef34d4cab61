//! Encryption followed by decryption, on both word widths.

use std::sync::Arc;

use cyclotron_ring::prf::Seed;
use cyclotron_schemes::{
    ChoiceRequest, Complex, Context, DoubleDouble, Parameters, Plaintext, PublicKey, SecretKey,
    WideComplex, WordClass, centred, choose, decrypt_complex, decrypt_integers, decrypt_wide,
    encrypt_public, encrypt_secret,
};

fn context(request: ChoiceRequest) -> Context {
    Context::new(Arc::new(choose(&request).unwrap())).unwrap()
}

fn complex_values(n: usize) -> Vec<Complex> {
    (0..n)
        .map(|i| {
            let x = i as f64;
            Complex::new((0.37 * x).sin(), (1.1 * x).cos())
        })
        .collect()
}

#[test]
fn ckks_decrypts_what_was_encrypted() {
    for (words, scale) in [(WordClass::WORD_32, 28.0), (WordClass::WORD_64, 45.0)] {
        let context = context(ChoiceRequest::ckks(3, scale, words));
        let secret = SecretKey::from_seed(&context, &Seed::for_test(1)).unwrap();
        let public = PublicKey::new(&context, &secret).unwrap();
        let values = complex_values(context.params().slots());
        for level in [1, 2, context.params().levels()] {
            let plain =
                Plaintext::encode_complex(&context, &values, level, context.scale_at(level))
                    .unwrap();
            let seed = Seed::for_test(2);
            let by_secret = encrypt_secret(&context, &secret, &plain, &seed).unwrap();
            let by_public = encrypt_public(&context, &public, &plain, &seed).unwrap();
            // Error of a slot: a sum of N rounded errors.
            let n = context.params().n() as f64;
            for (ciphertext, bound) in [(by_secret, 40.0 * n.sqrt()), (by_public, 80.0 * n)] {
                let out = decrypt_complex(&context, &secret, &ciphertext).unwrap();
                let tolerance = bound / context.scale_at(level);
                for (got, want) in out.iter().zip(&values) {
                    assert!((got.re - want.re).abs() < tolerance, "level {level}");
                    assert!((got.im - want.im).abs() < tolerance, "level {level}");
                }
            }
        }
    }
}

/// At a scale of 2^90 the noise leaves more bits than f64 has: they come back.
#[test]
fn ckks_keeps_more_bits_than_a_word_has() {
    let context = context(ChoiceRequest::ckks(3, 45.0, WordClass::WORD_64));
    let secret = SecretKey::from_seed(&context, &Seed::for_test(1)).unwrap();
    let tail = |x: f64| DoubleDouble {
        hi: x,
        lo: x * 0.4 * 2f64.powi(-53),
    };
    let values = complex_values(context.params().slots());
    let values: Vec<WideComplex> = values
        .iter()
        .map(|z| WideComplex {
            re: tail(z.re),
            im: tail(z.im),
        })
        .collect();
    let (level, scale) = (context.params().levels(), 90f64.exp2());
    let plain = Plaintext::encode_wide(&context, &values, level, scale).unwrap();
    let ciphertext = encrypt_secret(&context, &secret, &plain, &Seed::for_test(2)).unwrap();
    let out = decrypt_wide(&context, &secret, &ciphertext).unwrap();
    let tolerance = 40.0 * (context.params().n() as f64).sqrt() / scale;
    for (got, want) in out.iter().zip(&values) {
        for (got, want) in [(got.re, want.re), (got.im, want.im)] {
            let error = (got.hi - want.hi) + (got.lo - want.lo);
            assert!(error.abs() < tolerance, "{got:?} {want:?}");
        }
    }
    let infinite = vec![WideComplex::from(Complex::from(f64::INFINITY))];
    assert!(Plaintext::encode_wide(&context, &infinite, level, scale).is_err());
}

#[test]
fn bgv_decrypts_what_was_encrypted() {
    for words in [WordClass::WORD_32, WordClass::WORD_64] {
        for t in [257, 12289, 65537] {
            let context = context(ChoiceRequest::bgv(2, t, words));
            let secret = SecretKey::from_seed(&context, &Seed::for_test(1)).unwrap();
            let public = PublicKey::new(&context, &secret).unwrap();
            let t_signed = t as i64;
            let values: Vec<i64> = (0..context.params().slots() as i64)
                .map(|i| (i * i * 7 - 3) % t_signed - t_signed / 3)
                .collect();
            let wanted: Vec<u64> = values
                .iter()
                .map(|v| v.rem_euclid(t_signed) as u64)
                .collect();
            for level in 1..=context.params().levels() {
                let factor = context.factor_at(level);
                let plain = Plaintext::encode_integers(&context, &values, level, factor).unwrap();
                let seed = Seed::for_test(2);
                let by_secret = encrypt_secret(&context, &secret, &plain, &seed).unwrap();
                let by_public = encrypt_public(&context, &public, &plain, &seed).unwrap();
                for ciphertext in [by_secret, by_public] {
                    let out = decrypt_integers(&context, &secret, &ciphertext).unwrap();
                    assert_eq!(out, wanted, "t {t} level {level}");
                    for (c, v) in centred(&out, t).iter().zip(&values) {
                        assert!((c - v) % t_signed == 0 && 2 * c.abs() <= t_signed);
                    }
                }
            }
        }
    }
}

/// Every piece of a context that a program holds is usable from several threads.
#[test]
fn shared_types_cross_threads() {
    fn shared<T: Send + Sync>() {}
    shared::<Context>();
    shared::<SecretKey>();
    shared::<cyclotron_schemes::SwitchKey>();
    shared::<cyclotron_schemes::PlainOperand>();
    shared::<Parameters>();
}
