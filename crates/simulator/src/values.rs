//! The graph after every read is resolved: what each value is made of.

use cyclotron_isa::FlatProgram;

use crate::evaluate::is_zero;
use crate::graph::{NodeId, Origin, Read, ReadId, Seen, ZERO};

/// Values, with copies of whole values resolved to what they copy.
pub(crate) struct Values<'a> {
    origins: &'a [Origin],
    starts: &'a [u64],
    reads: &'a [Read],
    seen: Vec<Seen>,
    /// For every node the node whose value it has: itself unless it copies.
    resolved: Vec<NodeId>,
    /// All words of a node are below this.
    bounds: Vec<u64>,
    /// Nodes that copy themselves.
    circular: Vec<NodeId>,
}

/// Not resolved yet.
const OPEN: NodeId = NodeId::MAX;

/// In the chain that is being followed.
const CHAIN: NodeId = NodeId::MAX - 1;

impl<'a> Values<'a> {
    pub(crate) fn new(
        program: &FlatProgram,
        origins: &'a [Origin],
        starts: &'a [u64],
        reads: &'a [Read],
        seen: Vec<Seen>,
    ) -> Self {
        let mut values = Self {
            origins,
            starts,
            reads,
            seen,
            resolved: vec![OPEN; origins.len()],
            bounds: Vec::new(),
            circular: Vec::new(),
        };
        for node in 0..origins.len() as NodeId {
            values.resolve_copies(node);
        }
        let modulus = |m: u16| program.moduli[usize::from(m)];
        let widest = program.moduli.iter().copied().max().unwrap_or(u64::MAX);
        values.bounds = origins
            .iter()
            .map(|origin| match origin {
                Origin::Zero => 0,
                Origin::Input(input) => modulus(program.inputs[*input as usize].ty.modulus),
                Origin::Compute { operation, .. } => modulus(operation.modulus),
                Origin::Copy(_) => widest,
            })
            .collect();
        values
    }

    /// Follows copies of whole values; a chain that ends in itself is zeros.
    fn resolve_copies(&mut self, node: NodeId) {
        let mut chain = Vec::new();
        let mut at = node;
        let end = loop {
            match self.resolved[at as usize] {
                OPEN => {}
                CHAIN => {
                    self.circular.push(at);
                    break ZERO;
                }
                known => break known,
            }
            self.resolved[at as usize] = at;
            let Origin::Copy(read) = self.origins[at as usize] else {
                break at;
            };
            let Seen::Whole(source) = self.seen[read as usize] else {
                break at;
            };
            self.resolved[at as usize] = CHAIN;
            chain.push(at);
            at = source;
        };
        for copy in chain {
            self.resolved[copy as usize] = end;
        }
    }

    pub(crate) fn len(&self) -> usize {
        self.origins.len()
    }

    pub(crate) fn origin(&self, node: NodeId) -> Origin {
        self.origins[node as usize]
    }

    pub(crate) fn start(&self, node: NodeId) -> u64 {
        self.starts[node as usize]
    }

    pub(crate) fn seen(&self, read: ReadId) -> &Seen {
        &self.seen[read as usize]
    }

    pub(crate) fn resolve(&self, node: NodeId) -> NodeId {
        self.resolved[node as usize]
    }

    pub(crate) fn circular(&self) -> &[NodeId] {
        &self.circular
    }

    /// All words that a read sees are below this.
    pub(crate) fn bound(&self, seen: &Seen) -> u64 {
        let nodes = seen
            .nodes()
            .map(|node| self.bounds[self.resolve(node) as usize]);
        nodes.max().unwrap_or(0)
    }

    /// The read that stands for a node's entry, if it has one.
    pub(crate) fn entry(&self, node: NodeId) -> Option<&Read> {
        match self.origin(node) {
            Origin::Copy(read) | Origin::Compute { first: read, .. } => {
                self.reads.get(read as usize)
            }
            Origin::Zero | Origin::Input(_) => None,
        }
    }

    /// Calls `f` with every resolved node that a resolved node is computed from,
    /// as often as it is used.
    pub(crate) fn sources(&self, node: NodeId, mut f: impl FnMut(NodeId)) {
        let reads = match self.origin(node) {
            Origin::Zero | Origin::Input(_) => 0..0,
            Origin::Copy(read) => read..read + 1,
            Origin::Compute { first, count, .. } => first..first + u32::from(count),
        };
        for read in reads {
            for source in self.seen[read as usize].nodes() {
                let source = self.resolve(source);
                if !is_zero(source) {
                    f(source);
                }
            }
        }
    }

    /// Whether a resolved node must be computed: neither zeros nor an input.
    pub(crate) fn is_task(&self, node: NodeId) -> bool {
        matches!(self.origin(node), Origin::Copy(_) | Origin::Compute { .. })
    }
}
