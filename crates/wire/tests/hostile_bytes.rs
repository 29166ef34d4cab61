//! Every object reads back, and no damaged, forged or foreign bytes do.

use std::sync::Arc;

use cyclotron_ring::prf::Seed;
use cyclotron_schemes::{
    Context, KeySpec, KeyVariant, Parameters, Plaintext, PublicKey, SecretKey, SwitchKey,
    encrypt_public, encrypt_secret,
};
use cyclotron_wire::{
    Kind, ParamsHash, WireError, decode_ciphertext, decode_evaluation_keys, decode_parameters,
    decode_public_key, decode_secret_key, encode_ciphertext, encode_evaluation_keys,
    encode_parameters, encode_public_key, encode_secret_key, inspect_ciphertext, parameters_of,
};

const BGV: &str = r#"{"scheme": "bgv", "log_n": 5, "log_q": [28, 29, 28], "log_p": [31],
    "plaintext_modulus": 257, "allow_insecure": "a test"}"#;
const CKKS: &str = r#"{"scheme": "ckks", "log_n": 5, "log_q": [50, 40], "log_p": [51],
    "scale_bits": 40, "secret": {"sparse": 8}, "allow_insecure": "a test"}"#;

/// The objects of one client, as bytes.
struct Objects {
    context: Context,
    secret: SecretKey,
    all: Vec<(Kind, Vec<u8>)>,
}

impl Objects {
    fn new(literal: &str) -> Self {
        let params = Parameters::from_json(literal, None).unwrap();
        let context = Context::new(Arc::new(params)).unwrap();
        let seed = Seed::for_test(1);
        let secret = SecretKey::from_seed(&context, &seed).unwrap();
        let public = PublicKey::new(&context, &secret).unwrap();
        let keys = [
            KeySpec::galois(5, KeyVariant::Hybrid),
            KeySpec::relin(KeyVariant::Listing1),
            KeySpec::relin(KeyVariant::Hybrid),
        ]
        .map(|spec| SwitchKey::new(&context, &secret, spec).unwrap());
        let plain = plaintext(&context);
        let seeded = encrypt_secret(&context, &secret, &plain, &seed).unwrap();
        let unseeded = encrypt_public(&context, &public, &plain, &seed).unwrap();
        let all = vec![
            (Kind::Parameters, encode_parameters(context.params())),
            (Kind::SecretKey, encode_secret_key(&context, &secret, true)),
            (Kind::PublicKey, encode_public_key(&context, &public)),
            (
                Kind::EvaluationKeys,
                encode_evaluation_keys(&context, &keys).unwrap(),
            ),
            (Kind::Ciphertext, encode_ciphertext(&context, &seeded)),
            (Kind::Ciphertext, encode_ciphertext(&context, &unseeded)),
        ];
        Objects {
            context,
            secret,
            all,
        }
    }

    /// Decodes as `kind` and encodes again.
    fn reencode(&self, kind: Kind, bytes: &[u8]) -> Result<Vec<u8>, WireError> {
        let context = &self.context;
        Ok(match kind {
            Kind::Parameters => encode_parameters(&decode_parameters(bytes)?),
            Kind::SecretKey => {
                let (params, seed, deterministic) = decode_secret_key(bytes)?;
                let context = Context::new(Arc::new(params)).unwrap();
                let key = SecretKey::from_seed(&context, &seed).unwrap();
                encode_secret_key(&context, &key, deterministic)
            }
            Kind::PublicKey => encode_public_key(context, &decode_public_key(context, bytes)?),
            Kind::EvaluationKeys => {
                encode_evaluation_keys(context, &decode_evaluation_keys(context, bytes)?)?
            }
            Kind::Ciphertext => encode_ciphertext(context, &decode_ciphertext(context, bytes)?),
            Kind::Program | Kind::LimbProgram => unreachable!("not bound to parameters"),
        })
    }
}

fn plaintext(context: &Context) -> Plaintext {
    let level = context.params().levels();
    if context.params().plaintext_modulus == 0 {
        Plaintext::encode_real(context, &[1.5, -2.0], level, context.scale_at(level)).unwrap()
    } else {
        Plaintext::encode_integers(context, &[7, -3, 100], level, context.factor_at(level)).unwrap()
    }
}

fn both() -> [Objects; 2] {
    [BGV, CKKS].map(Objects::new)
}

/// Sets the checksum to what the bytes have, as a forger would.
fn forge(bytes: &mut [u8]) {
    let mut hasher = blake3::Hasher::new_derive_key("cyclotron 2026 wire object checksum");
    hasher.update(&bytes[..40]);
    hasher.update(&bytes[64..]);
    let hash = hasher.finalize();
    bytes[40..64].copy_from_slice(&hash.as_bytes()[..24]);
}

