//! Keys: determinism, separation, refusals, secrecy.

use std::sync::Arc;

use cyclotron_ring::Simd;
use cyclotron_ring::prf::Seed;
use cyclotron_schemes::{
    Ciphertext, Context, KeySpec, KeyVariant, Limbs, Parameters, ParametersLiteral, Plaintext,
    PublicKey, Scheme, SchemeError, SecretKey, SwitchKey, decrypt_complex, decrypt_integers,
    decrypt_real, encrypt_public, encrypt_secret, expand_mask, measure_noise,
};

fn params(scheme: Scheme, log_q: &[u32], log_p: u32) -> Parameters {
    let literal = ParametersLiteral {
        log_q: Some(log_q.to_vec()),
        log_p: Some(vec![log_p]),
        scale_bits: (scheme == Scheme::Ckks).then_some(28.0),
        plaintext_modulus: (scheme == Scheme::Bgv).then_some(65537),
        allow_insecure: Some("a small ring for tests".to_owned()),
        ..ParametersLiteral::new(scheme, 10)
    };
    Parameters::from_literal(&literal).unwrap()
}

fn ckks() -> Context {
    Context::new(Arc::new(params(Scheme::Ckks, &[30, 28, 28], 30))).unwrap()
}

fn bgv() -> Context {
    Context::new(Arc::new(params(Scheme::Bgv, &[45, 45], 45))).unwrap()
}

fn plain(context: &Context) -> Plaintext {
    let level = context.params().levels();
    match context.params().scheme {
        Scheme::Ckks => {
            Plaintext::encode_real(context, &[1.0, -2.0], level, context.scale_at(level))
        }
        Scheme::Bgv => Plaintext::encode_integers(context, &[1, -2], level, 1),
    }
    .unwrap()
}

fn hint_words(context: &Context, key: &SwitchKey) -> Vec<Vec<u64>> {
    let params = context.params();
    let mut words = Vec::new();
    for digit in 0..key.spec().digits(params) {
        for poly in 0..2 {
            for limb in 0..key.spec().limbs(params) {
                words.push(key.limb(context, digit, poly, limb).unwrap().to_u64());
            }
        }
    }
    words
}

#[test]
fn seeds_reproduce_every_byte_on_every_simd_path_and_thread_count() {
    let parameters = Arc::new(params(Scheme::Ckks, &[30, 28, 28], 30));
    let spec = KeySpec::galois(5, KeyVariant::Hybrid);
    let make = |simd: Simd| {
        let context = Context::with_simd(Arc::clone(&parameters), simd).unwrap();
        let secret = SecretKey::from_seed(&context, &Seed::for_test(3)).unwrap();
        let key = SwitchKey::new(&context, &secret, spec).unwrap();
        let public = PublicKey::new(&context, &secret).unwrap();
        let message = plain(&context);
        let seed = Seed::for_test(4);
        let by_secret = encrypt_secret(&context, &secret, &message, &seed).unwrap();
        let by_public = encrypt_public(&context, &public, &message, &seed).unwrap();
        (hint_words(&context, &key), public, by_secret, by_public)
    };
    let reference = make(Simd::Scalar);
    for simd in Simd::available() {
        assert!(make(simd) == reference, "{simd}");
    }
    let one_thread = rayon::ThreadPoolBuilder::new()
        .num_threads(1)
        .build()
        .unwrap();
    assert!(one_thread.install(|| make(Simd::Scalar)) == reference);
}

#[test]
fn seeds_and_parameters_separate_streams() {
    let context = ckks();
    let longer = Context::new(Arc::new(params(Scheme::Ckks, &[30, 28, 28, 28], 30))).unwrap();
    let words = |context: &Context, seed: u64, name: &str| {
        let secret = SecretKey::from_seed(context, &Seed::for_test(seed)).unwrap();
        let key = SwitchKey::new(context, &secret, name.parse().unwrap()).unwrap();
        hint_words(context, &key)
    };
    let mut limbs: Vec<Vec<u64>> = Vec::new();
    for (seed, name) in [(1, "galois:5/hybrid"), (2, "galois:5/hybrid")] {
        limbs.extend(words(&context, seed, name));
    }
    for name in [
        "relin/hybrid",
        "galois:25/hybrid",
        "galois:5/listing1",
        "relin/listing1",
    ] {
        limbs.extend(words(&context, 1, name));
    }
    limbs.extend(words(&longer, 1, "galois:5/hybrid"));
    let count = limbs.len();
    limbs.sort_unstable();
    limbs.dedup();
    assert_eq!(limbs.len(), count, "no limb occurs twice");
}

