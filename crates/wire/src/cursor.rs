//! Reading and writing the fields of a body.

use cyclotron_ring::{LimbBuf, Word};

use crate::error::WireError;

/// Takes fields off the front of a body. Nothing is allocated before the bytes
/// that fill it are known to be there.
#[derive(Debug)]
pub(crate) struct Reader<'a> {
    rest: &'a [u8],
}

impl<'a> Reader<'a> {
    pub(crate) fn new(body: &'a [u8]) -> Self {
        Reader { rest: body }
    }

    /// The next `count` bytes.
    pub(crate) fn take(&mut self, what: &'static str, count: u64) -> Result<&'a [u8], WireError> {
        let has = self.rest.len() as u64;
        if count > has {
            return Err(WireError::Truncated {
                what,
                needs: count,
                has,
            });
        }
        let (taken, rest) = self.rest.split_at(count as usize);
        self.rest = rest;
        Ok(taken)
    }

    pub(crate) fn array<const M: usize>(
        &mut self,
        what: &'static str,
    ) -> Result<[u8; M], WireError> {
        let mut out = [0; M];
        out.copy_from_slice(self.take(what, M as u64)?);
        Ok(out)
    }

    pub(crate) fn u8(&mut self, what: &'static str) -> Result<u8, WireError> {
        Ok(self.array::<1>(what)?[0])
    }

    pub(crate) fn u16(&mut self, what: &'static str) -> Result<u16, WireError> {
        Ok(u16::from_le_bytes(self.array(what)?))
    }

    pub(crate) fn u32(&mut self, what: &'static str) -> Result<u32, WireError> {
        Ok(u32::from_le_bytes(self.array(what)?))
    }

    pub(crate) fn u64(&mut self, what: &'static str) -> Result<u64, WireError> {
        Ok(u64::from_le_bytes(self.array(what)?))
    }

    /// A finite number.
    pub(crate) fn f64(&mut self, what: &'static str) -> Result<f64, WireError> {
        let value = f64::from_le_bytes(self.array(what)?);
        if value.is_finite() {
            Ok(value)
        } else {
            Err(WireError::invalid(what, "not a finite number"))
        }
    }

    /// A string behind its length.
    pub(crate) fn string(&mut self, what: &'static str) -> Result<&'a str, WireError> {
        let length = self.u32(what)?;
        let bytes = self.take(what, u64::from(length))?;
        std::str::from_utf8(bytes).map_err(|_| WireError::invalid(what, "not UTF-8"))
    }

    /// A count of items of at least `item_bytes` bytes each, all of which must
    /// still fit into the body.
    pub(crate) fn count(
        &mut self,
        what: &'static str,
        item_bytes: u64,
    ) -> Result<usize, WireError> {
        let count = self.u32(what)?;
        let needs = u64::from(count) * item_bytes;
        if needs > self.rest.len() as u64 {
            return Err(WireError::Truncated {
                what,
                needs,
                has: self.rest.len() as u64,
            });
        }
        Ok(count as usize)
    }

    /// A limb of `n` words, each below `modulus`.
    pub(crate) fn limb<W: Word>(
        &mut self,
        name: impl Fn() -> String,
        n: usize,
        modulus: u64,
    ) -> Result<LimbBuf<W>, WireError> {
        let width = W::BITS as usize / 8;
        let bytes = self.take("a limb", (n * width) as u64)?;
        let mut limb = LimbBuf::zeroed(n);
        for (index, (word, chunk)) in limb.iter_mut().zip(bytes.chunks_exact(width)).enumerate() {
            let mut wide = [0; 8];
            wide[..width].copy_from_slice(chunk);
            let value = u64::from_le_bytes(wide);
            if value >= modulus {
                return Err(WireError::NonCanonical {
                    what: name(),
                    index,
                    modulus,
                });
            }
            *word = W::from_u64(value);
        }
        Ok(limb)
    }

    /// Asserts that exactly `bytes` are left, before they are read.
    pub(crate) fn expect_rest(&self, what: &'static str, bytes: u64) -> Result<(), WireError> {
        let left = self.rest.len() as u64;
        if left == bytes {
            return Ok(());
        }
        Err(WireError::LengthMismatch {
            what,
            left,
            implied: bytes,
        })
    }

    /// Asserts that the body ends here.
    pub(crate) fn finish(self) -> Result<(), WireError> {
        match self.rest.len() as u64 {
            0 => Ok(()),
            extra => Err(WireError::TrailingBytes { extra }),
        }
    }
}

/// Appends fields to a body.
pub(crate) trait Put {
    fn put_u16(&mut self, value: u16);
    fn put_u32(&mut self, value: u32);
    fn put_u64(&mut self, value: u64);
    fn put_f64(&mut self, value: f64);
    fn put_string(&mut self, text: &str);
    fn put_limb<W: Word>(&mut self, limb: &[W]);
}

impl Put for Vec<u8> {
    fn put_u16(&mut self, value: u16) {
        self.extend_from_slice(&value.to_le_bytes());
    }

    fn put_u32(&mut self, value: u32) {
        self.extend_from_slice(&value.to_le_bytes());
    }

    fn put_u64(&mut self, value: u64) {
        self.extend_from_slice(&value.to_le_bytes());
    }

    fn put_f64(&mut self, value: f64) {
        self.extend_from_slice(&value.to_le_bytes());
    }

    fn put_string(&mut self, text: &str) {
        let length = u32::try_from(text.len()).expect("names and texts are below 4 GiB");
        self.put_u32(length);
        self.extend_from_slice(text.as_bytes());
    }

    fn put_limb<W: Word>(&mut self, limb: &[W]) {
        let width = W::BITS as usize / 8;
        self.reserve(limb.len() * width);
        for word in limb {
            self.extend_from_slice(&word.to_u64().to_le_bytes()[..width]);
        }
    }
}
