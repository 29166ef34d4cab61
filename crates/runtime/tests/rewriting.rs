//! Chains that plans join into one piece of work: whatever is joined, and
//! whatever keeps things apart, the results are the interpreter's.

use cyclotron_isa::testing::{HashInputs, TestRng};
use cyclotron_isa::{LimbProgram, LimbType, ProcedureBuilder, ProgramBuilder, Source, interpret};
use cyclotron_ring::{Ring, Simd, Word, primes};
use cyclotron_runtime::Engine;

/// Two strips and more.
const LOG_N: u32 = 10;

/// Emits chains, and remembers values that the procedure may return besides.
struct Chains<'a, 'b> {
    rng: &'a mut TestRng,
    p: &'a mut ProcedureBuilder<'b>,
    moduli: &'a [u64],
    evals: Vec<u32>,
    returned: Vec<u32>,
}

impl Chains<'_, '_> {
    fn constant(&mut self, m: u16) -> u64 {
        let q = self.moduli[usize::from(m)];
        match self.rng.below(4) {
            0 => 1,
            1 => q - 1,
            _ => self.rng.below(q),
        }
    }

    /// The value, which now and then somebody else gets or reads too.
    fn shown(&mut self, value: u32) -> u32 {
        match self.rng.below(12) {
            0 => self.returned.push(value),
            1 => {
                let other = self.p.neg(value);
                self.returned.push(other);
            }
            _ => {}
        }
        value
    }

    fn pick(&mut self, m: u16) -> u32 {
        let of_prime: Vec<u32> = {
            let p = &self.p;
            let alike = self.evals.iter().filter(|&&v| p.ty(v) == LimbType::eval(m));
            alike.copied().collect()
        };
        self.rng.pick(&of_prime)
    }

    /// `INTT [MULC] [ADDC]`.
    fn inverse(&mut self, value: u32) -> u32 {
        let m = self.p.ty(value).modulus;
        let mut value = self.p.intt(value);
        value = self.shown(value);
        if self.rng.chance(60) {
            let c = self.constant(m);
            value = self.p.mul_c(m, value, c);
            value = self.shown(value);
        }
        if self.rng.chance(60) {
            let c = self.constant(m);
            value = self.p.add_c(value, c);
            value = self.shown(value);
        }
        value
    }

    /// `[MULC] [ADDC] NTT [SUBMULC] [ADD]`, from any prime to `m`.
    fn forward(&mut self, value: u32, m: u16) -> u32 {
        let mut value = value;
        if self.p.ty(value).modulus != m || self.rng.chance(50) {
            let c = self.constant(m);
            value = self.p.mul_c(m, value, c);
            value = self.shown(value);
        }
        if self.rng.chance(60) {
            let c = self.constant(m);
            value = self.p.add_c(value, c);
            value = self.shown(value);
        }
        value = self.p.ntt(m, value);
        value = self.shown(value);
        if self.rng.chance(70) {
            let c = self.constant(m);
            let other = self.pick(m);
            value = match self.rng.below(4) {
                0 => self.p.sub_mul_c(value, other, c),
                1 => self.p.sub_mul_c(value, value, c),
                _ => self.p.sub_mul_c(other, value, c),
            };
            value = self.shown(value);
            if self.rng.chance(70) {
                let other = self.pick(m);
                value = match self.rng.below(3) {
                    0 => self.p.add(value, value),
                    1 => self.p.add(other, value),
                    _ => self.p.add(value, other),
                };
                value = self.shown(value);
            }
        }
        if self.rng.chance(40) {
            value = self.p.aut(value, 5);
        }
        self.evals.push(value);
        value
    }

    /// A division: inverse transforms, a conversion, forward transforms.
    fn divide(&mut self) {
        let primes = self.moduli.len() as u16;
        let sources: Vec<u32> = (0..1 + self.rng.below(3))
            .map(|_| {
                let m = self.rng.below(u64::from(primes)) as u16;
                let value = self.pick(m);
                self.inverse(value)
            })
            .collect();
        let targets: Vec<u16> = (0..primes).filter(|_| self.rng.chance(80)).collect();
        if targets.is_empty() {
            return;
        }
        let matrix: Vec<u64> = (0..sources.len() * targets.len())
            .map(|at| self.constant(targets[at % targets.len()]))
            .collect();
        let converted = self.p.bconv(&targets, &sources, &matrix);
        for (value, &m) in converted.into_iter().zip(&targets) {
            self.forward(value, m);
        }
    }

