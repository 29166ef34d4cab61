//! Files that earlier releases wrote still load, and mean what they meant.
//!
//! `tests/vectors/wire/v1` was written by format version 1 (see its README).
//! `CYCLOTRON_BLESS=1` writes a set with the present code, for a new version's
//! folder; files of released versions are never written again.

use std::path::PathBuf;
use std::sync::Arc;

use cyclotron_program::{Graph, HeOp, PlainOperand, Scheme, Span};
use cyclotron_ring::prf::Seed;
use cyclotron_schemes::{
    Context, KeySpec, KeyVariant, Parameters, Plaintext, PublicKey, SecretKey, SwitchKey,
    decrypt_integers, encrypt_public, encrypt_secret,
};
use cyclotron_wire::{
    FORMAT_VERSION, Header, decode_ciphertext, decode_evaluation_keys, decode_parameters,
    decode_program, decode_public_key, decode_secret_key, encode_ciphertext,
    encode_evaluation_keys, encode_parameters, encode_program, encode_public_key,
    encode_secret_key,
};

const LITERAL: &str = r#"{"scheme": "bgv", "log_n": 5, "log_q": [28, 29, 28], "log_p": [31],
    "plaintext_modulus": 257, "allow_insecure": "known answers on a small ring"}"#;

fn path(version: u16, name: &str) -> PathBuf {
    let root = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../tests/vectors/wire");
    root.join(format!("v{version}")).join(name)
}

fn read(version: u16, name: &str) -> Vec<u8> {
    let path = path(version, name);
    let bytes = std::fs::read(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    assert_eq!(Header::read(&bytes).unwrap().version, version);
    bytes
}

fn bless() {
    let write = |name: &str, bytes: Vec<u8>| {
        let path = path(FORMAT_VERSION, name);
        assert!(!path.exists(), "{} is there already", path.display());
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, bytes).unwrap();
    };
    let params = Parameters::from_json(LITERAL, None).unwrap();
    let context = Context::new(Arc::new(params)).unwrap();
    let seed = Seed::from_bytes([7; 32]);
    let secret = SecretKey::from_seed(&context, &seed).unwrap();
    let public = PublicKey::new(&context, &secret).unwrap();
    let specs = [
        KeySpec::relin(KeyVariant::Listing1),
        KeySpec::galois(5, KeyVariant::Hybrid),
    ];
    let keys = specs.map(|spec| SwitchKey::new(&context, &secret, spec).unwrap());
    let plain = Plaintext::encode_integers(&context, &[1, 2, -3], 3, 1).unwrap();
    let seeded = encrypt_secret(&context, &secret, &plain, &seed).unwrap();
    let unseeded = encrypt_public(&context, &public, &plain, &seed).unwrap();
    write("parameters", encode_parameters(context.params()));
    write("secret_key", encode_secret_key(&context, &secret, true));
    write("public_key", encode_public_key(&context, &public));
    write(
        "evaluation_keys",
        encode_evaluation_keys(&context, &keys).unwrap(),
    );
    write("ciphertext_seeded", encode_ciphertext(&context, &seeded));
    write("ciphertext", encode_ciphertext(&context, &unseeded));
    write("program", encode_program(&program()));
}

fn program() -> Graph {
    let scheme = Scheme::Bgv {
        plaintext_modulus: 257,
    };
    let mut graph = Graph::new("known answer", scheme, 5);
    graph.inputs.push("x".to_owned());
    graph.outputs.push("y".to_owned());
    graph.plains.push(PlainOperand {
        name: "w".to_owned(),
        values: Some(vec![0.0, 5.0, 0.0, 0.0, 9.0]),
        scale_bits: None,
    });
    let span = Span {
        file: graph.file("answer.py"),
        line: 42,
    };
    let (input, scale_bits) = (0, None);
    let ct = graph.push(HeOp::Input { input, scale_bits }, span);
    let ct = graph.push(HeOp::MulPlain { ct, plain: 0 }, span);
    graph.push(HeOp::Output { ct, output: 0 }, span);
    graph
}

#[test]
fn files_of_every_version_load() {
    if std::env::var_os("CYCLOTRON_BLESS").is_some() {
        bless();
    }
    for version in 1..=FORMAT_VERSION {
        let params = decode_parameters(&read(version, "parameters")).unwrap();
        assert_eq!(params.moduli.len() + params.special.len(), 4);
        let context = Context::new(Arc::new(params)).unwrap();
        let (of_key, seed, _) = decode_secret_key(&read(version, "secret_key")).unwrap();
        assert_eq!(of_key.hash(), context.hash());
        let secret = SecretKey::from_seed(&context, &seed).unwrap();
        let public = decode_public_key(&context, &read(version, "public_key")).unwrap();
        let plain = Plaintext::encode_integers(&context, &[4, 5, 6], 2, 1).unwrap();
        let fresh = encrypt_public(&context, &public, &plain, &seed).unwrap();
        assert_eq!(
            decrypt_integers(&context, &secret, &fresh).unwrap()[..4],
            [4, 5, 6, 0]
        );
        for name in ["ciphertext_seeded", "ciphertext"] {
            let ciphertext = decode_ciphertext(&context, &read(version, name)).unwrap();
            let slots = decrypt_integers(&context, &secret, &ciphertext).unwrap();
            assert_eq!(slots[..4], [1, 2, 254, 0], "{name}");
        }
        let keys = decode_evaluation_keys(&context, &read(version, "evaluation_keys")).unwrap();
        for key in keys {
            let made = SwitchKey::new(&context, &secret, key.spec()).unwrap();
            let [stored, made] = [key, made].map(|key| key.stored_b(&context).unwrap());
            assert_eq!(stored, made, "of the stored secret key");
        }
        assert_eq!(
            decode_program(&read(version, "program")).unwrap(),
            program()
        );
    }
}
