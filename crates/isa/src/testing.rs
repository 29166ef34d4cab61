//! Random limb programs and deterministic inputs, for tests of every crate
//! (feature `testing`).

use std::sync::Arc;

use cyclotron_ring::{LimbBuf, Word};

use crate::builder::{ProcedureBuilder, ProgramBuilder};
use crate::limb::{Domain, LimbType};
use crate::program::{LimbProgram, Source};
use crate::provider::{InputProvider, ProviderError};

/// A small seeded generator (SplitMix64): the same numbers everywhere. For tests only.
#[derive(Debug, Clone)]
pub struct TestRng(u64);

impl TestRng {
    /// The sequence of a seed.
    #[must_use]
    pub fn new(seed: u64) -> Self {
        Self(seed)
    }

    /// The next 64 bits.
    pub fn next_u64(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        mix(self.0)
    }

    /// A number in `0..bound`; the bias is that of a 64-bit remainder.
    ///
    /// # Panics
    /// If `bound` is 0.
    pub fn below(&mut self, bound: u64) -> u64 {
        self.next_u64() % bound
    }

    /// An index in `0..len`.
    ///
    /// # Panics
    /// If `len` is 0.
    pub fn index(&mut self, len: usize) -> usize {
        self.below(len as u64) as usize
    }

    /// True with probability `percent` / 100.
    pub fn chance(&mut self, percent: u64) -> bool {
        self.below(100) < percent
    }

    /// One of the elements.
    ///
    /// # Panics
    /// If there is none.
    pub fn pick<T: Copy>(&mut self, list: &[T]) -> T {
        list[self.index(list.len())]
    }
}

fn mix(mut z: u64) -> u64 {
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

/// The size of a random program.
#[derive(Debug, Clone)]
pub struct ProgramShape {
    /// log2 of the ring degree.
    pub log_n: u32,
    /// 32 or 64.
    pub word_bits: u32,
    /// The primes.
    pub moduli: Vec<u64>,
    /// Number of procedures, at least 1.
    pub procedures: usize,
    /// Instructions of a procedure, about.
    pub instructions: usize,
    /// Number of calls, at least 1.
    pub calls: usize,
    /// Whether compound instructions (`MAC`, `SUBMULC`, `DOT`, `BCONV`) occur.
    pub compound: bool,
}

impl ProgramShape {
    /// A small program over the given primes.
    #[must_use]
    pub fn small(log_n: u32, word_bits: u32, moduli: &[u64]) -> Self {
        Self {
            log_n,
            word_bits,
            moduli: moduli.to_vec(),
            procedures: 3,
            instructions: 14,
            calls: 6,
            compound: true,
        }
    }
}

/// A random program that [`crate::verify`] accepts: procedures that use every
/// operation over several primes, calls that share inputs, hints and earlier
/// results, outputs that may repeat values. The same seed gives the same program.
#[must_use]
pub fn random_program(seed: u64, shape: &ProgramShape) -> LimbProgram {
    let mut rng = TestRng::new(seed);
    let name = format!("random {seed}");
    let mut builder = ProgramBuilder::new(&name, shape.log_n, shape.word_bits, &shape.moduli);
    let mut inputs = Inputs {
        ciphertexts: [builder.ciphertext("x"), builder.ciphertext("y")],
        plain: builder.plain("w"),
        keys: [builder.key("relin/hybrid"), builder.key("galois:5/hybrid")],
    };
    let procedures: Vec<_> = (0..shape.procedures.max(1))
        .map(|p| random_procedure(&mut rng, shape, &mut builder, p))
        .collect();
    let mut values: Vec<(LimbType, u32)> = Vec::new();
    let mut results = Vec::new();
    for node in 0..shape.calls.max(1) {
        let (procedure, params, types) = &procedures[rng.index(procedures.len())];
        let args: Vec<u32> = params
            .iter()
            .map(|&ty| {
                let old: Vec<u32> = of_type(&values, ty).collect();
                if !old.is_empty() && rng.chance(70) {
                    return rng.pick(&old);
                }
                let value = inputs.draw(&mut rng, &mut builder, ty);
                values.push((ty, value));
                value
            })
            .collect();
        let new = builder.call(*procedure, &args, node as u32);
        results.extend(new.iter().copied());
        values.extend(types.iter().copied().zip(new));
    }
    random_outputs(&mut rng, &mut builder, &results, &values);
    builder.finish()
}

fn of_type(values: &[(LimbType, u32)], ty: LimbType) -> impl Iterator<Item = u32> + '_ {
    let of_type = values.iter().filter(move |(t, _)| *t == ty);
    of_type.map(|&(_, value)| value)
}