    /// Neighbours that treat every index alike.
    fn strips(&mut self) {
        let m = self.rng.index(self.moduli.len()) as u16;
        let [x, y, z] = [0; 3].map(|_| self.pick(m));
        let product = self.p.mul(m, x, y);
        let sum = self.p.mac(product, y, z);
        let dot = self.p.dot(m, &[(x, z), (sum, y), (x, x)]);
        let other = self.p.dot(m, &[(x, y), (sum, z), (x, product)]);
        let c = self.constant(m);
        let difference = self.p.sub_mul_c(dot, other, c);
        let last = self.p.neg(difference);
        if self.rng.chance(30) {
            self.returned.push(sum);
        }
        self.evals.extend([other, last]);
    }
}

fn program(seed: u64, word_bits: u32, moduli: &[u64]) -> LimbProgram {
    let mut rng = TestRng::new(seed);
    let mut builder = ProgramBuilder::new("chains", LOG_N, word_bits, moduli);
    let input = builder.ciphertext("x");
    let primes = moduli.len() as u16;
    let args: Vec<u32> = (0..2 * primes)
        .map(|at| {
            let (poly, limb) = ((at / primes) as u8, at % primes);
            builder.input(
                Source::Ciphertext { input, poly, limb },
                LimbType::eval(limb),
            )
        })
        .collect();
    let procedure = builder.procedure("chains", |p| {
        let evals = (0..2 * primes)
            .map(|at| p.param(LimbType::eval(at % primes)))
            .collect();
        let mut chains = Chains {
            rng: &mut rng,
            p,
            moduli,
            evals,
            returned: Vec::new(),
        };
        for _ in 0..4 {
            match chains.rng.below(3) {
                0 => chains.divide(),
                1 => chains.strips(),
                _ => {
                    let m = chains.rng.below(u64::from(primes)) as u16;
                    let value = chains.pick(m);
                    let value = chains.inverse(value);
                    let m = chains.rng.below(u64::from(primes)) as u16;
                    chains.forward(value, m);
                }
            }
        }
        let mut results = chains.returned;
        results.extend(chains.evals.iter().rev().take(6));
        results
    });
    let results = builder.call(procedure, &args, 0);
    let output = builder.output_named("y");
    for (limb, value) in (0..).zip(results) {
        builder.output(output, 0, limb, value);
    }
    builder.finish()
}

fn check<W: Word>(bits: u32, seeds: u64) {
    let moduli = primes::ntt_primes(1 << bits, 2 << LOG_N, 3);
    let engines = [1, 2, 3].map(|threads| Engine::new(threads).unwrap());
    let scalar = Ring::<W>::new(LOG_N, &moduli, Simd::Scalar).unwrap();
    let fastest = Ring::<W>::new(LOG_N, &moduli, Simd::detect().unwrap()).unwrap();
    for seed in 0..seeds {
        let program = program(seed, W::BITS, &moduli);
        let inputs = HashInputs::new(seed, &program);
        let expected = interpret(&program, &scalar, &inputs).unwrap();
        for engine in &engines {
            let (outputs, stats) = engine.run(&program, &fastest, &inputs).unwrap();
            let threads = engine.threads();
            assert_eq!(
                outputs, expected,
                "{bits} bits, seed {seed}, {threads} threads"
            );
            assert_eq!(stats.instructions, program.instruction_count());
        }
    }
}

#[test]
fn chains_of_31_bit_primes() {
    check::<u32>(31, 100);
}

#[test]
fn chains_of_50_bit_primes() {
    check::<u64>(50, 100);
}

#[test]
fn chains_of_61_bit_primes() {
    check::<u64>(61, 50);
}
