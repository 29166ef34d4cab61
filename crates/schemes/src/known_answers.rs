//! Encodings and decryptions against vectors from outside; see `tests/vectors/README.md`.

use std::sync::Arc;

use cyclotron_ring::LimbBuf;
use serde::Deserialize;

use crate::encode::{CanonicalEmbedding, Complex, WideComplex};
use crate::limbs::{AnyRing, Limbs};
use crate::{
    Ciphertext, Context, Parameters, ParametersLiteral, Plaintext, Scheme, SecretKey, SlotCodec,
    decrypt_complex, decrypt_integers, decrypt_real, decrypt_wide,
};

#[derive(Deserialize)]
struct Encodings {
    ckks: Vec<CkksEncoding>,
    bgv: Vec<BgvEncoding>,
}

#[derive(Deserialize)]
struct CkksEncoding {
    log_n: u32,
    scale_bits: i32,
    values: Vec<(String, String)>,
    coefficients: Vec<String>,
}

impl CkksEncoding {
    fn values(&self) -> Vec<Complex> {
        let number = |text: &String| text.parse::<f64>().unwrap();
        let values = self.values.iter();
        values
            .map(|(re, im)| Complex::new(number(re), number(im)))
            .collect()
    }

    fn scale(&self) -> f64 {
        f64::from(self.scale_bits).exp2()
    }
}

#[derive(Deserialize)]
struct BgvEncoding {
    log_n: u32,
    plaintext_modulus: u64,
    slots: usize,
    factor: u64,
    values: Vec<i64>,
    coefficients: Vec<i64>,
}

#[derive(Deserialize)]
struct Foreign<V> {
    ring: usize,
    #[serde(default)]
    plaintext_modulus: Option<u64>,
    secret: Vec<i8>,
    values: Vec<V>,
    fresh: ForeignCiphertext,
    square: ForeignCiphertext,
}

#[derive(Deserialize)]
struct ForeignCiphertext {
    moduli: Vec<u64>,
    /// Coefficients by polynomial and limb.
    polys: Vec<Vec<Vec<u64>>>,
}

fn encodings() -> Encodings {
    serde_json::from_str(include_str!("../../../tests/vectors/encodings.json")).unwrap()
}

/// A context of a tiny ring whose data primes are given.
fn tiny(scheme: Scheme, log_n: u32, moduli: &[u64], t: Option<u64>) -> Context {
    let literal = ParametersLiteral {
        moduli: Some(moduli.to_vec()),
        scale_bits: (scheme == Scheme::Ckks).then_some(40.0),
        plaintext_modulus: t,
        word_bits: Some(64),
        allow_insecure: Some("known answers in a tiny ring".to_owned()),
        ..ParametersLiteral::new(scheme, log_n)
    };
    Context::new(Arc::new(Parameters::from_literal(&literal).unwrap())).unwrap()
}

fn primes(log_n: u32) -> Vec<u64> {
    cyclotron_ring::primes::ntt_primes(1 << 50, 2 << log_n, 3)
}

#[test]
fn ckks_encodings_match_the_definition() {
    for case in encodings().ckks {
        let values = case.values();
        let context = tiny(Scheme::Ckks, case.log_n, &primes(case.log_n), None);
        let scale = case.scale();
        let plain = Plaintext::encode_complex(&context, &values, 3, scale).unwrap();
        for (got, want) in plain.coefficients_f64().iter().zip(&case.coefficients) {
            let want: f64 = want.parse().unwrap();
            // f64 carries 53 bits of a slot; below that every coefficient is exact.
            let tolerance = if case.scale_bits <= 40 {
                0.0
            } else {
                scale * 2_f64.powi(-49)
            };
            assert!(
                (got - want).abs() <= tolerance,
                "scale 2^{}: {got} {want}",
                case.scale_bits
            );
        }
        let embedding = CanonicalEmbedding::new(case.log_n);
        let back = embedding.slots_of(&plain.coefficients_f64(), 1.0 / scale);
        for (got, want) in back.iter().zip(&values) {
            assert!((got.re - want.re).abs() < 1e-7 && (got.im - want.im).abs() < 1e-7);
        }
    }
}

