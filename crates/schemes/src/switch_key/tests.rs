//! Hints against their definition, and what is refused.

use std::sync::Arc;

use super::*;
use crate::{ParametersLiteral, Scheme};

const LOG_N: u32 = 5;
const N: usize = 1 << LOG_N;

fn contexts() -> Vec<Context> {
    let mut contexts = Vec::new();
    for scheme in [Scheme::Ckks, Scheme::Bgv] {
        for bits in [28, 45] {
            for digit_limbs in [1, 2] {
                let literal = ParametersLiteral {
                    log_q: Some(vec![bits; 3]),
                    log_p: Some(vec![bits + 1; digit_limbs]),
                    scale_bits: (scheme == Scheme::Ckks).then_some(f64::from(bits) - 3.0),
                    plaintext_modulus: (scheme == Scheme::Bgv).then_some(257),
                    base_limbs: Some(3),
                    allow_insecure: Some("a tiny ring".to_owned()),
                    ..ParametersLiteral::new(scheme, LOG_N)
                };
                let params = Parameters::from_literal(&literal).unwrap();
                contexts.push(Context::new(Arc::new(params)).unwrap());
            }
        }
    }
    contexts
}

/// The coefficients of s(x^k).
fn image_of(s: &[i64], k: usize) -> Vec<i64> {
    let mut result = vec![0; N];
    for (i, &x) in s.iter().enumerate() {
        let power = i * k;
        result[power % N] = if (power / N).is_multiple_of(2) { x } else { -x };
    }
    result
}

fn square(s: &[i64]) -> Vec<i64> {
    let mut result = vec![0; N];
    for (i, &x) in s.iter().enumerate() {
        for (j, &y) in s.iter().enumerate() {
            result[(i + j) % N] += if i + j < N { x * y } else { -x * y };
        }
    }
    result
}

/// The secrets that a hint switches from and to, from their definition.
fn secrets(s: &[i64], target: KeyTarget) -> (Vec<i64>, Vec<i64>) {
    match target {
        KeyTarget::Relin => (square(s), s.to_vec()),
        KeyTarget::Galois(k) => {
            let inverse = (1..2 * N).find(|i| i * k as usize % (2 * N) == 1);
            (s.to_vec(), image_of(s, inverse.expect("k is odd")))
        }
    }
}

/// `b + a s` modulo prime m in coefficient domain, for the limb words b and a.
fn phase<W: ClientWord>(ring: &Ring<W>, m: usize, b: &AnyLimb, a: &AnyLimb, s: &[i64]) -> Vec<u64> {
    let (b, a) = (W::view_limb(b).unwrap(), W::view_limb(a).unwrap());
    let s = crate::keys::small_limb(ring, m, s);
    let mut sum = LimbBuf::zeroed(N);
    ring.mac(m, &mut sum, b, a, &s);
    ring.intt_in_place(m, &mut sum);
    sum.iter().map(|w| w.to_u64()).collect()
}

/// The product of the special primes modulo q on the primes of the digit, 0 elsewhere.
fn expected_gadget(params: &Parameters, variant: KeyVariant, digit: usize, m: usize) -> u128 {
    let width = if variant == KeyVariant::Hybrid {
        params.digit_limbs
    } else {
        1
    };
    if m >= params.levels() || m / width != digit {
        return 0;
    }
    let q = u128::from(params.moduli[m]);
    match variant {
        KeyVariant::Listing1 => 1,
        KeyVariant::Hybrid => params.special.iter().fold(1, |p, &x| p * u128::from(x) % q),
    }
}

