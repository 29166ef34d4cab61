//! The inputs of a program as executors see them.

use std::sync::Arc;

use cyclotron_isa::{InputProvider, LimbProgram, LimbType, ProgramBuilder, Source};
use cyclotron_ring::prf::Seed;
use cyclotron_schemes::{
    AnyRing, ChoiceRequest, Ciphertext, ClientWord, Context, KeySpec, KeyVariant, OperandValues,
    PlainOperand, Plaintext, ProgramInputs, SchemeError, SecretKey, SwitchKey, WordClass, choose,
    encrypt_secret,
};

struct Setup {
    context: Arc<Context>,
    program: LimbProgram,
    ciphertext: Arc<Ciphertext>,
    key: Arc<SwitchKey>,
}

fn setup() -> Setup {
    let params = choose(&ChoiceRequest::ckks(1, 28.0, WordClass::WORD_32)).unwrap();
    let context = Arc::new(Context::new(Arc::new(params)).unwrap());
    let params = context.params();
    let mut builder = ProgramBuilder::new("inputs", params.log_n, 32, &params.extended());
    let (input, operand) = (builder.ciphertext("x"), builder.plain("weights"));
    let key = builder.key("relin/hybrid");
    for limb in 0..2 {
        builder.input(
            Source::Ciphertext {
                input,
                poly: 1,
                limb,
            },
            LimbType::eval(limb),
        );
        builder.input(Source::Plain { operand, limb }, LimbType::eval(limb));
    }
    let hint = Source::Hint {
        key,
        digit: 1,
        poly: 1,
        limb: 2,
    };
    builder.input(hint, LimbType::eval(2));
    let secret = SecretKey::from_seed(&context, &Seed::for_test(1)).unwrap();
    let plain = Plaintext::encode_real(&context, &[1.0], 2, context.scale_at(2)).unwrap();
    let ciphertext = encrypt_secret(&context, &secret, &plain, &Seed::for_test(2)).unwrap();
    let spec = KeySpec::relin(KeyVariant::Hybrid);
    let key = SwitchKey::new(&context, &secret, spec).unwrap();
    Setup {
        program: builder.finish(),
        ciphertext: Arc::new(ciphertext),
        key: Arc::new(key),
        context,
    }
}

fn operand(values: &[f64]) -> PlainOperand {
    PlainOperand::new(OperandValues::Real(values.into()), 2, 2_f64.powi(28), 1).with_name("weights")
}

fn inputs(setup: &Setup, plain: PlainOperand) -> Result<ProgramInputs, SchemeError> {
    ProgramInputs::new(
        Arc::clone(&setup.context),
        &setup.program,
        vec![Arc::clone(&setup.ciphertext)],
        vec![plain],
        vec![Arc::clone(&setup.key)],
    )
}

#[test]
fn every_declared_limb_is_given_as_often_as_asked() {
    let setup = setup();
    let inputs = inputs(&setup, operand(&[0.5, 2.0])).unwrap();
    let AnyRing::W32(ring) = setup.context.ring() else {
        panic!("32-bit words")
    };
    let fresh = Plaintext::encode_real(&setup.context, &[0.5, 2.0], 2, 2_f64.powi(28)).unwrap();
    for _ in 0..3 {
        for input in &setup.program.inputs {
            let limb = cyclotron_isa::fetch::<u32>(&inputs, *input, ring).unwrap();
            let expected = match input.source {
                Source::Ciphertext { limb, .. } => setup.ciphertext.polys[1].limb(limb.into()),
                Source::Plain { limb, .. } => {
                    Some(fresh.limb(&setup.context, limb.into()).unwrap())
                }
                Source::Hint { .. } => Some(setup.key.limb(&setup.context, 1, 1, 2).unwrap()),
                Source::Twist => None,
            };
            assert_eq!(u32::view_limb(&expected.unwrap()), Some(&limb));
        }
    }
}

#[test]
fn faults_name_what_is_wrong() {
    let setup = setup();
    let good = inputs(&setup, operand(&[1.0])).unwrap();
    let ask = |inputs: &ProgramInputs, source, ty| {
        InputProvider::<u32>::limb(inputs, source, ty)
            .unwrap_err()
            .to_string()
    };
    let plain = Source::Plain {
        operand: 0,
        limb: 0,
    };
    assert!(ask(&good, plain, LimbType::coeff(0)).contains("eval"));
    assert!(ask(&good, plain, LimbType::eval(1)).contains("position"));
    assert!(InputProvider::<u64>::limb(&good, plain, LimbType::eval(0)).is_err());
    let beyond = Source::Ciphertext {
        input: 0,
        poly: 2,
        limb: 0,
    };
    assert!(ask(&good, beyond, LimbType::eval(0)).contains("polynomial 2"));

    let nan = inputs(&setup, operand(&[1.0, f64::NAN])).unwrap();
    let message = ask(&nan, plain, LimbType::eval(0));
    assert!(
        message.contains("`weights`") && message.contains("slot 1"),
        "{message}"
    );

    let without = |ciphertexts, plains, keys| {
        let context = Arc::clone(&setup.context);
        ProgramInputs::new(context, &setup.program, ciphertexts, plains, keys)
            .unwrap_err()
            .to_string()
    };
    let (ct, key) = (&setup.ciphertext, &setup.key);
    assert!(without(vec![], vec![operand(&[])], vec![Arc::clone(key)]).contains("0 ciphertexts"));
    assert!(without(vec![Arc::clone(ct)], vec![], vec![Arc::clone(key)]).contains("operands"));
    assert!(without(vec![Arc::clone(ct)], vec![operand(&[])], vec![]).contains("keys"));
    let secret = SecretKey::from_seed(&setup.context, &Seed::for_test(1)).unwrap();
    let spec = KeySpec::galois(5, KeyVariant::Hybrid);
    let other = Arc::new(SwitchKey::new(&setup.context, &secret, spec).unwrap());
    let message = without(vec![Arc::clone(ct)], vec![operand(&[])], vec![other]);
    assert!(
        message.contains("galois:5/hybrid") && message.contains("relin/hybrid"),
        "{message}"
    );
}
