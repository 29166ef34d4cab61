//! Movement plans: a limb program in an order, with its off-chip traffic.

/// What off-chip traffic carries.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum TrafficClass {
    /// Key-switch hints.
    Hints,
    /// Ciphertext and plaintext inputs, and outputs.
    InputsOutputs,
    /// Values that the program itself computed and spilled.
    Intermediates,
}

/// One step of a movement plan. Values and instructions are those of the flat program.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Step {
    /// Brings a value from off-chip memory into the scratchpad.
    Load(u32),
    /// Writes a value of the scratchpad to off-chip memory; it stays in the scratchpad.
    Store(u32),
    /// Frees the value's place in the scratchpad.
    Evict(u32),
    /// Executes an instruction; its result takes a place in the scratchpad.
    Compute(u32),
}

/// The limb program in an order, with loads, stores and evictions. Off-chip
/// traffic is final from here on.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct MovementPlan {
    /// Vectors that the scratchpad holds at most.
    pub capacity: u32,
    /// The steps in order. Every value that is still needed is present when it
    /// is read; a value is evicted at the latest after its last use.
    pub steps: Vec<Step>,
    /// Traffic, in vectors.
    pub traffic: Traffic,
}

/// Off-chip traffic by class, in vectors (or, where a report says so, bytes).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Traffic {
    /// First loads of hints.
    pub hints_compulsory: u64,
    /// Further loads of hints.
    pub hints_other: u64,
    /// First loads of inputs.
    pub inputs_compulsory: u64,
    /// Further loads of inputs.
    pub inputs_other: u64,
    /// Stores of outputs.
    pub outputs: u64,
    /// Loads of spilled intermediates.
    pub intermediate_loads: u64,
    /// Stores of spilled intermediates.
    pub intermediate_stores: u64,
}

impl Traffic {
    /// The sum of all classes.
    #[must_use]
    pub fn total(&self) -> u64 {
        self.hints_compulsory
            + self.hints_other
            + self.inputs_compulsory
            + self.inputs_other
            + self.outputs
            + self.intermediate_loads
            + self.intermediate_stores
    }

    /// The part that every schedule must move.
    #[must_use]
    pub fn compulsory(&self) -> u64 {
        self.hints_compulsory + self.inputs_compulsory + self.outputs
    }

    /// The same traffic with every count multiplied by `bytes`.
    #[must_use]
    pub fn scaled(&self, bytes: u64) -> Traffic {
        Traffic {
            hints_compulsory: self.hints_compulsory * bytes,
            hints_other: self.hints_other * bytes,
            inputs_compulsory: self.inputs_compulsory * bytes,
            inputs_other: self.inputs_other * bytes,
            outputs: self.outputs * bytes,
            intermediate_loads: self.intermediate_loads * bytes,
            intermediate_stores: self.intermediate_stores * bytes,
        }
    }
}