fn random_outputs(
    rng: &mut TestRng,
    builder: &mut ProgramBuilder,
    results: &[u32],
    values: &[(LimbType, u32)],
) {
    let output = builder.output_named("out");
    let mut limb = 0;
    for (i, &value) in results.iter().enumerate() {
        if i + 1 == results.len() || rng.chance(30) {
            builder.output(output, (limb % 2) as u8, limb / 2, value);
            limb += 1;
        }
    }
    // Now and then an input or a repeated value is an output.
    if rng.chance(40) {
        let (_, value) = rng.pick(values);
        builder.output(output, (limb % 2) as u8, limb / 2, value);
    }
}

struct Inputs {
    ciphertexts: [u32; 2],
    plain: u32,
    keys: [u32; 2],
}

impl Inputs {
    /// An input limb of a type, mostly one that was not used before.
    fn draw(&mut self, rng: &mut TestRng, builder: &mut ProgramBuilder, ty: LimbType) -> u32 {
        // The position carries the domain too, so that no limb has two types.
        let place = (rng.below(8) as u16) * 2 + u16::from(ty.domain == Domain::Eval);
        let limb = ty.modulus;
        let poly = (place / 2 % 2) as u8;
        let source = match rng.below(3) {
            0 => Source::Ciphertext {
                input: self.ciphertexts[usize::from(ty.domain == Domain::Eval)],
                poly,
                limb,
            },
            1 if ty.domain == Domain::Eval => Source::Plain {
                operand: self.plain,
                limb,
            },
            _ => Source::Hint {
                key: rng.pick(&self.keys),
                digit: place,
                poly,
                limb,
            },
        };
        builder.input(source, ty)
    }
}

type RandomProcedure = (u32, Vec<LimbType>, Vec<LimbType>);

fn random_procedure(
    rng: &mut TestRng,
    shape: &ProgramShape,
    builder: &mut ProgramBuilder,
    index: usize,
) -> RandomProcedure {
    let moduli = shape.moduli.len();
    let params: Vec<_> = (0..2 + rng.index(4))
        .map(|_| LimbType {
            modulus: rng.index(moduli) as u16,
            domain: if rng.chance(60) {
                Domain::Eval
            } else {
                Domain::Coeff
            },
        })
        .collect();
    let mut types = Vec::new();
    let procedure = builder.procedure(&format!("random procedure {index}"), |p| {
        for &ty in &params {
            p.param(ty);
        }
        let mut emitter = Emitter {
            rng,
            shape,
            values: params.len() as u32,
        };
        for _ in 0..shape.instructions.max(1) {
            emitter.emit(p);
        }
        let last = emitter.values - 1;
        let count = 1 + emitter.rng.below(3);
        let mut results: Vec<u32> = (0..count)
            .map(|_| last.saturating_sub(emitter.rng.below(6) as u32))
            .collect();
        results[0] = last;
        types = results.iter().map(|&r| p.ty(r)).collect();
        results
    });
    (procedure, params, types)
}

struct Emitter<'a> {
    rng: &'a mut TestRng,
    shape: &'a ProgramShape,
    values: u32,
}

