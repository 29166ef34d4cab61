//! The noise of fresh encryptions: its variance is the formula's, its bound is never exceeded.

use std::sync::Arc;

use cyclotron_ring::prf::Seed;
use cyclotron_schemes::{
    Ciphertext, Context, ERROR_BOUND, Parameters, ParametersLiteral, Plaintext, PublicKey, SIGMA,
    Scheme, SecretKey, encrypt_public, encrypt_secret, measure_noise,
};

const LOG_N: u32 = 12;
const N: f64 = (1 << LOG_N) as f64;

/// 26 ciphertexts have more than 10^5 coefficients.
const SAMPLES: u64 = 26;

fn contexts() -> Vec<Context> {
    let literal = |scheme, log_q: Vec<u32>| ParametersLiteral {
        log_q: Some(log_q),
        scale_bits: (scheme == Scheme::Ckks).then_some(30.0),
        plaintext_modulus: (scheme == Scheme::Bgv).then_some(65537),
        ..ParametersLiteral::new(scheme, LOG_N)
    };
    [
        literal(Scheme::Ckks, vec![32, 30]),
        literal(Scheme::Ckks, vec![50, 30]),
        literal(Scheme::Bgv, vec![32, 32]),
        literal(Scheme::Bgv, vec![50, 50]),
    ]
    .map(|literal| {
        let params = Parameters::from_literal(&literal).unwrap();
        Context::new(Arc::new(params)).unwrap()
    })
    .into()
}

fn plaintext(context: &Context, sample: u64) -> Plaintext {
    let level = context.params().levels();
    match context.params().scheme {
        Scheme::Ckks => {
            let values: Vec<f64> = (0..context.params().slots())
                .map(|i| (i as f64 + sample as f64).sin())
                .collect();
            Plaintext::encode_real(context, &values, level, context.scale_at(level)).unwrap()
        }
        Scheme::Bgv => {
            let values: Vec<i64> = (0..context.params().slots() as i64)
                .map(|i| i * i + sample as i64)
                .collect();
            Plaintext::encode_integers(context, &values, level, 1).unwrap()
        }
    }
}

/// Mean square of the noise over all samples, and its largest magnitude.
fn sample(
    context: &Context,
    encrypt: impl Fn(&SecretKey, &Plaintext, u64) -> Ciphertext,
) -> (f64, f64) {
    let (mut sum, mut count, mut largest) = (0.0, 0.0, 0.0_f64);
    for i in 0..SAMPLES {
        let secret = SecretKey::from_seed(context, &Seed::for_test(100 + i)).unwrap();
        let plain = plaintext(context, i);
        let ciphertext = encrypt(&secret, &plain, i);
        let noise = measure_noise(context, &secret, &ciphertext, &plain).unwrap();
        sum += noise.coefficients.iter().map(|c| c * c).sum::<f64>();
        count += noise.coefficients.len() as f64;
        largest = largest.max(noise.max_bits.exp2());
        assert!(
            noise.coefficients.iter().all(|c| c.fract() == 0.0),
            "noise is whole"
        );
        assert!(noise.room_bits > 10.0);
    }
    assert!(count > 1e5);
    (sum / count, largest)
}

#[test]
fn secret_key_noise_has_the_error_variance() {
    for context in contexts() {
        let (variance, largest) = sample(&context, |secret, plain, i| {
            encrypt_secret(&context, secret, plain, &Seed::for_test(i)).unwrap()
        });
        // The sum of squares over sigma^2 is chi-square with 26 N degrees of
        // freedom: 99.9 % lie within 3.29 sqrt(2 / 26 N) = 1.43 % of the mean.
        let deviation = variance / (SIGMA * SIGMA) - 1.0;
        assert!(deviation.abs() < 0.0143, "{deviation}");
        // Never above the sampler's tail cut, and not far below it among 10^5 samples.
        assert!((3.5 * SIGMA..=ERROR_BOUND).contains(&largest), "{largest}");
    }
}

#[test]
fn public_key_noise_has_the_formula_variance() {
    for context in contexts() {
        let (variance, largest) = sample(&context, |secret, plain, i| {
            let public = PublicKey::new(&context, secret).unwrap();
            encrypt_public(&context, &public, plain, &Seed::for_test(i)).unwrap()
        });
        // e u + e_0 + e_1 s, u and s of variance 2/3. Each of the 26 keys fixes
        // norms of e and s whose deviations, 2.2 % and 1.1 %, weigh a half.
        let expected = SIGMA * SIGMA * (4.0 / 3.0 * N + 1.0);
        let deviation = variance / expected - 1.0;
        assert!(
            deviation.abs() < 0.0143 + 3.29 * 0.0125 / (SAMPLES as f64).sqrt(),
            "{deviation}"
        );
        assert!(largest <= ERROR_BOUND * (1.0 + 2.0 * N));
        assert!(largest < 7.0 * expected.sqrt(), "{largest}");
    }
}
