//! Parameters: what is refused, what is chosen, what the hash covers.

use cyclotron_ring::primes::is_prime;
use cyclotron_schemes::{
    ChoiceRequest, KeySpec, KeyVariant, ParameterError, Parameters, ParametersLiteral, Scheme,
    SecretKind, Security, WordClass, choose,
};

fn ckks_literal() -> ParametersLiteral {
    ParametersLiteral {
        log_q: Some(vec![50, 40, 40]),
        log_p: Some(vec![50]),
        scale_bits: Some(40.0),
        ..ParametersLiteral::new(Scheme::Ckks, 13)
    }
}

fn bgv_literal() -> ParametersLiteral {
    ParametersLiteral {
        log_q: Some(vec![31, 31, 31]),
        plaintext_modulus: Some(257),
        ..ParametersLiteral::new(Scheme::Bgv, 13)
    }
}

fn refusal(change: impl FnOnce(&mut ParametersLiteral)) -> String {
    let mut literal = ckks_literal();
    change(&mut literal);
    Parameters::from_literal(&literal).unwrap_err().to_string()
}

#[test]
fn faults_are_named_with_their_field() {
    let cases: [(&str, String); 12] = [
        ("log_n", refusal(|l| l.log_n = 18)),
        ("give either", refusal(|l| l.log_q = None)),
        ("not both", refusal(|l| l.special_moduli = Some(vec![97]))),
        ("scale_bits", refusal(|l| l.scale_bits = None)),
        ("scale_bits", refusal(|l| l.scale_bits = Some(f64::NAN))),
        (
            "plaintext_modulus",
            refusal(|l| l.plaintext_modulus = Some(65537)),
        ),
        ("base_limbs", refusal(|l| l.base_limbs = Some(4))),
        ("digit_limbs", refusal(|l| l.digit_limbs = Some(0))),
        ("word_bits", refusal(|l| l.word_bits = Some(48))),
        ("congruence", refusal(|l| l.congruence = Some(3 << 14))),
        ("security = 100", refusal(|l| l.security = Some(100))),
        ("61-bit primes", refusal(|l| l.log_p = Some(vec![61]))),
    ];
    for (wanted, message) in cases {
        assert!(
            message.contains(wanted),
            "`{message}` does not say `{wanted}`"
        );
    }
    assert!(refusal(|l| l.log_q = Some(vec![40; 5000])).contains("at most"));
    assert!(refusal(|l| l.log_q = Some(Vec::new())).contains("at least one"));
    assert!(refusal(|l| l.log_q = Some(vec![38, 40, 40])).contains("base_limbs"));
    assert!(refusal(|l| l.log_q = Some(vec![50, 40, 35])).contains("scale"));
    assert!(refusal(|l| l.digit_limbs = Some(2)).contains("special prime"));
    assert!(refusal(|l| l.secret = SecretKind::Sparse(0)).contains("weight 0"));
    assert!(refusal(|l| l.allow_insecure = Some("  ".into())).contains("reason"));
}

#[test]
fn chains_of_unusable_moduli_are_refused() {
    let good = Parameters::from_literal(&ckks_literal()).unwrap();
    let with = |position: usize, q: u64| {
        let mut literal = good.to_literal();
        literal.moduli.as_mut().unwrap()[position] = q;
        Parameters::from_literal(&literal)
    };
    let (bottom, special) = (good.moduli[0], good.special[0]);
    for (q, why) in [
        (bottom, "twice"),
        (special, "twice"),
        (bottom + 1, "1 mod 2N"),
        (1 << 40, "1 mod 2N"),
        ((1 << 40) + (1 << 14) * 3 + 1, "prime"),
        ((1 << 61) + 1, "bits"),
    ] {
        match with(2, q) {
            Err(ParameterError::Modulus {
                position,
                why: found,
                ..
            }) => {
                assert!(found.contains(why), "{q}: {found}");
                assert!(position >= 2, "{q}");
            }
            other => panic!("{q}: {other:?}"),
        }
    }
    assert!(!is_prime((1 << 40) + (1 << 14) * 3 + 1));
    assert!(with(2, good.moduli[2]).is_ok());
}

#[test]
fn plaintext_moduli_are_checked() {
    for (t, why) in [
        (65536, "odd prime"),
        (2, "odd prime"),
        (0, "odd prime"),
        (65539 * 3, "odd prime"),
    ] {
        let literal = ParametersLiteral {
            plaintext_modulus: Some(t),
            ..bgv_literal()
        };
        let message = Parameters::from_literal(&literal).unwrap_err().to_string();
        assert!(message.contains(why), "{message}");
    }
    let too_large = ParametersLiteral {
        plaintext_modulus: Some((1 << 61) - 1),
        ..bgv_literal()
    };
    assert!(matches!(
        Parameters::from_literal(&too_large),
        Err(ParameterError::PlaintextModulus { .. })
    ));
    for (t, slots) in [
        (257, 128),
        (65537, 8192),
        (12289, 2048),
        (3, 1),
        (5, 2),
        (17, 8),
    ] {
        let literal = ParametersLiteral {
            plaintext_modulus: Some(t),
            ..bgv_literal()
        };
        let params = Parameters::from_literal(&literal).unwrap();
        assert_eq!(params.slots(), slots, "t {t}");
        assert!(!params.moduli.contains(&t));
    }
}

