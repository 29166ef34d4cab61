//! The dataflow graph of a schedule: nodes are values, edges are words read.

use cyclotron_isa::kernel::Operation;

/// Number of a node.
pub(crate) type NodeId = u32;

/// Zeros that stand for garbage.
pub(crate) const ZERO: NodeId = 0;

/// Zeros of a slot that was never written.
pub(crate) const UNWRITTEN: NodeId = 1;

/// Where a node's words come from.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Origin {
    /// Zeros.
    Zero,
    /// An input limb of the program.
    Input(u32),
    /// What a slot shows to a read.
    Copy(ReadId),
    /// A unit's result: the operands are the reads `first .. first + count`.
    Compute {
        operation: Operation,
        first: ReadId,
        count: u8,
    },
}

/// Number of a read.
pub(crate) type ReadId = u32;

/// A read of a slot: from what, when, by whom.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Read {
    /// The slot, numbered through all memories.
    pub(crate) location: u32,
    pub(crate) start: u64,
    pub(crate) span: u32,
    /// The entry, for messages.
    pub(crate) stream: u32,
    pub(crate) entry: u32,
}

/// A write into a slot.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Write {
    pub(crate) location: u32,
    pub(crate) start: u64,
    pub(crate) span: u32,
    pub(crate) node: NodeId,
}

impl Write {
    pub(crate) fn end(&self) -> u64 {
        self.start + u64::from(self.span)
    }
}

/// Values and accesses of a whole schedule.
#[derive(Debug)]
pub(crate) struct Graph {
    pub(crate) origins: Vec<Origin>,
    /// When each node's entry starts.
    pub(crate) starts: Vec<u64>,
    pub(crate) reads: Vec<Read>,
    pub(crate) writes: Vec<Write>,
    /// Slots of all memories.
    pub(crate) locations: u32,
}

impl Graph {
    pub(crate) fn new(locations: u32) -> Self {
        Self {
            origins: vec![Origin::Zero; 2],
            starts: vec![0; 2],
            reads: Vec::new(),
            writes: Vec::new(),
            locations,
        }
    }

    pub(crate) fn node(&mut self, origin: Origin, start: u64) -> NodeId {
        self.origins.push(origin);
        self.starts.push(start);
        self.origins.len() as NodeId - 1
    }

    pub(crate) fn read(&mut self, read: Read) -> ReadId {
        self.reads.push(read);
        self.reads.len() as ReadId - 1
    }
}

/// Words `from..to` of a node.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Piece {
    pub(crate) from: u32,
    pub(crate) to: u32,
    pub(crate) node: NodeId,
}

/// What a read sees.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Seen {
    /// One value.
    Whole(NodeId),
    /// Words of several values, in order.
    Pieces(Box<[Piece]>),
}

impl Seen {
    /// The nodes that it consists of.
    pub(crate) fn nodes(&self) -> impl Iterator<Item = NodeId> + '_ {
        let (whole, pieces) = match self {
            Seen::Whole(node) => (Some(*node), &[][..]),
            Seen::Pieces(pieces) => (None, &pieces[..]),
        };
        whole
            .into_iter()
            .chain(pieces.iter().map(|piece| piece.node))
    }
}
