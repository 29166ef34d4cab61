//! Limb programs for tests: hybrid key switches, and random dataflow.

use cyclotron_isa::{LimbProgram, LimbType, ProcedureBuilder, ProgramBuilder, Source};

/// A ciphertext's limbs, as values of the program.
#[derive(Clone)]
pub struct Ciphertext {
    c0: Vec<u32>,
    c1: Vec<u32>,
}

/// Makes programs of hybrid key switches with one limb a digit and one special prime.
pub struct KeySwitches {
    builder: ProgramBuilder,
    level: u16,
    inputs: u32,
}

impl KeySwitches {
    pub fn new(log_n: u32, level: u16) -> Self {
        // Only the sizes matter to a scheduler; these need not be prime.
        let moduli: Vec<u64> = (0..=u64::from(level))
            .map(|k| (1 << 31) + 65537 * k)
            .collect();
        Self {
            builder: ProgramBuilder::new("key switches", log_n, 32, &moduli),
            level,
            inputs: 0,
        }
    }

    pub fn input(&mut self) -> Ciphertext {
        let name = format!("x{}", self.inputs);
        self.inputs += 1;
        let input = self.builder.ciphertext(&name);
        let mut limbs = |poly| {
            (0..self.level)
                .map(|limb| {
                    let source = Source::Ciphertext { input, poly, limb };
                    self.builder.input(source, LimbType::eval(limb))
                })
                .collect()
        };
        Ciphertext {
            c0: limbs(0),
            c1: limbs(1),
        }
    }

    fn hints(&mut self, k: u32) -> Vec<u32> {
        let key = self.builder.key(&format!("galois:{k}/hybrid"));
        let mut hints = Vec::new();
        for limb in 0..=self.level {
            for poly in 0..2 {
                for digit in 0..self.level {
                    let source = Source::Hint {
                        key,
                        digit,
                        poly,
                        limb,
                    };
                    hints.push(self.builder.input(source, LimbType::eval(limb)));
                }
            }
        }
        hints
    }

    /// `x + rotate(x, k)`.
    pub fn rotate_add(&mut self, x: &Ciphertext, k: u32) -> Ciphertext {
        let level = self.level;
        let procedure = self
            .builder
            .procedure(&format!("rotate_add[k={k}]"), |b| rotate_add(b, level, k));
        let hints = self.hints(k);
        let args: Vec<u32> = x.c0.iter().chain(&x.c1).chain(&hints).copied().collect();
        let results = self.builder.call(procedure, &args, 0);
        let (c0, c1) = results.split_at(usize::from(level));
        Ciphertext {
            c0: c0.to_vec(),
            c1: c1.to_vec(),
        }
    }

    pub fn output(&mut self, x: &Ciphertext) {
        let output = self.builder.output_named("y");
        for (poly, limbs) in [(0, &x.c0), (1, &x.c1)] {
            for (limb, &value) in (0u16..).zip(limbs) {
                self.builder.output(output, poly, limb, value);
            }
        }
    }

    pub fn finish(self) -> LimbProgram {
        self.builder.finish()
    }
}

fn rotate_add(b: &mut ProcedureBuilder<'_>, level: u16, k: u32) -> Vec<u32> {
    let limbs = |b: &mut ProcedureBuilder<'_>| -> Vec<u32> {
        (0..level).map(|m| b.param(LimbType::eval(m))).collect()
    };
    let c0 = limbs(b);
    let c1 = limbs(b);
    let mut hints = Vec::new();
    for limb in 0..=level {
        for _ in 0..2 * level {
            hints.push(b.param(LimbType::eval(limb)));
        }
    }
    let r0: Vec<u32> = c0.iter().map(|&x| b.aut(x, k)).collect();
    let r1: Vec<u32> = c1.iter().map(|&x| b.aut(x, k)).collect();
    let digits: Vec<u32> = r1.iter().map(|&x| b.intt(x)).collect();
    let mut sums = Vec::new();
    for limb in (0..=level).rev() {
        let spread: Vec<u32> = (0..level)
            .map(|i| {
                if i == limb {
                    r1[usize::from(i)]
                } else {
                    b.ntt(limb, digits[usize::from(i)])
                }
            })
            .collect();
        for poly in 0..2u16 {
            let at = usize::from((limb * 2 + poly) * level);
            let pairs: Vec<(u32, u32)> = spread
                .iter()
                .copied()
                .zip(hints[at..].iter().copied())
                .collect();
            sums.push(b.dot(limb, &pairs));
        }
    }
    let special: Vec<u32> = sums[..2].iter().map(|&s| b.intt(s)).collect();
    let mut switched = [Vec::new(), Vec::new()];
    for limb in 0..level {
        for poly in 0..2 {
            let sum = sums[2 * usize::from(level - limb) + poly];
            let low = b.ntt(limb, special[poly]);
            switched[poly].push(b.sub_mul_c(sum, low, 12345));
        }
    }
    let mut results = Vec::new();
    for limb in 0..usize::from(level) {
        let rotated = b.add(switched[0][limb], r0[limb]);
        results.push(b.add(rotated, c0[limb]));
    }
    for limb in 0..usize::from(level) {
        results.push(b.add(switched[1][limb], c1[limb]));
    }
    results
}