/// Cases whose coefficients f64 does not hold.
fn wide_cases() -> Vec<CkksEncoding> {
    let cases = encodings().ckks.into_iter();
    let cases: Vec<CkksEncoding> = cases.filter(|case| case.scale_bits > 60).collect();
    assert!(cases.iter().any(|case| case.scale_bits == 95));
    cases
}

/// Every bit of large coefficients, by their residues, up to the error that is
/// proved for them: none at the lower scales.
#[test]
fn wide_encodings_are_exact() {
    for case in wide_cases() {
        let moduli = primes(case.log_n);
        let context = tiny(Scheme::Ckks, case.log_n, &moduli, None);
        let (values, scale) = (case.values(), case.scale());
        let plain = Plaintext::encode_complex(&context, &values, 3, scale).unwrap();
        let largest = values.iter().map(|z| z.re.hypot(z.im)).fold(0.0, f64::max);
        let tolerance = largest * scale * 2f64.powi(-93);
        assert_eq!(tolerance < 0.5, case.scale_bits < 90);
        let tolerance = tolerance as i128;
        let widened: Vec<WideComplex> = values.iter().map(|&z| z.into()).collect();
        let same = Plaintext::encode_wide(&context, &widened, 3, scale).unwrap();
        assert_eq!(plain, same);
        let AnyRing::W64(ring) = context.ring() else {
            unreachable!()
        };
        for (m, &q) in moduli.iter().enumerate() {
            let mut limb = plain.limb(&context, m).unwrap().to_u64();
            ring.intt_in_place(m, &mut limb);
            for (word, want) in limb.iter().zip(&case.coefficients) {
                let want: i128 = want.parse().unwrap();
                let error = (i128::from(*word) - want).rem_euclid(i128::from(q));
                let error = error.min(i128::from(q) - error);
                assert!(error <= tolerance, "{error} at scale 2^{}", case.scale_bits);
            }
        }
        let narrow = context.embedding().unwrap().coefficients(&values, scale);
        let mut coefficients = narrow.iter().zip(&case.coefficients);
        let exact = coefficients.all(|(c, want)| c.round() as i128 == want.parse().unwrap());
        assert!(!exact, "f64 does not hold these");
    }
}

/// The exact coefficients decrypt to the values up to their own rounding: half
/// a unit each, N of them, over the scale.
#[test]
fn wide_decodings_are_exact() {
    for case in wide_cases() {
        let moduli = primes(case.log_n);
        let context = tiny(Scheme::Ckks, case.log_n, &moduli, None);
        let secret = SecretKey::with_coefficients(&context, &vec![0; 1 << case.log_n]);
        let want: Vec<i128> = case
            .coefficients
            .iter()
            .map(|c| c.parse().unwrap())
            .collect();
        let residue = |c: &i128, q: u64| c.rem_euclid(i128::from(q)) as u64;
        let limbs = moduli
            .iter()
            .map(|&q| want.iter().map(|c| residue(c, q)).collect());
        let zero = vec![vec![0; 1 << case.log_n]; 3];
        let foreign = ForeignCiphertext {
            moduli: moduli.clone(),
            polys: vec![limbs.collect(), zero],
        };
        let ciphertext = foreign.load(&context, case.scale());
        let wide = decrypt_wide(&context, &secret, &ciphertext).unwrap();
        let narrow = decrypt_complex(&context, &secret, &ciphertext).unwrap();
        let tolerance = f64::from(1 << case.log_n) / 2.0 / case.scale();
        let mut values = case.values();
        values.resize(wide.len(), Complex::default());
        let mut narrow_error = 0f64;
        for ((wide, narrow), want) in wide.iter().zip(&narrow).zip(&values) {
            for (part, want) in [(wide.re, want.re), (wide.im, want.im)] {
                let error = (part.hi - want) + part.lo;
                assert!(error.abs() <= tolerance, "{part:?} {want} {tolerance}");
            }
            let error = (narrow.re - want.re).abs().max((narrow.im - want.im).abs());
            narrow_error = narrow_error.max(error);
        }
        assert!(
            narrow_error > tolerance || case.scale_bits < 80,
            "f64 holds these"
        );
    }
}

