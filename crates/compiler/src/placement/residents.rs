//! Values that are on the chip, and where.

/// No resident.
pub(crate) const NO_RECORD: u32 = u32::MAX;
/// No further use.
pub(crate) const NEVER: u32 = u32::MAX;
/// No bank.
pub(crate) const NO_BANK: u16 = u16::MAX;

/// A stream of a value that further clusters may take.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Sent {
    /// Start of the read.
    pub at: u64,
    /// The bank or cluster that sends.
    pub from: u16,
    /// Whether it is a bank.
    pub bank: bool,
}

/// A value that is on the chip.
#[derive(Debug, Clone)]
pub(crate) struct Resident {
    pub value: u32,
    /// Position of its next use, [`NEVER`] if there is none.
    pub next: u32,
    /// Bank that holds it, or [`NO_BANK`].
    pub bank: u16,
    /// Slot in that bank.
    pub slot: u16,
    /// First cycle of the write into the bank.
    pub written: u64,
    /// End of that write.
    pub written_end: u64,
    /// First cycle at which the bank's slot may be overwritten.
    pub free_from: u64,
    /// Copies in register files: cluster and slot.
    pub copies: Vec<(u16, u16)>,
    /// Bit k: a cluster that is k modulo 64 may have a copy.
    clusters: u64,
    /// The latest transfers to clusters.
    pub sent: [Option<Sent>; 2],
}

/// All residents, in a pool that is reused.
#[derive(Debug)]
pub(crate) struct Residents {
    pool: Vec<Resident>,
    unused: Vec<u32>,
    /// Resident of every value.
    of_value: Vec<u32>,
}

impl Residents {
    pub fn new(values: usize) -> Self {
        Self {
            pool: Vec::new(),
            unused: Vec::new(),
            of_value: vec![NO_RECORD; values],
        }
    }

    /// The resident of a value, or [`NO_RECORD`].
    pub fn of(&self, value: u32) -> u32 {
        self.of_value[value as usize]
    }

    pub fn get(&self, record: u32) -> &Resident {
        &self.pool[record as usize]
    }

    pub fn get_mut(&mut self, record: u32) -> &mut Resident {
        &mut self.pool[record as usize]
    }

    /// Adds a value that is nowhere yet and is used next at a position.
    pub fn add(&mut self, value: u32, next: Option<u32>) -> u32 {
        let record = self.unused.pop().unwrap_or_else(|| {
            self.pool.push(Resident {
                value,
                next: NEVER,
                bank: NO_BANK,
                slot: 0,
                written: 0,
                written_end: 0,
                free_from: 0,
                copies: Vec::new(),
                clusters: 0,
                sent: [None; 2],
            });
            self.pool.len() as u32 - 1
        });
        let resident = &mut self.pool[record as usize];
        resident.value = value;
        resident.next = next.unwrap_or(NEVER);
        resident.bank = NO_BANK;
        resident.copies.clear();
        resident.clusters = 0;
        resident.sent = [None; 2];
        self.of_value[value as usize] = record;
        record
    }

    /// Removes a value that has no copies left.
    pub fn remove(&mut self, record: u32) {
        let resident = &self.pool[record as usize];
        debug_assert!(resident.copies.is_empty(), "copies outlive their value");
        self.of_value[resident.value as usize] = NO_RECORD;
        self.unused.push(record);
    }

    /// The slot of a resident's copy in a cluster.
    pub fn copy_in(&self, record: u32, cluster: u16) -> Option<u16> {
        let resident = self.get(record);
        if resident.clusters >> (cluster % 64) & 1 == 0 {
            return None;
        }
        resident
            .copies
            .iter()
            .find(|&&(c, _)| c == cluster)
            .map(|&(_, slot)| slot)
    }

    /// Notes a copy in a slot of a cluster that has none.
    pub fn add_copy(&mut self, record: u32, cluster: u16, slot: u16) {
        let resident = self.get_mut(record);
        resident.copies.push((cluster, slot));
        resident.clusters |= 1 << (cluster % 64);
    }

    pub fn drop_copy(&mut self, record: u32, cluster: u16) {
        let resident = self.get_mut(record);
        resident.copies.retain(|&(c, _)| c != cluster);
        let bits = resident.copies.iter().map(|&(c, _)| 1 << (c % 64));
        resident.clusters = bits.fold(0, |all, bit: u64| all | bit);
    }

    /// Takes the copy that was added last, if there is one.
    pub fn pop_copy(&mut self, record: u32) -> Option<(u16, u16)> {
        let resident = self.get_mut(record);
        let copy = resident.copies.pop();
        if resident.copies.is_empty() {
            resident.clusters = 0;
        }
        copy
    }
}