#[test]
fn security_refuses_one_bit_above_the_table_without_a_reason() {
    // 214 bits are the most for N = 2^13.
    let at = |bits: &[u32], special: Option<u32>| ParametersLiteral {
        log_q: Some(bits.to_vec()),
        log_p: special.map(|b| vec![b]),
        base_limbs: Some(bits.len() - 3),
        ..ckks_literal()
    };
    let fits = at(&[54, 39, 40, 40, 40], None);
    let params = Parameters::from_literal(&fits).unwrap();
    assert!(params.log_q() <= 214.0 && params.log_q() > 212.0);
    assert_eq!(params.security().bits, Some(128));
    let above = at(&[55, 40, 40, 40, 40], None);
    match Parameters::from_literal(&above) {
        Err(error @ ParameterError::Insecure { .. }) => {
            let message = error.to_string();
            assert!(
                message.contains("log_n = 14") && message.contains("214"),
                "{message}"
            );
            assert!(message.contains("--allow-insecure"), "{message}");
        }
        other => panic!("{other:?}"),
    }
    // The special prime counts: it is what hybrid keys are made with.
    let with_special = at(&[54, 40, 40, 40], Some(54));
    assert!(Parameters::from_literal(&at(&[54, 40, 40, 40], None)).is_ok());
    assert!(matches!(
        Parameters::from_literal(&with_special),
        Err(ParameterError::Insecure { modulus: "QP", .. })
    ));
}

#[test]
fn a_reason_is_kept_where_it_is_needed() {
    let mut literal = ckks_literal();
    literal.allow_insecure = Some("comparison with a paper".to_owned());
    let secure = Parameters::from_literal(&literal).unwrap();
    assert_eq!(secure.insecure, None);

    literal.log_n = 12;
    let weak = Parameters::from_literal(&literal).unwrap();
    assert_eq!(weak.insecure.as_deref(), Some("comparison with a paper"));
    let security = weak.security();
    assert_eq!(security.method, Security::ESTIMATE);
    assert!(security.bits.unwrap() < 128);
    assert!(
        weak.describe()
            .contains("INSECURE, allowed because: comparison")
    );

    // Without its reason the same set is refused, wherever it came from.
    let mut stripped = weak.clone();
    stripped.insecure = None;
    assert!(stripped.validate().is_err());

    literal.log_n = 13;
    literal.secret = SecretKind::Sparse(64);
    let sparse = Parameters::from_literal(&literal).unwrap();
    assert_eq!(
        (sparse.security().bits, sparse.insecure.is_some()),
        (None, true)
    );
    literal.allow_insecure = None;
    assert!(Parameters::from_literal(&literal).is_err());
}

#[test]
fn wished_levels_are_those_of_the_table() {
    let mut literal = ckks_literal();
    literal.security = Some(192);
    assert!(matches!(
        Parameters::from_literal(&literal),
        Err(ParameterError::Insecure { wished: 192, .. })
    ));
    literal.log_n = 14;
    let params = Parameters::from_literal(&literal).unwrap();
    assert_eq!(params.security().bits, Some(256));
}

