//! What phase 1 needs to know of the machine a program is meant for.

use cyclotron_isa::Op;
use cyclotron_machine::Resolved;
use cyclotron_program::KeySwitch;

/// Estimated cost of limb instructions, in cycles of one unit of each kind
/// divided by the number of such units, so that sums over a program compare.
#[derive(Debug, Clone, PartialEq)]
pub struct Costs {
    /// Cycles an instruction of each operation costs, by `op as usize`.
    pub op: [f64; Op::ALL.len()],
    /// Which resource each operation uses, by `op as usize`.
    pub resource: [usize; Op::ALL.len()],
    /// Cycles to bring in one limb from off-chip memory.
    pub load: f64,
    /// log2 of the vectors that a polynomial is; `op` and `load` are for one vector.
    pub log_parts: u32,
    /// Whether resources work at the same time (a machine) or one after the other (one CPU).
    pub parallel: bool,
}

impl Costs {
    /// An operation on a polynomial as operations on vectors, with how many of each
    /// (see [`crate::split`]).
    pub(crate) fn on_vectors(&self, op: Op) -> impl Iterator<Item = (Op, f64)> + use<> {
        let parts = f64::from(1u32 << self.log_parts);
        let joins = match op {
            Op::Ntt | Op::Intt => f64::from(self.log_parts) * parts / 2.0,
            _ => 0.0,
        };
        let twists = if joins > 0.0 { parts } else { 0.0 };
        let around = [(Op::Mul, twists), (Op::MulC, joins), (Op::Add, 2.0 * joins)];
        std::iter::once((op, parts)).chain(around)
    }

    /// What an operation on a polynomial costs, all resources together.
    pub(crate) fn of(&self, op: Op) -> f64 {
        self.on_vectors(op)
            .map(|(op, times)| times * self.op[op as usize])
            .sum()
    }

    /// What loading a limb costs.
    pub(crate) fn of_load(&self) -> f64 {
        self.load * f64::from(1u32 << self.log_parts)
    }
}

/// What a program is lowered for.
#[derive(Debug, Clone, PartialEq)]
pub struct Target {
    /// `cpu` or the machine's name.
    pub name: String,
    /// Limbs are stored in words of so many bits.
    pub word_bits: u32,
    /// The widest prime.
    pub prime_bits: u32,
    /// Primes are 1 modulo this, where the ring asks for less.
    pub congruence: u64,
    /// Key-switch variants that may be used.
    pub variants: Vec<KeySwitch>,
    /// Whether automorphisms of one ciphertext share its decomposition.
    pub hoisting: bool,
    /// Bytes of fast memory: values alive and one hint should fit.
    pub fast_bytes: u64,
    /// Bytes of a stored limb at ring degree 1.
    pub word_bytes: f64,
    /// Estimated costs.
    pub costs: Costs,
}

impl Target {
    /// A CPU computing on words of 32 or 64 bits. Primes are one bit narrower
    /// than 32 and below 2^50 where IFMA applies, because kernels are faster there.
    #[must_use]
    pub fn cpu(word_bits: u32) -> Self {
        let (prime_bits, word) = if word_bits == 32 {
            (31, 1.0)
        } else {
            (50, 2.0)
        };
        let mut op = [1.0; Op::ALL.len()];
        op[Op::Ntt as usize] = 8.0;
        op[Op::Intt as usize] = 8.0;
        let op = op.map(|cost| cost * word);
        Self {
            name: "cpu".to_owned(),
            word_bits,
            prime_bits,
            congruence: 1,
            variants: vec![KeySwitch::Hybrid, KeySwitch::Listing1],
            hoisting: true,
            fast_bytes: 64 << 20,
            word_bytes: f64::from(word_bits / 8),
            costs: Costs {
                op,
                resource: [0; Op::ALL.len()],
                load: 0.5 * word,
                log_parts: 0,
                parallel: false,
            },
        }
    }

    /// A machine at one ring degree, without hoisting.
    #[must_use]
    pub fn machine(
        machine: &Resolved,
        prime_bits: u32,
        congruence: u64,
        variants: Vec<KeySwitch>,
    ) -> Self {
        let clusters = f64::from(machine.clusters);
        let mut op = [0.0; Op::ALL.len()];
        let mut resource = [0; Op::ALL.len()];
        for each in Op::ALL {
            if let Some(timing) = machine.timing(each) {
                let units = clusters * f64::from(machine.units[usize::from(timing.unit)].count);
                op[each as usize] = f64::from(timing.occupancy) / units;
                resource[each as usize] = usize::from(timing.unit);
            }
        }
        let channels: f64 = machine
            .channels
            .iter()
            .map(|c| 1.0 / f64::from(c.span.max(1)))
            .sum();
        let n = (1u64 << machine.log_n) as f64;
        Self {
            name: machine.name.clone(),
            word_bits: if machine.word_bits <= 32 { 32 } else { 64 },
            prime_bits: prime_bits.min(machine.word_bits),
            congruence,
            variants,
            hoisting: false,
            fast_bytes: machine.scratchpad_slots() * machine.vector_bytes,
            word_bytes: machine.vector_bytes as f64 / n,
            costs: Costs {
                op,
                resource,
                load: if channels > 0.0 { 1.0 / channels } else { 0.0 },
                log_parts: 0,
                parallel: true,
            },
        }
    }
}
