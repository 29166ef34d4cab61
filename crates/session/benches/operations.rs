//! Milliseconds that the engine takes for homomorphic operations, without the
//! client: multiply + relinearize, rotate and rescale on limbs that are in
//! memory, as the evaluator finds keys and ciphertexts.
//!
//! `cargo bench -p cyclotron-session --bench operations [-- FILTER [THREADS]]`

#![expect(clippy::print_stdout, reason = "a benchmark prints its results")]

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Instant;

use cyclotron_isa::testing::HashInputs;
use cyclotron_isa::{
    InputProvider, LimbProgram, LimbType, ProcedureBuilder, ProgramBuilder, ProviderError, Source,
};
use cyclotron_ring::{LimbBuf, Ring, Word};
use cyclotron_runtime::Engine;
use cyclotron_schemes::emit::{
    Ct, EmitContext, automorphism, ciphertext_params, flatten, hint_limbs, relinearize, rescale,
    tensor,
};
use cyclotron_schemes::{AnyRing, Context, KeyVariant, Parameters};

const HYBRID: KeyVariant = KeyVariant::Hybrid;

/// A set of parameters: its name and a literal.
struct Case {
    name: &'static str,
    scheme: &'static str,
    log_n: u32,
    bits: &'static [u32],
    special: &'static [u32],
    digit_limbs: usize,
}

const CASES: [Case; 5] = [
    Case {
        name: "ckks/n16",
        scheme: "ckks",
        log_n: 16,
        bits: &[49; 24],
        special: &[50; 8],
        digit_limbs: 8,
    },
    Case {
        name: "ckks/n14",
        scheme: "ckks",
        log_n: 14,
        bits: &[48, 48, 48, 48, 48, 48, 48, 48],
        special: &[49],
        digit_limbs: 1,
    },
    Case {
        name: "bgv/n14",
        scheme: "bgv",
        log_n: 14,
        bits: &[48, 48, 48, 48, 48, 48, 48, 48],
        special: &[49],
        digit_limbs: 1,
    },
    Case {
        name: "ckks/n14/60-bit",
        scheme: "ckks",
        log_n: 14,
        bits: &[59; 6],
        special: &[60; 2],
        digit_limbs: 2,
    },
    Case {
        name: "bgv/n14/31-bit",
        scheme: "bgv",
        log_n: 14,
        bits: &[29; 12],
        special: &[31; 3],
        digit_limbs: 3,
    },
];

impl Case {
    fn parameters(&self) -> Parameters {
        let scheme = match self.scheme {
            "ckks" => format!("\"scale_bits\": {}, \"base_limbs\": 2", self.bits[1]),
            _ => "\"plaintext_modulus\": 65537".to_owned(),
        };
        let json = format!(
            r#"{{"scheme": "{}", "log_n": {}, "log_q": {:?}, "log_p": {:?},
                "digit_limbs": {}, {scheme}, "allow_insecure": "a benchmark"}}"#,
            self.scheme, self.log_n, self.bits, self.special, self.digit_limbs
        );
        Parameters::from_json(&json, None).expect("parameters")
    }
}

#[derive(Clone, Copy)]
enum Operation {
    MulRelin,
    Rotate,
    Rescale,
}