/// `width` ciphertexts, each rotated and added `steps` times; step s uses the
/// same key for all of them.
pub fn inner_sums(log_n: u32, level: u16, width: usize, steps: u32) -> LimbProgram {
    let mut program = KeySwitches::new(log_n, level);
    let mut columns: Vec<Ciphertext> = (0..width).map(|_| program.input()).collect();
    for step in 0..steps {
        for column in &mut columns {
            *column = program.rotate_add(column, 2 * step + 3);
        }
    }
    columns.iter().for_each(|column| program.output(column));
    program.finish()
}

/// A small pseudo-random generator.
pub struct Random(pub u64);

impl Random {
    pub fn next(&mut self, below: u64) -> u64 {
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        ((self.0 >> 33) * below) >> 31
    }
}

/// Random dataflow of `size` instructions in one procedure per call.
pub fn random(seed: u64, size: u64) -> LimbProgram {
    let mut random = Random(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15));
    let moduli = [65537, 786_433, 163_841];
    let mut builder = ProgramBuilder::new("random", 10, 32, &moduli);
    let key = builder.key("relin/hybrid");
    let input = builder.ciphertext("x");
    let mut globals = Vec::new();
    for k in 0..4 + random.next(12) as u16 {
        let source = if random.next(2) == 0 {
            Source::Ciphertext {
                input,
                poly: 0,
                limb: k,
            }
        } else {
            Source::Hint {
                key,
                digit: k,
                poly: 0,
                limb: 0,
            }
        };
        globals.push(builder.input(source, LimbType::eval(0)));
    }
    let mut left = size;
    let mut call = 0;
    while left > 0 {
        let length = 1 + random.next(left.min(40));
        left -= length;
        let params = 1 + random.next(4) as usize;
        let procedure = builder.procedure(&format!("p{call}"), |b| {
            let mut values: Vec<u32> = (0..params).map(|_| b.param(LimbType::eval(0))).collect();
            for _ in 0..length {
                let value = random_instruction(b, &mut random, &values);
                values.push(value);
            }
            let results = 1 + random.next(3) as usize;
            values.iter().rev().take(results).copied().collect()
        });
        let args: Vec<u32> = (0..params)
            .map(|_| {
                let recent = random.next(3) > 0;
                let range = if recent {
                    globals.len().min(6)
                } else {
                    globals.len()
                };
                globals[globals.len() - 1 - random.next(range as u64) as usize]
            })
            .collect();
        globals.extend(builder.call(procedure, &args, 0));
        call += 1;
    }
    let output = builder.output_named("y");
    for limb in 0..1 + random.next(6) as u16 {
        let back = random.next(globals.len().min(12) as u64) as usize;
        builder.output(output, 0, limb, globals[globals.len() - 1 - back]);
    }
    builder.finish()
}

fn random_instruction(b: &mut ProcedureBuilder<'_>, random: &mut Random, values: &[u32]) -> u32 {
    let mut pick = || {
        let range = if random.next(3) > 0 {
            values.len().min(5)
        } else {
            values.len()
        };
        values[values.len() - 1 - random.next(range as u64) as usize]
    };
    let (x, y, z) = (pick(), pick(), pick());
    match random.next(11) {
        0 => {
            let coeff = b.intt(x);
            b.ntt(0, coeff)
        }
        1 => b.add(x, y),
        2 => b.sub(x, y),
        3 => b.neg(x),
        4 => b.mul(0, x, y),
        5 => b.add_c(x, 7),
        6 => b.mul_c(0, x, 9),
        7 => b.aut(x, 5),
        8 => b.mac(x, y, z),
        9 => b.sub_mul_c(x, y, 3),
        _ => b.dot(0, &[(x, y), (y, z), (z, x)]),
    }
}