#[test]
fn bgv_encodings_match_the_definition() {
    for case in encodings().bgv {
        let t = case.plaintext_modulus;
        let context = tiny(Scheme::Bgv, case.log_n, &primes(case.log_n), Some(t));
        assert_eq!(context.params().slots(), case.slots);
        let codec = SlotCodec::new(context.params()).unwrap();
        let coefficients = codec.coefficients(&case.values, case.factor).unwrap();
        assert_eq!(coefficients, case.coefficients, "t {t}");
        let residues: Vec<u64> = coefficients
            .iter()
            .map(|c| c.rem_euclid(t as i64) as u64)
            .collect();
        let slots = codec.slots_of(&residues, 1);
        for (i, slot) in slots.iter().enumerate() {
            let value = case.values.get(i).copied().unwrap_or(0) * case.factor as i64;
            assert_eq!(*slot, value.rem_euclid(t as i64) as u64);
        }
    }
}

impl ForeignCiphertext {
    fn load(&self, context: &Context, scale: f64) -> Ciphertext {
        let AnyRing::W64(ring) = context.ring() else {
            unreachable!()
        };
        let polys = self
            .polys
            .iter()
            .map(|poly| {
                let limbs = poly.iter().enumerate().map(|(m, coefficients)| {
                    let mut limb = LimbBuf::from_slice(coefficients);
                    ring.ntt_in_place(m, &mut limb);
                    Arc::new(limb)
                });
                Limbs::W64(limbs.collect())
            })
            .collect();
        Ciphertext::from_limbs(context, polys, scale, 1).unwrap()
    }
}

#[test]
fn openfhe_ckks_ciphertexts_decrypt() {
    let vector: Foreign<f64> =
        serde_json::from_str(include_str!("../../../tests/vectors/openfhe_ckks.json")).unwrap();
    let context = tiny(
        Scheme::Ckks,
        vector.ring.ilog2(),
        &vector.fresh.moduli,
        None,
    );
    let secret = SecretKey::with_coefficients(&context, &vector.secret);
    let scale = 40_f64.exp2();
    let fresh = vector.fresh.load(&context, scale);
    // A product rescaled from level 3 to level 2 has that level's canonical scale.
    let square = vector.square.load(&context, context.scale_at(2));
    let fresh = decrypt_real(&context, &secret, &fresh).unwrap();
    let square = decrypt_real(&context, &secret, &square).unwrap();
    for ((got, squared), want) in fresh.iter().zip(&square).zip(&vector.values) {
        assert!((got - want).abs() < 1e-8, "{got} {want}");
        assert!((squared - want * want).abs() < 1e-8, "{squared} {want}");
    }
}

#[test]
fn openfhe_bgv_ciphertexts_decrypt() {
    let vector: Foreign<u64> =
        serde_json::from_str(include_str!("../../../tests/vectors/openfhe_bgv.json")).unwrap();
    let t = vector.plaintext_modulus.unwrap();
    let context = tiny(
        Scheme::Bgv,
        vector.ring.ilog2(),
        &vector.fresh.moduli,
        Some(t),
    );
    let secret = SecretKey::with_coefficients(&context, &vector.secret);
    // OpenFHE's primes are 1 mod t, so the correction factor stays 1.
    assert!(
        context
            .params()
            .correction_factors()
            .iter()
            .all(|&f| f == 1)
    );
    let fresh = decrypt_integers(&context, &secret, &vector.fresh.load(&context, 1.0)).unwrap();
    assert_eq!(fresh, vector.values);
    let square = decrypt_integers(&context, &secret, &vector.square.load(&context, 1.0)).unwrap();
    let wanted: Vec<u64> = vector.values.iter().map(|v| v * v % t).collect();
    assert_eq!(square, wanted);
}
