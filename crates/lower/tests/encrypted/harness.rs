//! Runs a graph encrypted: keys, inputs, the interpreter or the CPU runtime, decryption.

use std::collections::HashMap;
use std::sync::Arc;

use cyclotron_isa::{InputProvider, LimbType, ProviderError, Source, interpret};
use cyclotron_lower::{Lowered, PlainEncoding, Target, lower};
use cyclotron_program::{Graph, HeOp, PlainOperand as GraphPlain, Scheme as GraphScheme, Span};
use cyclotron_ring::prf::Seed;
use cyclotron_ring::{LimbBuf, Ring, Simd};
use cyclotron_runtime::Engine;
use cyclotron_schemes::{
    AnyLimb, AnyRing, Ciphertext, ClientWord, Context, OperandValues, Parameters,
    ParametersLiteral, PlainOperand, Plaintext, Scheme, SecretKey, SwitchKey, centred,
    decrypt_integers, decrypt_real, encrypt_secret,
};

/// A graph under construction.
pub struct Build(pub Graph);

impl Build {
    pub fn new(scheme: GraphScheme, log_n: u32) -> Self {
        Self(Graph::new("test", scheme, log_n))
    }

    pub fn op(&mut self, op: HeOp) -> u32 {
        self.0.push(op, Span::default())
    }

    pub fn input(&mut self) -> u32 {
        let input = self.0.inputs.len() as u32;
        self.0.inputs.push(format!("x{input}"));
        self.op(HeOp::Input {
            input,
            scale_bits: None,
        })
    }

    pub fn output(&mut self, ct: u32) {
        let output = self.0.outputs.len() as u32;
        self.0.outputs.push(format!("y{output}"));
        self.op(HeOp::Output { ct, output });
    }

    pub fn plain(&mut self, values: &[f64]) -> u32 {
        let plain = GraphPlain {
            name: "w".into(),
            values: Some(values.to_vec()),
            scale_bits: None,
        };
        self.0.plains.push(plain);
        self.0.plains.len() as u32 - 1
    }
}

/// Small insecure parameters for tests.
pub fn parameters(
    scheme: Scheme,
    log_n: u32,
    log_q: &[u32],
    log_p: &[u32],
    word_bits: u32,
) -> Parameters {
    let mut literal = ParametersLiteral::new(scheme, log_n);
    literal.log_q = Some(log_q.to_vec());
    literal.log_p = Some(log_p.to_vec());
    literal.word_bits = Some(word_bits);
    literal.allow_insecure = Some("test".into());
    match scheme {
        Scheme::Ckks => literal.scale_bits = Some(f64::from(*log_q.last().expect("primes"))),
        Scheme::Bgv => literal.plaintext_modulus = Some(65_537),
    }
    Parameters::from_literal(&literal).expect("valid test parameters")
}

pub struct Provider<'a> {
    context: &'a Context,
    inputs: Vec<Ciphertext>,
    plains: Vec<PlainOperand>,
    keys: Vec<SwitchKey>,
}

impl Provider<'_> {
    fn any(&self, source: Source) -> Result<AnyLimb, ProviderError> {
        let wrap = |e: cyclotron_schemes::SchemeError| ProviderError(Box::new(e));
        match source {
            Source::Ciphertext { input, poly, limb } => {
                let part = &self.inputs[input as usize].polys[poly as usize];
                part.limb(limb as usize)
                    .ok_or_else(|| ProviderError::new("no such limb"))
            }
            Source::Plain { operand, limb } => self.plains[operand as usize]
                .limb(self.context, limb as usize)
                .map_err(wrap),
            Source::Hint {
                key,
                digit,
                poly,
                limb,
            } => self.keys[key as usize]
                .limb(self.context, digit as usize, poly as usize, limb as usize)
                .map_err(wrap),
        }
    }
}

impl InputProvider<u32> for Provider<'_> {
    fn limb(&self, source: Source, _: LimbType) -> Result<Arc<LimbBuf<u32>>, ProviderError> {
        match self.any(source)? {
            AnyLimb::W32(limb) => Ok(limb),
            AnyLimb::W64(_) => Err(ProviderError::new("64-bit limb")),
        }
    }
}

impl InputProvider<u64> for Provider<'_> {
    fn limb(&self, source: Source, _: LimbType) -> Result<Arc<LimbBuf<u64>>, ProviderError> {
        match self.any(source)? {
            AnyLimb::W64(limb) => Ok(limb),
            AnyLimb::W32(_) => Err(ProviderError::new("32-bit limb")),
        }
    }
}

/// The result of an encrypted run.
pub struct Run {
    pub lowered: Lowered,
    /// Decrypted outputs: CKKS values, or BGV centred integers.
    pub outputs: Vec<Vec<f64>>,
}

