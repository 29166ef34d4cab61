//! Who reads a value, as one array of readers with an offset for every value.

use cyclotron_isa::{FlatProgram, NONE};

/// Readers of every value in ascending order.
#[derive(Debug, Clone, Default)]
pub(crate) struct UseLists {
    /// List of value v is `readers[start[v]..start[v + 1]]`.
    start: Vec<u32>,
    readers: Vec<u32>,
}

impl UseLists {
    /// Collects the lists. `each` calls its argument with every (value, reader),
    /// readers in ascending order; it runs twice.
    pub fn collect(values: usize, each: impl Fn(&mut dyn FnMut(u32, u32))) -> Self {
        let mut start = vec![0u32; values + 1];
        each(&mut |value, _| start[value as usize + 1] += 1);
        for v in 0..values {
            start[v + 1] += start[v];
        }
        let mut readers = vec![0; start[values] as usize];
        let mut next = start.clone();
        each(&mut |value, reader| {
            let at = &mut next[value as usize];
            readers[*at as usize] = reader;
            *at += 1;
        });
        Self { start, readers }
    }

    /// Where the list of a value starts.
    pub fn start(&self, value: u32) -> u32 {
        self.start[value as usize]
    }

    /// Where the list of a value ends.
    pub fn end(&self, value: u32) -> u32 {
        self.start[value as usize + 1]
    }

    /// The reader at a position of the array of readers.
    pub fn at(&self, position: u32) -> u32 {
        self.readers[position as usize]
    }

    /// The readers of a value.
    pub fn of(&self, value: u32) -> &[u32] {
        &self.readers[self.start(value) as usize..self.end(value) as usize]
    }
}

/// The distinct sources of an instruction: `(sources, count)`.
pub(crate) fn distinct_sources(flat: &FlatProgram, inst: usize) -> ([u32; 3], usize) {
    let mut distinct = [NONE; 3];
    let mut count = 0;
    for source in flat.src[inst] {
        if source != NONE && !distinct[..count].contains(&source) {
            distinct[count] = source;
            count += 1;
        }
    }
    (distinct, count)
}

/// Which instructions the outputs depend on; the others need not be executed.
pub(crate) fn live_instructions(flat: &FlatProgram) -> Vec<bool> {
    let mut live = vec![false; flat.len()];
    for &output in &flat.outputs {
        if let Some(inst) = flat.definition(output) {
            live[inst] = true;
        }
    }
    for inst in (0..flat.len()).rev() {
        if live[inst] {
            for source in flat.sources(inst) {
                if let Some(definition) = flat.definition(source) {
                    live[definition] = true;
                }
            }
        }
    }
    live
}
