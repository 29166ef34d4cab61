//! Forms: what entries have in common, and the numbers that they leave open.

use crate::encoding::EncodingError;
use crate::encoding::bits::{BitReader, BitWriter};
use crate::op::Op;
use crate::schedule::{Component, Link, NO_SLOT, StreamOp};

/// What an entry does, but for slots, primes, immediates and addresses.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) enum Form {
    /// An operation; `sources` has a bit for each source field that is used.
    Compute {
        op: Op,
        sources: u8,
    },
    Read {
        to: Link,
    },
    Write {
        from: Link,
    },
    /// A transfer over a crossbar.
    Route {
        xbar: u16,
    },
    Load,
    Store,
}

/// A number that a form leaves open.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Field {
    Wait,
    Modulus,
    Immediate,
    Destination,
    FirstSource,
    SecondSource,
    ThirdSource,
    /// The slot of a read or write.
    Slot,
    /// The port that a transfer comes from.
    From,
    Address,
    Bank,
    /// 1 and the slot that a transfer reads; 0 if the entry does not say.
    Taken,
    /// 1 and the slot that a transfer writes; 0 if the entry does not say.
    Put,
}

/// Number of [`Field`]s.
pub(super) const FIELDS: usize = 13;

/// An entry's numbers, by field.
pub(super) type Numbers = [u32; FIELDS];

const SOURCES: [Field; 3] = [Field::FirstSource, Field::SecondSource, Field::ThirdSource];
const OPERATIONS: u64 = Op::ALL.len() as u64;
/// Order of the code of indices.
const INDEX_ORDER: u32 = 3;

impl Form {
    /// The form of an entry of a component.
    pub(super) fn of(component: Component, op: &StreamOp) -> Self {
        match *op {
            StreamOp::Compute { op, src, .. } => {
                let used = |&(_, slot): &(usize, u16)| slot != NO_SLOT;
                let used = src.into_iter().enumerate().filter(used);
                let sources = used.map(|(field, _)| 1 << field).sum();
                Form::Compute { op, sources }
            }
            StreamOp::Read { to, .. } => Form::Read { to },
            StreamOp::Write { from, .. } => Form::Write { from },
            StreamOp::Route { .. } => match component {
                Component::XbarPort { xbar, .. } => Form::Route { xbar },
                _ => Form::Route { xbar: u16::MAX },
            },
            StreamOp::Load { .. } => Form::Load,
            StreamOp::Store { .. } => Form::Store,
        }
    }

    /// The fields, in the order in which they are written.
    pub(super) fn fields(self) -> impl Iterator<Item = Field> {
        let fields: &[Field] = match self {
            Form::Compute { .. } => &[
                Field::Wait,
                Field::Modulus,
                Field::Immediate,
                Field::Destination,
                SOURCES[0],
                SOURCES[1],
                SOURCES[2],
            ],
            Form::Read { .. } | Form::Write { .. } => &[Field::Wait, Field::Slot],
            Form::Route { .. } => &[Field::Wait, Field::From, Field::Taken, Field::Put],
            Form::Load => &[Field::Wait, Field::Address, Field::Bank, Field::Put],
            Form::Store => &[Field::Wait, Field::Address, Field::Bank, Field::Taken],
        };
        let used = move |field: &Field| match self {
            Form::Compute { sources, .. } => {
                let place = SOURCES.iter().position(|source| source == field);
                place.is_none_or(|place| sources >> place & 1 == 1)
            }
            _ => true,
        };
        fields.iter().copied().filter(used)
    }

    /// Writes the form.
    pub(super) fn write(self, out: &mut BitWriter) {
        match self {
            Form::Compute { op, sources } => {
                out.put(0, 3);
                out.put(op as u64, 4);
                out.put(sources.into(), 3);
            }
            Form::Read { to } => {
                out.put(1, 3);
                write_link(to, out);
            }
            Form::Write { from } => {
                out.put(2, 3);
                write_link(from, out);
            }
            Form::Route { xbar } => {
                out.put(3, 3);
                out.number(xbar.into(), INDEX_ORDER);
            }
            Form::Load => out.put(4, 3),
            Form::Store => out.put(5, 3),
        }
    }

    /// Reads what [`Self::write`] wrote.
    pub(super) fn read(reader: &mut BitReader<'_>) -> Result<Self, EncodingError> {
        let kind = reader.get(3, "form")?;
        Ok(match kind {
            0 => {
                let number = reader.get(4, "operation")?;
                if number >= OPERATIONS {
                    return Err(reader.unknown("operation", number));
                }
                let op = Op::ALL[number as usize];
                let sources = reader.get(3, "sources")? as u8;
                Form::Compute { op, sources }
            }
            1 => Form::Read {
                to: read_link(reader)?,
            },
            2 => Form::Write {
                from: read_link(reader)?,
            },
            3 => Form::Route {
                xbar: reader.short(INDEX_ORDER, "crossbar")?,
            },
            4 => Form::Load,
            5 => Form::Store,
            _ => return Err(reader.unknown("form of kind", kind)),
        })
    }

