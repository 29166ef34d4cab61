//! Encodings and decryptions against vectors from outside; see `tests/vectors/README.md`.

use std::sync::Arc;

use cyclotron_ring::LimbBuf;
use serde::Deserialize;

use crate::encode::{CanonicalEmbedding, Complex};
use crate::limbs::{AnyRing, Limbs};
use crate::{
    Ciphertext, Context, Parameters, ParametersLiteral, Plaintext, Scheme, SecretKey, SlotCodec,
    decrypt_integers, decrypt_real,
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
    values: Vec<(f64, f64)>,
    coefficients: Vec<String>,
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
        let values: Vec<Complex> = case
            .values
            .iter()
            .map(|&(re, im)| Complex::new(re, im))
            .collect();
        let context = tiny(Scheme::Ckks, case.log_n, &primes(case.log_n), None);
        let scale = f64::from(case.scale_bits).exp2();
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

#[test]
fn wide_coefficients_reduce_as_integers() {
    let case = encodings()
        .ckks
        .into_iter()
        .find(|case| case.scale_bits == 80)
        .unwrap();
    let values: Vec<Complex> = case
        .values
        .iter()
        .map(|&(re, im)| Complex::new(re, im))
        .collect();
    let moduli = primes(case.log_n);
    let context = tiny(Scheme::Ckks, case.log_n, &moduli, None);
    let plain = Plaintext::encode_complex(&context, &values, 3, 80_f64.exp2()).unwrap();
    let AnyRing::W64(ring) = context.ring() else {
        unreachable!()
    };
    for (m, &q) in moduli.iter().enumerate() {
        let mut limb = plain.limb(&context, m).unwrap().to_u64();
        ring.intt_in_place(m, &mut limb);
        for (word, c) in limb.iter().zip(plain.coefficients_f64()) {
            assert_eq!(*word, (c as i128).rem_euclid(i128::from(q)) as u64);
        }
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