impl Emitter<'_> {
    fn any(&mut self) -> u32 {
        self.rng.below(u64::from(self.values)) as u32
    }

    /// A value of this type; the fallback where there is no other.
    fn like(
        &mut self,
        p: &ProcedureBuilder<'_>,
        accept: impl Fn(LimbType) -> bool,
        or: u32,
    ) -> u32 {
        let found: Vec<u32> = (0..self.values).filter(|&v| accept(p.ty(v))).collect();
        if found.is_empty() {
            or
        } else {
            self.rng.pick(&found)
        }
    }

    fn modulus(&mut self) -> u16 {
        self.rng.index(self.shape.moduli.len()) as u16
    }

    fn constant(&mut self, modulus: u16) -> u64 {
        let q = self.shape.moduli[usize::from(modulus)];
        match self.rng.below(6) {
            0 => q - 1,
            1 => 1,
            _ => self.rng.below(q),
        }
    }

    fn emit(&mut self, p: &mut ProcedureBuilder<'_>) {
        let a = self.any();
        let ty = p.ty(a);
        let same = self.like(p, |t| t == ty, a);
        let domain = self.like(p, |t| t.domain == ty.domain, a);
        let modulus = if self.rng.chance(60) {
            ty.modulus
        } else {
            self.modulus()
        };
        let kinds = if self.shape.compound { 12 } else { 8 };
        let last = match self.rng.below(kinds) {
            0 | 1 => match ty.domain {
                Domain::Coeff => p.ntt(modulus, a),
                Domain::Eval => p.intt(a),
            },
            2 => p.add(a, same),
            3 => p.sub(a, same),
            4 => p.neg(a),
            5 => p.mul(modulus, a, domain),
            6 => {
                let c = self.constant(ty.modulus);
                if self.rng.chance(40) {
                    p.add_c(a, c)
                } else {
                    let c = self.constant(modulus);
                    p.mul_c(modulus, a, c)
                }
            }
            7 => {
                let k = 2 * self.rng.below(1 << self.shape.log_n) as u32 + 1;
                p.aut(a, k)
            }
            8 => {
                let b = self.like(p, |t| t.domain == ty.domain, a);
                p.mac(a, b, domain)
            }
            9 => {
                let c = self.constant(ty.modulus);
                p.sub_mul_c(a, same, c)
            }
            10 => {
                let pairs: Vec<_> = (0..1 + self.rng.below(5))
                    .map(|_| {
                        let x = self.like(p, |t| t.domain == ty.domain, a);
                        (x, self.like(p, |t| t.domain == ty.domain, a))
                    })
                    .collect();
                p.dot(modulus, &pairs)
            }
            _ => self.emit_bconv(p, a),
        };
        self.values = last + 1;
    }

    fn emit_bconv(&mut self, p: &mut ProcedureBuilder<'_>, a: u32) -> u32 {
        let a = self.like(p, |t| t.domain == Domain::Coeff, a);
        let domain = p.ty(a).domain;
        let srcs: Vec<u32> = (0..1 + self.rng.below(3))
            .map(|_| self.like(p, |t| t.domain == domain, a))
            .collect();
        let dst: Vec<u16> = (0..1 + self.rng.below(3)).map(|_| self.modulus()).collect();
        let matrix: Vec<u64> = (0..srcs.len() * dst.len())
            .map(|i| self.constant(dst[i % dst.len()]))
            .collect();
        let new = p.bconv(&dst, &srcs, &matrix);
        *new.last().unwrap_or(&a)
    }
}

/// Input limbs that depend on the seed and the source only: uniform words with
/// the edges 0 and q - 1 sprinkled in.
#[derive(Debug, Clone)]
pub struct HashInputs {
    /// Chooses the limbs.
    pub seed: u64,
    /// Words of a limb.
    pub n: usize,
    /// The primes, as in the program.
    pub moduli: Vec<u64>,
}

impl HashInputs {
    /// Inputs for a program.
    #[must_use]
    pub fn new(seed: u64, program: &LimbProgram) -> Self {
        Self {
            seed,
            n: program.n() << program.log_parts,
            moduli: program.moduli.clone(),
        }
    }
}

impl<W: Word> InputProvider<W> for HashInputs {
    fn limb(&self, source: Source, ty: LimbType) -> Result<Arc<LimbBuf<W>>, ProviderError> {
        let (kind, name, digit, poly, limb) = match source {
            Source::Ciphertext { input, poly, limb } => (0, input, 0, poly, limb),
            Source::Plain { operand, limb } => (1, operand, 0, 0, limb),
            Source::Hint {
                key,
                digit,
                poly,
                limb,
            } => (2, key, digit, poly, limb),
            Source::Twist => return Err(ProviderError::new("executors compute twists")),
        };
        let place = u64::from(limb) << 48 | u64::from(digit) << 32 | u64::from(name);
        let mut rng = TestRng::new(mix(mix(self.seed ^ place) ^ (u64::from(poly) * 4 + kind)));
        let q = self.moduli[usize::from(ty.modulus)];
        let word = |_| {
            let bits = rng.next_u64();
            W::from_u64(match bits % 61 {
                0 => 0,
                1 => q - 1,
                _ => (bits >> 3) % q,
            })
        };
        Ok(Arc::new((0..self.n).map(word).collect()))
    }
}