/// Encrypts `inputs`, runs the graph with the interpreter and the runtime,
/// asserts that their limbs agree, and decrypts.
pub fn run(graph: &Graph, params: &Parameters, target: &Target, inputs: &[Vec<f64>]) -> Run {
    let lowered = lower(graph, params, target, f64::NEG_INFINITY).expect("lowers");
    let context = Context::with_simd(Arc::new(params.clone()), Simd::Scalar).expect("context");
    let seed = Seed::for_test(7);
    let secret = SecretKey::from_seed(&context, &seed).expect("secret key");
    let encode = |values: &[f64], level: usize, scale: f64, factor: u64| match params.scheme {
        Scheme::Ckks => Plaintext::encode_real(&context, values, level, scale),
        Scheme::Bgv => Plaintext::encode_integers(&context, &integers(values), level, factor),
    };
    let by_name: HashMap<&str, &Vec<f64>> = graph
        .inputs
        .iter()
        .map(String::as_str)
        .zip(inputs)
        .collect();
    let encrypted = lowered.inputs.iter().enumerate().map(|(i, used)| {
        let plaintext =
            encode(by_name[used.name.as_str()], used.level, used.scale, 1).expect("encodes");
        let seed = seed.derive("input", &[i as u64]);
        encrypt_secret(&context, &secret, &plaintext, &seed).expect("encrypts")
    });
    let plains = lowered.plains.iter().map(|used| {
        let values = graph.plains[used.plain as usize]
            .values
            .clone()
            .expect("constant");
        let (scale, factor) = match used.encoding {
            PlainEncoding::Scale(scale) => (scale, 1),
            PlainEncoding::Factor(factor) => (1.0, factor),
        };
        let values = match params.scheme {
            Scheme::Ckks => OperandValues::Real(values.into()),
            Scheme::Bgv => OperandValues::Integers(integers(&values).into()),
        };
        PlainOperand::new(values, used.level, scale, factor)
    });
    let keys = lowered
        .keys
        .iter()
        .map(|&spec| SwitchKey::new(&context, &secret, spec).expect("key"));
    let provider = Provider {
        context: &context,
        inputs: encrypted.collect(),
        plains: plains.collect(),
        keys: keys.collect(),
    };
    let polys = match context.ring() {
        AnyRing::W32(ring) => execute(&lowered, ring, &provider),
        AnyRing::W64(ring) => execute(&lowered, ring, &provider),
    };
    let outputs = lowered.outputs.iter().zip(polys).map(|(used, polys)| {
        let ct =
            Ciphertext::from_limbs(&context, polys, used.scale, used.factor).expect("conforms");
        match params.scheme {
            Scheme::Ckks => decrypt_real(&context, &secret, &ct).expect("decrypts"),
            Scheme::Bgv => {
                let slots = decrypt_integers(&context, &secret, &ct).expect("decrypts");
                let t = params.plaintext_modulus;
                centred(&slots, t).into_iter().map(|v| v as f64).collect()
            }
        }
    });
    let outputs = outputs.collect();
    Run { lowered, outputs }
}

fn integers(values: &[f64]) -> Vec<i64> {
    values.iter().map(|&v| v as i64).collect()
}

/// Polynomials of every output, after comparing interpreter and runtime.
fn execute<W: ClientWord>(
    lowered: &Lowered,
    ring: &Ring<W>,
    provider: &(impl InputProvider<W> + Sync),
) -> Vec<Vec<cyclotron_schemes::Limbs>> {
    let expected = interpret(&lowered.program, ring, provider).expect("interprets");
    for threads in [1, 2] {
        let engine = Engine::new(threads).expect("threads");
        let (limbs, _) = engine.run(&lowered.program, ring, provider).expect("runs");
        assert!(
            limbs == expected,
            "runtime with {threads} threads differs from the interpreter"
        );
    }
    let mut polys: Vec<Vec<Vec<Arc<LimbBuf<W>>>>> = vec![Vec::new(); lowered.outputs.len()];
    for (declared, limb) in lowered.program.outputs.iter().zip(expected) {
        let output = &mut polys[declared.output as usize];
        output.resize(output.len().max(usize::from(declared.poly) + 1), Vec::new());
        output[usize::from(declared.poly)].push(Arc::new(limb));
    }
    polys
        .into_iter()
        .map(|p| p.into_iter().map(W::wrap).collect())
        .collect()
}

/// Panics with the largest difference if it exceeds `tolerance`.
pub fn assert_close(got: &[f64], want: &[f64], tolerance: f64) {
    let error = got
        .iter()
        .zip(want)
        .map(|(g, w)| (g - w).abs())
        .fold(0.0, f64::max);
    assert!(
        error <= tolerance,
        "error {error:e}, tolerance {tolerance:e}"
    );
}