#[test]
fn literals_read_back_from_json() {
    for literal in [ckks_literal(), bgv_literal()] {
        let params = Parameters::from_literal(&literal).unwrap();
        let text = serde_json::to_string(&params.to_literal()).unwrap();
        let again = Parameters::from_json(&text, None).unwrap();
        assert_eq!(again, params);
        assert_eq!(again.hash(), params.hash());
    }
    for (text, wanted) in [
        ("{", "line 1"),
        (r#"{"scheme": "gsw", "log_n": 13}"#, "gsw"),
        (r#"{"scheme": "bgv", "log_n": 13, "log_Q": [30]}"#, "log_Q"),
        (r#"{"scheme": "bgv", "log_n": -1}"#, "-1"),
    ] {
        let message = Parameters::from_json(text, None).unwrap_err().to_string();
        assert!(message.contains(wanted), "{message}");
    }
}

#[test]
fn the_hash_covers_everything_that_keys_depend_on() {
    let base = Parameters::from_literal(&ckks_literal()).unwrap();
    type Change = fn(&mut Parameters);
    let changes: [Change; 9] = [
        |p| p.log_n += 1,
        |p| p.moduli.swap(1, 2),
        |p| p.special[0] = 97,
        |p| {
            let last = p.moduli.pop().unwrap();
            p.special.insert(0, last);
        },
        |p| p.digit_limbs = 3,
        |p| p.scale_bits = 39.0,
        |p| p.secret = SecretKind::Sparse(1),
        |p| p.word_bits = 32,
        |p| p.insecure = Some("x".to_owned()),
    ];
    let mut hashes = vec![base.hash()];
    for change in changes {
        let mut changed = base.clone();
        change(&mut changed);
        hashes.push(changed.hash());
    }
    hashes.sort_unstable();
    hashes.dedup();
    assert_eq!(hashes.len(), changes.len() + 1);
}

#[test]
fn canonical_scales_stay_near_the_nominal_one() {
    for (levels, scale, words) in [
        (24, 45.0, WordClass::WORD_64_IFMA),
        (12, 30.0, WordClass::WORD_32),
        (
            8,
            31.0,
            WordClass {
                word_bits: 32,
                prime_bits: 32,
                congruence: 1 << 16,
            },
        ),
    ] {
        let request = ChoiceRequest {
            log_n: Some(14),
            allow_insecure: Some("a long chain".to_owned()),
            ..ChoiceRequest::ckks(levels, scale, words)
        };
        let params = choose(&request).unwrap();
        assert!(
            params.scale_deviation() < 1.0 / 1024.0,
            "{levels} levels at 2^{scale}"
        );
        let scales = params.canonical_scales();
        for level in params.base_limbs + 1..=params.levels() {
            let product = scales[level] * scales[level] / params.moduli[level - 1] as f64;
            assert!((product / scales[level - 1] - 1.0).abs() < 1e-14);
        }
        let mut distinct = params.extended();
        distinct.sort_unstable();
        distinct.dedup();
        assert_eq!(distinct.len(), params.levels() + params.special.len());
        assert!(
            distinct
                .iter()
                .all(|q| q % words.congruence.max(2 << 14) == 1)
        );
    }
}

#[test]
fn special_primes_exceed_every_digit() {
    for digit_limbs in 1..=4 {
        for words in [WordClass::WORD_32, WordClass::WORD_64] {
            let request = ChoiceRequest {
                digit_limbs,
                log_n: Some(15),
                ..ChoiceRequest::bgv(7, 65537, words)
            };
            let params = choose(&request).unwrap();
            let product = |primes: &[u64]| primes.iter().map(|&q| (q as f64).log2()).sum::<f64>();
            for digit in params.moduli.chunks(digit_limbs) {
                assert!(product(&params.special) >= product(digit));
            }
        }
    }
}

#[test]
fn correction_factors_follow_products_and_switches() {
    let params = Parameters::from_literal(&bgv_literal()).unwrap();
    let (t, factors) = (params.plaintext_modulus, params.correction_factors());
    assert_eq!(factors[params.levels()], 1);
    for level in 1..=params.levels() {
        let back = factors[level - 1] * (params.moduli[level - 1] % t) % t;
        assert_eq!(back, factors[level] * factors[level] % t);
    }
}

#[test]
fn choices_take_the_smallest_secure_ring() {
    let params = choose(&ChoiceRequest::ckks(4, 40.0, WordClass::WORD_64)).unwrap();
    assert!(params.security().reaches(128));
    let smaller = ChoiceRequest {
        log_n: Some(params.log_n - 1),
        ..ChoiceRequest::ckks(4, 40.0, WordClass::WORD_64)
    };
    assert!(matches!(
        choose(&smaller),
        Err(ParameterError::Insecure { .. })
    ));

    let wide = ChoiceRequest::ckks(1, 40.0, WordClass::WORD_32);
    assert!(matches!(
        choose(&wide),
        Err(ParameterError::NoChoice { .. })
    ));

    let output = ChoiceRequest {
        output_bits: 9.0,
        ..ChoiceRequest::ckks(5, 28.0, WordClass::WORD_32)
    };
    let params = choose(&output).unwrap();
    assert!(params.log_q_at(params.base_limbs) >= 28.0 + 9.0 + 1.0);
    assert_eq!((params.base_limbs, params.levels()), (2, 7));

    let slots = ChoiceRequest {
        min_slots: 4096,
        ..ChoiceRequest::bgv(1, 257, WordClass::WORD_32)
    };
    let message = choose(&slots).unwrap_err().to_string();
    assert!(message.contains("4096 slots"), "{message}");
}

#[test]
fn hybrid_keys_need_special_primes() {
    let params = Parameters::from_literal(&bgv_literal()).unwrap();
    assert!(
        KeySpec::relin(KeyVariant::Listing1)
            .validate(&params)
            .is_ok()
    );
    let message = KeySpec::relin(KeyVariant::Hybrid)
        .validate(&params)
        .unwrap_err()
        .to_string();
    assert!(message.contains("special prime"), "{message}");
    for k in [0, 2, 1 << 14, (1 << 14) + 1] {
        assert!(
            KeySpec::galois(k, KeyVariant::Listing1)
                .validate(&params)
                .is_err()
        );
    }
}