#[test]
fn an_encryption_seed_used_twice_does_not_cancel() {
    let context = ckks();
    let secret = SecretKey::from_seed(&context, &Seed::for_test(1)).unwrap();
    let level = context.params().levels();
    let encrypt = |value: f64| {
        let plain = Plaintext::encode_real(&context, &[value], level, context.scale_at(level));
        encrypt_secret(&context, &secret, &plain.unwrap(), &Seed::for_test(9)).unwrap()
    };
    let (a, b, again) = (encrypt(1.0), encrypt(2.0), encrypt(1.0));
    assert_eq!(a, again);
    assert_ne!(a.polys[1], b.polys[1]);
    assert_ne!(a.seed, b.seed);
    let mask = expand_mask(&context, a.seed.unwrap(), level).unwrap();
    assert_eq!(mask, a.polys[1]);
}

fn is_mismatch<T: std::fmt::Debug>(result: Result<T, SchemeError>, hashes: [String; 2]) -> bool {
    match result {
        Err(error @ SchemeError::ParameterMismatch { .. }) => {
            hashes.iter().all(|hash| error.to_string().contains(hash))
        }
        _ => false,
    }
}

#[test]
fn objects_of_other_parameters_are_refused() {
    let (here, there) = (
        ckks(),
        Context::new(Arc::new(params(Scheme::Ckks, &[31, 28, 28], 31))).unwrap(),
    );
    let hashes = || [here.hash().short(), there.hash().short()];
    let secret = SecretKey::from_seed(&there, &Seed::for_test(1)).unwrap();
    let own = SecretKey::from_seed(&here, &Seed::for_test(1)).unwrap();
    let public = PublicKey::new(&there, &secret).unwrap();
    let spec = KeySpec::relin(KeyVariant::Hybrid);
    let key = SwitchKey::new(&there, &secret, spec).unwrap();
    let message = plain(&here);
    let seed = Seed::for_test(2);
    let foreign = encrypt_secret(&there, &secret, &message, &seed).unwrap();

    assert!(is_mismatch(
        encrypt_secret(&here, &secret, &message, &seed),
        hashes()
    ));
    assert!(is_mismatch(
        encrypt_public(&here, &public, &message, &seed),
        hashes()
    ));
    assert!(is_mismatch(SwitchKey::new(&here, &secret, spec), hashes()));
    assert!(is_mismatch(PublicKey::new(&here, &secret), hashes()));
    assert!(is_mismatch(key.limb(&here, 0, 0, 0), hashes()));
    assert!(is_mismatch(
        decrypt_complex(&here, &own, &foreign),
        hashes()
    ));
    assert!(is_mismatch(
        decrypt_complex(&there, &own, &foreign),
        hashes()
    ));
    assert!(is_mismatch(
        measure_noise(&here, &own, &foreign, &message),
        hashes()
    ));
}

#[test]
fn malformed_ciphertexts_are_refused() {
    let context = ckks();
    let secret = SecretKey::from_seed(&context, &Seed::for_test(1)).unwrap();
    let good = encrypt_secret(&context, &secret, &plain(&context), &Seed::for_test(2)).unwrap();
    let refused = |change: &dyn Fn(&mut Ciphertext)| {
        let mut bad = good.clone();
        change(&mut bad);
        assert!(decrypt_real(&context, &secret, &bad).is_err());
        bad.check(&context).unwrap_err().to_string()
    };
    let spoil = |c: &mut Ciphertext, value: u32| {
        if let Limbs::W32(limbs) = &mut c.polys[1] {
            Arc::make_mut(&mut limbs[2])[17] = value;
        }
    };
    let q = context.params().moduli[2] as u32;
    let message = refused(&|c| spoil(c, q));
    assert!(
        message.contains("limb 2 of polynomial 1") && message.contains("17"),
        "{message}"
    );
    spoil(&mut good.clone(), q - 1);
    refused(&|c| c.level = 2);
    refused(&|c| c.level = 4);
    refused(&|c| c.level = 0);
    refused(&|c| c.polys.truncate(1));
    refused(&|c| c.polys = vec![c.polys[0].clone(); 4]);
    refused(&|c| c.scale = f64::NAN);
    refused(&|c| c.scale = 0.0);
    refused(&|c| c.factor = 2);
    refused(&|c| c.insecure = None);
    refused(&|c| c.polys[0] = Limbs::W64(vec![Arc::default(); 3]));
    assert!(Ciphertext::from_limbs(&context, Vec::new(), 1.0, 1).is_err());
}