impl Operation {
    const ALL: [(Operation, &'static str); 3] = [
        (Operation::MulRelin, "mul_relin"),
        (Operation::Rotate, "rotate"),
        (Operation::Rescale, "rescale"),
    ];

    fn inputs(self) -> usize {
        match self {
            Operation::MulRelin => 2,
            Operation::Rotate | Operation::Rescale => 1,
        }
    }

    /// The operation as the lowering emits it, in one or two procedures.
    fn call(
        self,
        builder: &mut ProgramBuilder,
        ctx: &EmitContext,
        cts: &[Vec<u32>],
        hints: &[u32],
    ) -> Vec<u32> {
        let level = ctx.params.levels();
        let mut call =
            |name: &str, args: Vec<u32>, emit: &dyn Fn(&mut ProcedureBuilder<'_>) -> Ct| {
                let procedure = builder.procedure(name, |b| flatten(&emit(b)));
                builder.call(procedure, &args, 0)
            };
        match self {
            Operation::MulRelin => {
                let product = call("tensor", cts.concat(), &|b| {
                    let x = ciphertext_params(b, level, 2);
                    let y = ciphertext_params(b, level, 2);
                    tensor(b, &x, &y)
                });
                call("relinearize", [&product, hints].concat(), &|b| {
                    let x = ciphertext_params(b, level, 3);
                    relinearize(ctx, b, HYBRID, &x)
                })
            }
            Operation::Rotate => call("rotate", [&cts[0], hints].concat(), &|b| {
                let x = ciphertext_params(b, level, 2);
                automorphism(ctx, b, HYBRID, &x, 5)
            }),
            Operation::Rescale => call("rescale", cts[0].clone(), &|b| {
                let x = ciphertext_params(b, level, 2);
                rescale(ctx, b, &x)
            }),
        }
    }

    fn program(self, params: &Parameters) -> LimbProgram {
        let ctx = EmitContext::new(params);
        let (log_n, level) = (params.log_n, params.levels());
        let mut builder = ProgramBuilder::new("operation", log_n, params.word_bits, &ctx.extended);
        let cts: Vec<Vec<u32>> = (0..self.inputs())
            .map(|k| {
                let input = builder.ciphertext(&format!("x{k}"));
                let limbs = (0..2u8).flat_map(|poly| (0..level as u16).map(move |l| (poly, l)));
                let each = limbs.map(|(poly, limb)| {
                    builder.input(
                        Source::Ciphertext { input, poly, limb },
                        LimbType::eval(limb),
                    )
                });
                each.collect()
            })
            .collect();
        let hints: Vec<u32> = match self {
            Operation::Rescale => Vec::new(),
            _ => {
                let key = builder.key("key");
                let limbs = hint_limbs(&ctx, HYBRID, level).into_iter();
                let source = limbs.map(|h| Source::Hint {
                    key,
                    digit: h.digit,
                    poly: h.poly,
                    limb: h.limb,
                });
                let types = hint_limbs(&ctx, HYBRID, level);
                let inputs = source.zip(types);
                inputs
                    .map(|(source, h)| builder.input(source, LimbType::eval(h.limb)))
                    .collect()
            }
        };
        let results = self.call(&mut builder, &ctx, &cts, &hints);
        let output = builder.output_named("y");
        for (limb, value) in (0..).zip(results) {
            builder.output(output, 0, limb, value);
        }
        builder.finish()
    }
}

/// Limbs that are in memory.
struct Ready<W: Word>(HashMap<Source, Arc<LimbBuf<W>>>);

impl<W: Word> Ready<W> {
    fn new(program: &LimbProgram) -> Self {
        let hash = HashInputs::new(7, program);
        let limb = |source, ty| InputProvider::<W>::limb(&hash, source, ty).expect("a limb");
        let inputs = program.inputs.iter();
        Ready(inputs.map(|i| (i.source, limb(i.source, i.ty))).collect())
    }
}

impl<W: Word> InputProvider<W> for Ready<W> {
    fn limb(&self, source: Source, _: LimbType) -> Result<Arc<LimbBuf<W>>, ProviderError> {
        Ok(Arc::clone(&self.0[&source]))
    }

    fn vouches(&self) -> bool {
        true
    }
}

fn measure<W: Word>(name: &str, program: &LimbProgram, ring: &Ring<W>, threads: &[usize]) {
    let inputs = Ready::new(program);
    for &threads in threads {
        let engine = Engine::new(threads).expect("threads");
        let prepared = engine.prepare(program).expect("a program");
        let mut seconds = Vec::new();
        let mut bytes = 0;
        let begin = Instant::now();
        while seconds.len() < 9 || begin.elapsed().as_secs_f64() < 1.0 {
            let start = Instant::now();
            let run = engine.run_prepared(program, &prepared, ring, &inputs, None);
            let (outputs, stats) = run.expect("a run");
            seconds.push(start.elapsed().as_secs_f64());
            bytes = stats.peak_bytes;
            drop(outputs);
        }
        seconds.sort_by(f64::total_cmp);
        println!(
            "{name:28} {threads} threads: median {:8.3} ms, least {:8.3} ms, {} instructions, {} MB of buffers",
            seconds[seconds.len() / 2] * 1e3,
            seconds[0] * 1e3,
            program.instruction_count(),
            bytes >> 20,
        );
    }
}

fn main() {
    let args: Vec<String> = std::env::args()
        .skip(1)
        .filter(|a| a != "--bench")
        .collect();
    let filter = args.first().map_or("", String::as_str);
    let threads: Vec<usize> = match args.get(1) {
        Some(threads) => vec![threads.parse().expect("a number of threads")],
        None => vec![1, 2],
    };
    for case in CASES {
        let params = case.parameters();
        let mut context = None;
        for (operation, name) in Operation::ALL {
            let name = format!("{}/{name}", case.name);
            if !name.contains(filter) {
                continue;
            }
            let program = operation.program(&params);
            let context = context
                .get_or_insert_with(|| Context::new(Arc::new(params.clone())).expect("a context"));
            match context.ring() {
                AnyRing::W32(ring) => measure(&name, &program, ring, &threads),
                AnyRing::W64(ring) => measure(&name, &program, ring, &threads),
            }
        }
    }
}