#[test]
fn every_object_reads_back_to_the_same_bytes() {
    for objects in both() {
        for (kind, bytes) in &objects.all {
            assert_eq!(&objects.reencode(*kind, bytes).unwrap(), bytes, "{kind}");
            assert_eq!(&parameters_of(bytes).unwrap(), &**objects.context.params());
        }
    }
}

#[test]
fn a_seed_stands_for_half_of_a_ciphertext() {
    let objects = &both()[0];
    let [.., (_, seeded), (_, unseeded)] = &objects.all[..] else {
        unreachable!()
    };
    assert_eq!(unseeded.len() - seeded.len(), 3 * 32 * 4 - 32);
    let (params, fields) = inspect_ciphertext(seeded).unwrap();
    assert_eq!((fields.level, fields.polys), (3, 2));
    assert!(fields.seed.is_some());
    assert_eq!(params.hash(), objects.context.hash());
    let ciphertext = decode_ciphertext(&objects.context, seeded).unwrap();
    let slots = cyclotron_schemes::decrypt_integers(&objects.context, &objects.secret, &ciphertext);
    assert_eq!(slots.unwrap()[..3], [7, 254, 100]);
}

#[test]
fn truncation_at_every_byte_is_refused() {
    for objects in both() {
        for (kind, bytes) in &objects.all {
            for length in 0..bytes.len() {
                let error = objects.reencode(*kind, &bytes[..length]).unwrap_err();
                assert_eq!(error.code(), "E_TRUNCATED", "{kind} cut at {length}");
            }
            // Also with a header that admits it.
            for length in 64..bytes.len() {
                let mut cut = bytes[..length].to_vec();
                cut[8..16].copy_from_slice(&(length as u64 - 64).to_le_bytes());
                forge(&mut cut);
                let error = objects.reencode(*kind, &cut).unwrap_err();
                assert!(
                    ["E_TRUNCATED", "E_LENGTH"].contains(&error.code()),
                    "{kind} cut at {length}: {error}"
                );
            }
        }
    }
}

#[test]
fn a_flipped_bit_anywhere_is_refused() {
    for objects in both() {
        for (kind, bytes) in &objects.all {
            for bit in (0..8 * 64).chain((8 * 64..8 * bytes.len()).step_by(7)) {
                let mut flipped = bytes.clone();
                flipped[bit / 8] ^= 1 << (bit % 8);
                assert!(
                    objects.reencode(*kind, &flipped).is_err(),
                    "{kind} bit {bit}"
                );
            }
        }
    }
}

#[test]
fn a_forged_body_is_refused_or_conforms() {
    for objects in both() {
        let block = 64 + parameters_block_bytes(&objects);
        for (kind, bytes) in &objects.all {
            for bit in (64 * 8..8 * bytes.len()).step_by(5) {
                let mut forged = bytes.clone();
                forged[bit / 8] ^= 1 << (bit % 8);
                forge(&mut forged);
                // What is accepted is a conforming object with these very bytes; only the
                // wished security and the words of a reason, which parameters may differ in
                // and have the same hash, are the context's own afterwards.
                if let Ok(again) = objects.reencode(*kind, &forged) {
                    assert!(again[block..] == forged[block..], "{kind} bit {bit}");
                    assert_eq!(again[16..40], forged[16..40], "{kind} bit {bit}");
                }
            }
        }
    }
}

#[test]
fn lengths_and_counts_that_lie_are_refused() {
    let objects = Objects::new(BGV);
    let block = 64 + parameters_block_bytes(&objects);
    for (kind, bytes) in &objects.all {
        for claim in [0, 1, 1 << 20, 1 << 40, 1 << 63, u64::MAX] {
            let mut lie = bytes.clone();
            lie[8..16].copy_from_slice(&claim.to_le_bytes());
            forge(&mut lie);
            assert!(
                objects.reencode(*kind, &lie).is_err(),
                "{kind} claims {claim}"
            );
        }
        // Counts behind the parameters' block: keys of a set, level, polynomials.
        for value in [0, 1, 0x7f, 0xff] {
            for offset in block..block + 4 {
                let mut lie = bytes.clone();
                let Some(byte) = lie.get_mut(offset).filter(|byte| **byte != value) else {
                    continue;
                };
                *byte = value;
                forge(&mut lie);
                if let Ok(again) = objects.reencode(*kind, &lie) {
                    assert_eq!(again, lie, "{kind} byte {offset} = {value}");
                }
            }
        }
    }
}

fn parameters_block_bytes(objects: &Objects) -> usize {
    objects.all[0].1.len() - 64
}

#[test]
fn residues_at_or_above_their_prime_are_refused() {
    let objects = Objects::new(BGV);
    for (kind, bytes) in &objects.all[2..] {
        for value in [u32::MAX, objects.context.params().special[0] as u32 + 1] {
            let mut forged = bytes.clone();
            let last = forged.len() - 4;
            forged[last..].copy_from_slice(&value.to_le_bytes());
            forge(&mut forged);
            let error = objects.reencode(*kind, &forged).unwrap_err();
            assert_eq!(error.code(), "E_NONCANONICAL", "{kind}: {error}");
        }
    }
}