#[test]
fn bad_values_do_not_encode() {
    let (context, top) = (ckks(), 3);
    let scale = context.scale_at(top);
    let encode = |values: &[f64], level: usize, scale: f64| {
        Plaintext::encode_real(&context, values, level, scale)
            .map(|_| ())
            .unwrap_err()
    };
    assert!(matches!(
        encode(&[0.0; 513], top, scale),
        SchemeError::TooManySlots {
            values: 513,
            slots: 512,
            ..
        }
    ));
    assert!(matches!(
        encode(&[0.0, f64::NAN], top, scale),
        SchemeError::NotFinite { slot: 1, .. }
    ));
    assert!(matches!(
        encode(&[f64::INFINITY], top, scale),
        SchemeError::NotFinite { slot: 0, .. }
    ));
    assert!(matches!(
        encode(&[1.0; 512], 1, 2_f64.powi(40)),
        SchemeError::Overflow { level: 1, .. }
    ));
    assert!(matches!(
        encode(&[1e308, 1e308], top, 1e300),
        SchemeError::Overflow { .. }
    ));
    assert!(matches!(
        encode(&[1.0], 0, scale),
        SchemeError::BadLevel { .. }
    ));
    assert!(matches!(
        encode(&[1.0], 4, scale),
        SchemeError::BadLevel { .. }
    ));
    for bad in [0.0, -1.0, f64::NAN, f64::INFINITY] {
        assert!(matches!(
            encode(&[1.0], top, bad),
            SchemeError::BadScale { .. }
        ));
    }
    assert!(matches!(
        Plaintext::encode_integers(&context, &[1], top, 1),
        Err(SchemeError::WrongScheme {
            expected: Scheme::Bgv,
            ..
        })
    ));
    // Nothing and denormals are fine.
    assert!(Plaintext::encode_real(&context, &[], top, scale).is_ok());
    assert!(Plaintext::encode_real(&context, &[f64::MIN_POSITIVE / 4.0], top, scale).is_ok());
}

#[test]
fn integers_of_any_size_encode_modulo_t() {
    let context = bgv();
    assert!(matches!(
        Plaintext::encode_real(&context, &[1.0], 1, 1.0),
        Err(SchemeError::WrongScheme {
            expected: Scheme::Ckks,
            ..
        })
    ));
    for factor in [0, 65537] {
        assert!(Plaintext::encode_integers(&context, &[1], 1, factor).is_err());
    }
    let extremes = [i64::MIN, i64::MAX, -65537, 65536, -1];
    let plain = Plaintext::encode_integers(&context, &extremes, 2, 1).unwrap();
    let secret = SecretKey::from_seed(&context, &Seed::for_test(1)).unwrap();
    let ciphertext = encrypt_secret(&context, &secret, &plain, &Seed::for_test(2)).unwrap();
    let out = decrypt_integers(&context, &secret, &ciphertext).unwrap();
    for (got, value) in out.iter().zip(extremes) {
        assert_eq!(*got, i128::from(value).rem_euclid(65537) as u64);
    }
}

#[test]
fn tags_follow_every_derived_object() {
    let context = ckks();
    let secret = SecretKey::from_seed(&context, &Seed::for_test(1)).unwrap();
    let public = PublicKey::new(&context, &secret).unwrap();
    let key = SwitchKey::new(&context, &secret, KeySpec::relin(KeyVariant::Listing1)).unwrap();
    let seed = Seed::for_test(2);
    let ciphertext = encrypt_public(&context, &public, &plain(&context), &seed).unwrap();
    let tags = [
        secret.insecure(),
        public.insecure(),
        key.insecure(),
        ciphertext.insecure.as_ref(),
    ];
    for tag in tags {
        assert_eq!(tag.map(AsRef::as_ref), Some("a small ring for tests"));
    }
}

#[test]
fn secrets_are_not_printed() {
    let context = ckks();
    let secret = SecretKey::from_seed(&context, &Seed::from_bytes([0xab; 32])).unwrap();
    let text = format!("{secret:?} {:?}", secret.seed());
    assert!(text.contains("redacted"));
    assert!(
        !text.contains("171") && !text.contains("ab, ") && text.len() < 120,
        "{text}"
    );
}
