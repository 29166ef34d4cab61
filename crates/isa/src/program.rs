//! A limb program: procedures, calls, inputs and outputs.

use crate::limb::LimbType;
use crate::movement::TrafficClass;
use crate::procedure::Procedure;

/// Where an input limb comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Source {
    /// A limb of an encrypted input.
    Ciphertext {
        /// Index into [`LimbProgram::ciphertexts`].
        input: u32,
        /// 0 or 1 (`c0 + c1 s`).
        poly: u8,
        /// Position in the modulus chain, 0 at the bottom.
        limb: u16,
    },
    /// A limb of an encoded plaintext operand.
    Plain {
        /// Index into [`LimbProgram::plains`].
        operand: u32,
        /// Position in the modulus chain.
        limb: u16,
    },
    /// A limb of a key-switch hint.
    Hint {
        /// Index into [`LimbProgram::keys`].
        key: u32,
        /// Digit of the gadget decomposition.
        digit: u16,
        /// 0 or 1.
        poly: u8,
        /// Position in the extended chain: data primes, then special primes.
        limb: u16,
    },
    /// The twist of a part modulo the prime of the input's type
    /// ([`cyclotron_ring::parts`]), in coefficient domain: a constant, which executors
    /// compute and machines load.
    Twist,
}

impl Source {
    /// The class of the off-chip traffic that loading it makes.
    #[must_use]
    pub fn traffic_class(self) -> TrafficClass {
        match self {
            Source::Hint { .. } => TrafficClass::Hints,
            Source::Ciphertext { .. } | Source::Plain { .. } | Source::Twist => {
                TrafficClass::InputsOutputs
            }
        }
    }
}

/// An input limb: where it comes from and its type.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct InputDecl {
    /// Where the limb comes from.
    pub source: Source,
    /// Its prime and domain.
    pub ty: LimbType,
    /// Which part of the limb it is, below 2^[`LimbProgram::log_parts`].
    pub part: u16,
}

/// An output limb.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct OutputDecl {
    /// Index into [`LimbProgram::outputs_named`].
    pub output: u32,
    /// Polynomial of the ciphertext.
    pub poly: u8,
    /// Position in the modulus chain.
    pub limb: u16,
    /// Which part of the limb it is, below 2^[`LimbProgram::log_parts`].
    pub part: u16,
    /// The global value.
    pub value: u32,
}

/// A key-switch key that the program needs.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct KeyDecl {
    /// What `schemes` calls it, for example `relin/hybrid` or `galois:25/listing1`.
    pub name: String,
}

/// A call of a procedure. Its results become global values
/// `first_result .. first_result + results`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Call {
    /// Index into [`LimbProgram::procedures`].
    pub procedure: u32,
    /// Where its arguments start in [`LimbProgram::args`]; as many as the procedure has parameters.
    pub args: u32,
    /// Global number of its first result.
    pub first_result: u32,
    /// The HE node it implements, for reports.
    pub node: u32,
}

/// SSA dataflow over limbs: compute only, no loads or stores.
///
/// Global values are numbered: the inputs, then the results of every call in
/// order. The order of calls, and within a call of instructions, is the
/// priority order that phase 1 chose.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct LimbProgram {
    /// What it computes, for reports.
    pub name: String,
    /// log2 of N, the words of a value: the ring degree, where values are whole limbs.
    pub log_n: u32,
    /// log2 of the number of values that a limb consists of: 0 for whole limbs, else
    /// see [`crate::part`].
    pub log_parts: u32,
    /// 32 or 64: limbs are stored in words of so many bits.
    pub word_bits: u32,
    /// The primes.
    pub moduli: Vec<u64>,
    /// Constants of `ADDC`, `MULC`, `SUBMULC` and the matrices of `BCONV`.
    pub constants: Vec<u64>,
    /// Names of the encrypted inputs.
    pub ciphertexts: Vec<String>,
    /// Names of the plaintext operands.
    pub plains: Vec<String>,
    /// Key-switch keys.
    pub keys: Vec<KeyDecl>,
    /// Names of the outputs.
    pub outputs_named: Vec<String>,
    /// The input limbs: global values `0..inputs.len()`.
    pub inputs: Vec<InputDecl>,
    /// The procedures.
    pub procedures: Vec<Procedure>,
    /// The calls, in order.
    pub calls: Vec<Call>,
    /// Arguments of the calls: global values.
    pub args: Vec<u32>,
    /// The output limbs.
    pub outputs: Vec<OutputDecl>,
}

impl LimbProgram {
    /// N, the words of a value.
    #[must_use]
    pub fn n(&self) -> usize {
        1 << self.log_n
    }

    /// The arguments of a call.
    #[must_use]
    pub fn call_args(&self, call: &Call) -> &[u32] {
        let at = call.args as usize;
        &self.args[at..at + self.procedures[call.procedure as usize].params as usize]
    }

    /// Number of global values.
    #[must_use]
    pub fn global_count(&self) -> usize {
        self.calls.last().map_or(self.inputs.len(), |call| {
            call.first_result as usize + self.procedures[call.procedure as usize].results.len()
        })
    }

    /// Number of instructions that the calls execute.
    #[must_use]
    pub fn instruction_count(&self) -> u64 {
        self.calls
            .iter()
            .map(|c| self.procedures[c.procedure as usize].insts.len() as u64)
            .sum()
    }
}
