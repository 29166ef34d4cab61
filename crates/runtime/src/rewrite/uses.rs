//! Who defines and who reads the values of a procedure.

use cyclotron_isa::Procedure;

/// How the values of a procedure are used.
pub(super) struct Uses {
    /// For every value, the instruction that defines it; none for parameters.
    pub definer: Vec<Option<usize>>,
    /// For every value, its number of readings and the last reader.
    pub readers: Vec<(u32, usize)>,
    pub returned: Vec<bool>,
}

impl Uses {
    pub(super) fn new(procedure: &Procedure) -> Self {
        let values = procedure.types.len();
        let mut uses = Uses {
            definer: vec![None; values],
            readers: vec![(0, 0); values],
            returned: vec![false; values],
        };
        for (index, inst) in procedure.insts.iter().enumerate() {
            for value in inst.dst..inst.dst + Procedure::result_count(inst) {
                uses.definer[value as usize] = Some(index);
            }
            procedure.for_each_source(inst, |value| {
                let (count, last) = &mut uses.readers[value as usize];
                (*count, *last) = (*count + 1, index);
            });
        }
        for &value in &procedure.results {
            uses.returned[value as usize] = true;
        }
        uses
    }

    /// The instruction that reads a value, if it is the only one, reads it once,
    /// and the caller does not get the value.
    pub(super) fn only_reader(&self, value: u32) -> Option<usize> {
        let (count, reader) = self.readers[value as usize];
        (count == 1 && !self.returned[value as usize]).then_some(reader)
    }
}
