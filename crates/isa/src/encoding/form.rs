//! Forms: what entries of a stream can have in common, and what they leave open.

use crate::encoding::EncodingError;
use crate::encoding::bits::{BitReader, BitWriter, index_width, value_width};
use crate::op::Op;
use crate::schedule::{Link, NO_SLOT, StreamOp};

/// What an entry does, but for slots, primes, immediates and addresses.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
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
    Route,
    Load,
    Store,
}

/// A number that a form leaves open. Each stream has a width for each.
#[derive(Debug, Clone, Copy)]
pub(super) enum Field {
    Modulus,
    Destination,
    Source,
    Slot,
    Port,
    Address,
    Bank,
}

/// Number of [`Field`]s.
pub(super) const FIELDS: usize = 7;

const OPERATIONS: u64 = Op::ALL.len() as u64;

impl Form {
    /// The form of an entry, and its immediate if it has one.
    pub(super) fn of(op: &StreamOp) -> (Self, Option<u32>) {
        match *op {
            StreamOp::Compute { op, src, imm, .. } => {
                let used = |&(_, slot): &(usize, u16)| slot != NO_SLOT;
                let used = src.into_iter().enumerate().filter(used);
                let sources = used.map(|(field, _)| 1 << field).sum();
                (Form::Compute { op, sources }, Some(imm))
            }
            StreamOp::Read { to, .. } => (Form::Read { to }, None),
            StreamOp::Write { from, .. } => (Form::Write { from }, None),
            StreamOp::Route { .. } => (Form::Route, None),
            StreamOp::Load { .. } => (Form::Load, None),
            StreamOp::Store { .. } => (Form::Store, None),
        }
    }

    /// Writes the form with its immediates.
    pub(super) fn write(self, immediates: &[u32], out: &mut BitWriter) {
        match self {
            Form::Compute { op, sources } => {
                out.put(0, 3);
                out.put(op as u64, 4);
                out.put(sources.into(), 3);
                out.put(immediates.len() as u64, 32);
                let width = immediates.iter().copied().map(value_width).max();
                let width = width.unwrap_or(0);
                out.put(width.into(), 6);
                for &value in immediates {
                    out.put(value.into(), width);
                }
            }
            Form::Read { to } => {
                out.put(1, 3);
                write_link(to, out);
            }
            Form::Write { from } => {
                out.put(2, 3);
                write_link(from, out);
            }
            Form::Route => out.put(3, 3),
            Form::Load => out.put(4, 3),
            Form::Store => out.put(5, 3),
        }
    }

    /// Reads what [`Self::write`] wrote, in a stream of so many entries.
    pub(super) fn read(
        reader: &mut BitReader<'_>,
        entries: u64,
    ) -> Result<(Self, Vec<u32>), EncodingError> {
        let kind = reader.get(3, "form")?;
        let form = match kind {
            0 => {
                let number = reader.get(4, "operation")?;
                if number >= OPERATIONS {
                    return Err(reader.unknown("operation", number));
                }
                let op = Op::ALL[number as usize];
                let sources = reader.get(3, "sources")? as u8;
                let count = reader.get(32, "number of immediates")?;
                reader.at_most("immediates", count, entries)?;
                let width = reader.width()?;
                // They differ from each other.
                reader.at_most("immediates", count, 1 << width)?;
                reader.room(count * u64::from(width), "immediates")?;
                let mut value = || Ok(reader.get(width, "immediate")? as u32);
                let values = (0..count).map(|_| value()).collect::<Result<_, _>>()?;
                return Ok((Form::Compute { op, sources }, values));
            }
            1 => Form::Read {
                to: read_link(reader)?,
            },
            2 => Form::Write {
                from: read_link(reader)?,
            },
            3 => Form::Route,
            4 => Form::Load,
            5 => Form::Store,
            _ => return Err(reader.unknown("form of kind", kind)),
        };
        Ok((form, Vec::new()))
    }
}

fn write_link(link: Link, out: &mut BitWriter) {
    let (kind, index) = match link {
        Link::Xbar(index) => (0, index),
        Link::Channel(index) => (1, index),
    };
    out.put(kind, 1);
    out.put(index.into(), 16);
}

fn read_link(reader: &mut BitReader<'_>) -> Result<Link, EncodingError> {
    let kind = reader.get(1, "link")?;
    let index = reader.get(16, "link")? as u16;
    Ok(if kind == 0 {
        Link::Xbar(index)
    } else {
        Link::Channel(index)
    })
}

/// The open fields of an entry, in the order in which they are written.
pub(super) fn fields(op: &StreamOp) -> impl Iterator<Item = (Field, u32)> + use<> {
    let mut found = [None; 5];
    match *op {
        StreamOp::Compute {
            modulus, dst, src, ..
        } => {
            found[0] = Some((Field::Modulus, u32::from(modulus)));
            found[1] = Some((Field::Destination, u32::from(dst)));
            for (place, slot) in found[2..].iter_mut().zip(src) {
                *place = (slot != NO_SLOT).then_some((Field::Source, u32::from(slot)));
            }
        }
        StreamOp::Read { slot, .. } | StreamOp::Write { slot, .. } => {
            found[0] = Some((Field::Slot, u32::from(slot)));
        }
        StreamOp::Route { from } => found[0] = Some((Field::Port, u32::from(from))),
        StreamOp::Load { address, bank } | StreamOp::Store { address, bank } => {
            found[0] = Some((Field::Address, address));
            found[1] = Some((Field::Bank, u32::from(bank)));
        }
    }
    found.into_iter().flatten()
}

/// Reads the open fields of a form and puts the entry together.
pub(super) fn rebuild(
    form: Form,
    immediates: &[u32],
    widths: &[u32; FIELDS],
    reader: &mut BitReader<'_>,
) -> Result<StreamOp, EncodingError> {
    let field = |field: Field, reader: &mut BitReader<'_>| {
        let value = reader.get(widths[field as usize], "field")?;
        short(value, reader)
    };
    let address = |reader: &mut BitReader<'_>| {
        let value = reader.get(widths[Field::Address as usize], "address")?;
        Ok::<u32, EncodingError>(value as u32)
    };
    Ok(match form {
        Form::Compute { op, sources } => {
            let modulus = field(Field::Modulus, reader)?;
            let dst = field(Field::Destination, reader)?;
            let mut src = [NO_SLOT; 3];
            for (bit, slot) in src.iter_mut().enumerate() {
                if sources >> bit & 1 == 1 {
                    *slot = field(Field::Source, reader)?;
                }
            }
            let number = reader.get(index_width(immediates.len()), "immediate")?;
            let imm = *immediates
                .get(number as usize)
                .ok_or_else(|| reader.unknown("immediate", number))?;
            StreamOp::Compute {
                op,
                modulus,
                dst,
                src,
                imm,
            }
        }
        Form::Read { to } => StreamOp::Read {
            slot: field(Field::Slot, reader)?,
            to,
        },
        Form::Write { from } => StreamOp::Write {
            slot: field(Field::Slot, reader)?,
            from,
        },
        Form::Route => StreamOp::Route {
            from: field(Field::Port, reader)?,
        },
        Form::Load => StreamOp::Load {
            address: address(reader)?,
            bank: field(Field::Bank, reader)?,
        },
        Form::Store => StreamOp::Store {
            address: address(reader)?,
            bank: field(Field::Bank, reader)?,
        },
    })
}

/// A slot, prime, port or bank has 16 bits.
fn short(value: u64, reader: &BitReader<'_>) -> Result<u16, EncodingError> {
    u16::try_from(value).map_err(|_| reader.unknown("slot, prime, port or bank", value))
}
