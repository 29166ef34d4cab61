//! Packed entries, one after the other.

use super::{CHANNEL, FOLLOWS, KIND, LOAD, OPERANDS, OTHER, READ, ROUTE, WRITE};
use crate::op::Op;
use crate::schedule::{Entry, Link, NO_SLOT, StreamOp};

/// Reads packed entries one after the other.
#[derive(Debug, Clone)]
pub struct EntryIter<'a> {
    pub(super) bytes: &'a [u8],
    pub(super) left: usize,
}

impl Iterator for EntryIter<'_> {
    type Item = Entry;

    #[inline]
    fn next(&mut self) -> Option<Entry> {
        self.left = self.left.checked_sub(1)?;
        let tag = self.byte();
        let wait = self.number();
        let op = if tag & OTHER == 0 {
            let op = Op::ALL[usize::from(tag & ((1 << OPERANDS) - 1))];
            let (modulus, dst) = (self.short(), self.short());
            let mut src = [NO_SLOT; 3];
            for (k, slot) in src.iter_mut().enumerate() {
                if tag >> (OPERANDS as usize + k) & 1 == 1 {
                    *slot = self.short();
                }
            }
            let imm = self.number();
            StreamOp::Compute {
                op,
                modulus,
                dst,
                src,
                imm,
            }
        } else {
            match (tag & !OTHER) >> KIND {
                READ => StreamOp::Read {
                    to: self.link(tag),
                    slot: self.short(),
                },
                WRITE => StreamOp::Write {
                    from: self.link(tag),
                    slot: self.short(),
                },
                ROUTE => StreamOp::Route { from: self.short() },
                LOAD => StreamOp::Load {
                    address: self.number(),
                    bank: self.short(),
                },
                _ => StreamOp::Store {
                    address: self.number(),
                    bank: self.short(),
                },
            }
        };
        Some(Entry { wait, op })
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        (self.left, Some(self.left))
    }
}

impl ExactSizeIterator for EntryIter<'_> {}

impl EntryIter<'_> {
    #[inline]
    fn byte(&mut self) -> u8 {
        let (&byte, rest) = self.bytes.split_first().expect("entries are whole");
        self.bytes = rest;
        byte
    }

    #[inline]
    fn number(&mut self) -> u32 {
        let first = self.byte();
        if first < 0x80 {
            return first.into();
        }
        let mut value = u32::from(first & 0x7f);
        let mut shift = 7;
        loop {
            let byte = self.byte();
            value |= u32::from(byte & 0x7f) << shift;
            if byte & 0x80 == 0 {
                return value;
            }
            shift += 7;
        }
    }

    fn short(&mut self) -> u16 {
        self.number() as u16
    }

    fn link(&mut self, tag: u8) -> Link {
        let index = match tag & FOLLOWS {
            FOLLOWS => self.short(),
            index => index.into(),
        };
        match tag & CHANNEL {
            0 => Link::Xbar(index),
            _ => Link::Channel(index),
        }
    }
}