#[test]
fn hints_hide_their_source_under_small_errors() {
    for context in contexts() {
        let params = context.params();
        let coefficients: Vec<i8> = (0..N as i32).map(|i| (i * i % 3 - 1) as i8).collect();
        let s: Vec<i64> = coefficients.iter().map(|&c| i64::from(c)).collect();
        let secret = SecretKey::with_coefficients(&context, &coefficients);
        let unit = params.plaintext_modulus.max(1) as i64;
        let targets = [
            KeyTarget::Relin,
            KeyTarget::Galois(3),
            KeyTarget::Galois(5),
            KeyTarget::Galois(2 * N as u32 - 1),
        ];
        for target in targets {
            for variant in [KeyVariant::Listing1, KeyVariant::Hybrid] {
                let spec = KeySpec { target, variant };
                let key = SwitchKey::new(&context, &secret, spec).unwrap();
                let (from, to) = secrets(&s, target);
                for digit in 0..spec.digits(params) {
                    let mut errors: Option<Vec<i64>> = None;
                    for m in 0..spec.limbs(params) {
                        let b = key.limb(&context, digit, 0, m).unwrap();
                        let a = key.limb(&context, digit, 1, m).unwrap();
                        let phase = with_ring!(context.ring(), ring => phase(ring, m, &b, &a, &to));
                        let q = i128::from(params.extended()[m]);
                        let gadget = expected_gadget(params, variant, digit, m) as i128;
                        let found: Vec<i64> = phase
                            .iter()
                            .zip(&from)
                            .map(|(&v, &x)| {
                                let e = (i128::from(v) - gadget * i128::from(x)).rem_euclid(q);
                                (if e > q / 2 { e - q } else { e }) as i64
                            })
                            .collect();
                        assert!(found.iter().all(|e| e % unit == 0 && e.abs() <= 32 * unit));
                        assert!(found.iter().any(|&e| e != 0));
                        // One error polynomial for all limbs of a digit.
                        assert_eq!(
                            errors.get_or_insert_with(|| found.clone()),
                            &found,
                            "{spec}"
                        );
                    }
                }
            }
        }
    }
}

#[test]
fn stored_parts_give_the_key_again() {
    let context = &contexts()[0];
    let secret = SecretKey::from_seed(context, &Seed::for_test(1)).unwrap();
    for spec in [
        KeySpec::relin(KeyVariant::Hybrid),
        KeySpec::galois(5, KeyVariant::Hybrid),
    ] {
        let key = SwitchKey::new(context, &secret, spec).unwrap();
        let parts = |b: Vec<Limbs>| SwitchKey::from_parts(context, spec, *key.seed(), b);
        let stored = key.stored_b(context).unwrap();
        let again = parts(stored.clone()).unwrap();
        for poly in 0..2 {
            assert_eq!(
                again.limb(context, 1, poly, 2).unwrap(),
                key.limb(context, 1, poly, 2).unwrap()
            );
        }
        assert!(parts(stored[1..].to_vec()).is_err());
        let mut short = stored;
        short[0] = Limbs::W32(Vec::new());
        assert!(parts(short).is_err());
    }
}

#[test]
fn limbs_outside_the_hint_are_refused() {
    let context = &contexts()[0];
    let secret = SecretKey::from_seed(context, &Seed::for_test(1)).unwrap();
    let key = SwitchKey::new(context, &secret, KeySpec::relin(KeyVariant::Hybrid)).unwrap();
    for (digit, poly, limb) in [(3, 0, 0), (0, 2, 0), (0, 0, 4), (0, 1, 4), (3, 1, 0)] {
        let result = key.limb(context, digit, poly, limb);
        assert!(matches!(result, Err(SchemeError::NoSuchLimb { .. })));
    }
}

/// A key's own modulus is checked where the key is made, whatever was checked before.
#[test]
fn a_key_above_the_table_is_refused() {
    let literal = ParametersLiteral {
        log_q: Some(vec![27, 25]),
        log_p: Some(vec![27]),
        plaintext_modulus: Some(257),
        allow_insecure: Some("the hybrid key's modulus has 79 bits".to_owned()),
        ..ParametersLiteral::new(Scheme::Bgv, 11)
    };
    let mut stripped = Parameters::from_literal(&literal).unwrap();
    assert!(stripped.insecure.take().is_some());
    let params = Arc::new(stripped);
    assert!(Context::new(Arc::clone(&params)).is_err());
    let ring = crate::AnyRing::new(&params, cyclotron_ring::Simd::Scalar).unwrap();
    let context = Context::over(params, ring);
    assert!(SecretKey::from_seed(&context, &Seed::for_test(1)).is_err());
    let secret = SecretKey::with_coefficients(&context, &[0; 2048]);
    assert!(SwitchKey::new(&context, &secret, KeySpec::relin(KeyVariant::Listing1)).is_ok());
    let hybrid = SwitchKey::new(&context, &secret, KeySpec::relin(KeyVariant::Hybrid));
    assert!(matches!(
        hybrid,
        Err(SchemeError::Parameters(crate::ParameterError::Insecure {
            modulus: "QP",
            ..
        }))
    ));
}