    /// Puts an entry's operation together.
    pub(super) fn rebuild(
        self,
        numbers: &Numbers,
        reader: &BitReader<'_>,
    ) -> Result<StreamOp, EncodingError> {
        // A slot, prime, port or bank has 16 bits.
        let short = |field: Field| {
            let value = numbers[field as usize];
            let unknown = |_| reader.unknown("slot, prime, port or bank", value.into());
            u16::try_from(value).map_err(unknown)
        };
        Ok(match self {
            Form::Compute { op, sources } => {
                let mut src = [NO_SLOT; 3];
                for (bit, (slot, field)) in src.iter_mut().zip(SOURCES).enumerate() {
                    if sources >> bit & 1 == 1 {
                        *slot = short(field)?;
                    }
                }
                StreamOp::Compute {
                    op,
                    modulus: short(Field::Modulus)?,
                    dst: short(Field::Destination)?,
                    src,
                    imm: numbers[Field::Immediate as usize],
                }
            }
            Form::Read { to } => StreamOp::Read {
                slot: short(Field::Slot)?,
                to,
            },
            Form::Write { from } => StreamOp::Write {
                slot: short(Field::Slot)?,
                from,
            },
            Form::Route { .. } => StreamOp::Route {
                from: short(Field::From)?,
            },
            Form::Load => StreamOp::Load {
                address: numbers[Field::Address as usize],
                bank: short(Field::Bank)?,
            },
            Form::Store => StreamOp::Store {
                address: numbers[Field::Address as usize],
                bank: short(Field::Bank)?,
            },
        })
    }
}

/// The numbers of an entry.
pub(super) fn numbers(wait: u32, op: &StreamOp) -> Numbers {
    let mut numbers = [0; FIELDS];
    let mut set = |field: Field, value: u32| numbers[field as usize] = value;
    set(Field::Wait, wait);
    match *op {
        StreamOp::Compute {
            modulus,
            dst,
            src,
            imm,
            ..
        } => {
            set(Field::Modulus, modulus.into());
            set(Field::Immediate, imm);
            set(Field::Destination, dst.into());
            for (field, slot) in SOURCES.into_iter().zip(src) {
                set(field, slot.into());
            }
        }
        StreamOp::Read { slot, .. } | StreamOp::Write { slot, .. } => {
            set(Field::Slot, slot.into());
        }
        StreamOp::Route { from } => set(Field::From, from.into()),
        StreamOp::Load { address, bank } | StreamOp::Store { address, bank } => {
            set(Field::Address, address);
            set(Field::Bank, bank.into());
        }
    }
    numbers
}

/// Writes a link.
pub(super) fn write_link(link: Link, out: &mut BitWriter) {
    let (kind, index) = match link {
        Link::Xbar(index) => (0, index),
        Link::Channel(index) => (1, index),
    };
    out.put(kind, 1);
    out.number(index.into(), INDEX_ORDER);
}

/// Reads what [`write_link`] wrote.
pub(super) fn read_link(reader: &mut BitReader<'_>) -> Result<Link, EncodingError> {
    let kind = reader.get(1, "link")?;
    let index = reader.short(INDEX_ORDER, "link")?;
    Ok(if kind == 0 {
        Link::Xbar(index)
    } else {
        Link::Channel(index)
    })
}

/// Writes a component.
pub(super) fn write_component(component: Component, out: &mut BitWriter) {
    let (kind, first, second) = match component {
        Component::Unit { cluster, unit } => (0, cluster, Some(unit)),
        Component::RegFile { cluster } => (1, cluster, None),
        Component::XbarPort { xbar, port } => (2, xbar, Some(port)),
        Component::Bank { bank } => (3, bank, None),
        Component::Channel { channel } => (4, channel, None),
    };
    out.put(kind, 3);
    out.number(first.into(), INDEX_ORDER);
    if let Some(second) = second {
        out.number(second.into(), INDEX_ORDER);
    }
}

/// Reads what [`write_component`] wrote.
pub(super) fn read_component(reader: &mut BitReader<'_>) -> Result<Component, EncodingError> {
    let kind = reader.get(3, "component")?;
    let mut index = || reader.short(INDEX_ORDER, "component");
    Ok(match kind {
        0 => Component::Unit {
            cluster: index()?,
            unit: index()?,
        },
        1 => Component::RegFile { cluster: index()? },
        2 => Component::XbarPort {
            xbar: index()?,
            port: index()?,
        },
        3 => Component::Bank { bank: index()? },
        4 => Component::Channel { channel: index()? },
        _ => return Err(reader.unknown("kind of component", kind)),
    })
}