#[test]
fn forged_primes_are_refused() {
    let objects = Objects::new(BGV);
    let (_, bytes) = &objects.all[0];
    let first = 64 + 33;
    let primes = [
        0,
        1,
        2,
        4,
        97,
        1 << 27,
        u64::MAX,
        objects.context.params().moduli[1],
    ];
    for prime in primes {
        let mut forged = bytes.clone();
        forged[first..first + 8].copy_from_slice(&prime.to_le_bytes());
        forge(&mut forged);
        let error = decode_parameters(&forged).unwrap_err();
        assert!(error.to_string().contains("modul"), "{prime}: {error}");
    }
    // The block of primes is where the test believes it is.
    let prime = u64::from_le_bytes(bytes[first..first + 8].try_into().unwrap());
    assert_eq!(prime, objects.context.params().moduli[0]);
}

#[test]
fn objects_of_other_parameters_are_refused_with_both_hashes() {
    let [ours, theirs] = both();
    for (kind, bytes) in &theirs.all[2..] {
        let error = ours.reencode(*kind, bytes).unwrap_err();
        let WireError::ParametersMismatch { expected, found } = error else {
            panic!("{kind}: {error}");
        };
        let message = error.to_string();
        assert!(message.contains(&expected.to_string()) && message.contains(&found.to_string()));
        // A header that names our parameters does not help: the block is another's.
        let mut forged = bytes.clone();
        forged[16..40].copy_from_slice(&ours.all[0].1[16..40]);
        forge(&mut forged);
        let error = ours.reencode(*kind, &forged).unwrap_err();
        assert_eq!(error.code(), "E_PARAM_MISMATCH", "{kind}: {error}");
    }
}

#[test]
fn keys_are_not_written_for_other_parameters() {
    let [ours, theirs] = both();
    let spec = KeySpec::relin(KeyVariant::Hybrid);
    let [mine, other] = [&ours, &theirs]
        .map(|objects| SwitchKey::new(&objects.context, &objects.secret, spec).unwrap());
    let error = encode_evaluation_keys(&ours.context, [&mine, &other]).unwrap_err();
    let hash = |objects: &Objects| header_hash(&objects.all[0].1);
    let WireError::ParametersMismatch { expected, found } = &error else {
        panic!("{error}");
    };
    assert_eq!(
        [expected.to_string(), found.to_string()],
        [hash(&ours), hash(&theirs)]
    );
}

/// The parameters' hash in an object's header, as messages show it.
fn header_hash(bytes: &[u8]) -> String {
    let mut hash = [0; 32];
    hash[..24].copy_from_slice(&bytes[16..40]);
    ParamsHash::of(&hash).to_string()
}

#[test]
fn no_kind_passes_for_another() {
    let objects = Objects::new(BGV);
    let kinds = [
        Kind::Parameters,
        Kind::SecretKey,
        Kind::PublicKey,
        Kind::EvaluationKeys,
        Kind::Ciphertext,
    ];
    for (kind, bytes) in &objects.all {
        for wanted in kinds.into_iter().filter(|wanted| wanted != kind) {
            let error = objects.reencode(wanted, bytes).unwrap_err();
            if *kind == Kind::SecretKey {
                assert_eq!(error.code(), "E_SECRET_KEY");
                assert!(error.to_string().contains("SECRET KEY"), "{error}");
            } else {
                assert_eq!(error.code(), "E_WRONG_KIND", "{kind} as {wanted}");
            }
        }
    }
}

#[test]
fn no_message_repeats_the_secret() {
    let objects = Objects::new(BGV);
    let (_, bytes) = &objects.all[1];
    let seed: String = bytes[bytes.len() - 32..]
        .iter()
        .map(|b| format!("{b:02x}"))
        .collect();
    for bit in 0..8 * bytes.len() {
        let mut flipped = bytes.clone();
        flipped[bit / 8] ^= 1 << (bit % 8);
        forge(&mut flipped);
        if let Err(error) = decode_secret_key(&flipped) {
            let message = format!("{error} {error:?}");
            assert!(!message.contains(&seed[..16]) && !message.contains(&seed[48..]));
        }
    }
}

#[test]
fn insecure_parameters_keep_their_reason_and_cannot_lose_it() {
    let objects = Objects::new(BGV);
    let (_, bytes) = &objects.all[0];
    assert_eq!(
        decode_parameters(bytes).unwrap().insecure.as_deref(),
        Some("a test")
    );
    let reason = bytes.len() - "a test".len();
    let mut forged = bytes[..reason].to_vec();
    forged[reason - 4..].fill(0);
    let length = forged.len() as u64 - 64;
    forged[8..16].copy_from_slice(&length.to_le_bytes());
    forge(&mut forged);
    let error = decode_parameters(&forged).unwrap_err().to_string();
    assert!(error.contains("allow_insecure"), "{error}");
}
