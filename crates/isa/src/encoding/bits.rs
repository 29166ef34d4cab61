//! Numbers in bits, most significant first.

use crate::encoding::EncodingError;

/// Bits of a value.
pub(super) fn value_width(value: u32) -> u32 {
    u32::BITS - value.leading_zeros()
}

/// Bits that [`BitWriter::number`] takes.
pub(super) fn number_width(value: u32, order: u32) -> u32 {
    let high = (u64::from(value) >> order) + 1;
    2 * (u64::BITS - high.leading_zeros()) - 1 + order
}

/// Appends numbers.
#[derive(Default)]
pub(super) struct BitWriter {
    bytes: Vec<u8>,
    /// Bits that do not fill a byte yet, at the low end.
    pending: u128,
    count: u32,
}

impl BitWriter {
    /// Appends the low `width` bits of a value, at most 64, which must hold it.
    pub(super) fn put(&mut self, value: u64, width: u32) {
        debug_assert!(
            width == 64 || value >> width == 0,
            "{value} in {width} bits"
        );
        self.pending = self.pending << width | u128::from(value);
        self.count += width;
        while self.count >= 8 {
            self.count -= 8;
            self.bytes.push((self.pending >> self.count) as u8);
        }
        self.pending &= (1 << self.count) - 1;
    }

    /// Appends a number in the exponential Golomb code of an order k, which suits
    /// numbers around 2^k: with u = value / 2^k + 1, the length of u in unary, u, the rest.
    pub(super) fn number(&mut self, value: u32, order: u32) {
        let high = (u64::from(value) >> order) + 1;
        let length = u64::BITS - high.leading_zeros();
        self.put(0, length - 1);
        self.put(high, length);
        self.put(u64::from(value) & ((1 << order) - 1), order);
    }

    /// Fills the byte with zeros.
    pub(super) fn align(&mut self) {
        if self.count > 0 {
            self.put(0, 8 - self.count);
        }
    }

    /// The bytes, the last one filled with zeros.
    pub(super) fn finish(mut self) -> Vec<u8> {
        self.align();
        self.bytes
    }
}

/// Reads numbers.
pub(super) struct BitReader<'a> {
    bytes: &'a [u8],
    /// The next bit.
    at: u64,
    /// The stream being read, for errors.
    pub(super) stream: usize,
}

impl<'a> BitReader<'a> {
    pub(super) fn new(bytes: &'a [u8]) -> Self {
        Self {
            bytes,
            at: 0,
            stream: 0,
        }
    }

    /// The next `width` bits, at most 32.
    pub(super) fn get(&mut self, width: u32, what: &'static str) -> Result<u64, EncodingError> {
        self.room(u64::from(width), what)?;
        let mut value = 0;
        let first = (self.at / 8) as usize;
        let skipped = (self.at % 8) as u32;
        let bytes = (skipped + width).div_ceil(8) as usize;
        for &byte in &self.bytes[first..first + bytes] {
            value = value << 8 | u64::from(byte);
        }
        let unused = bytes as u32 * 8 - skipped - width;
        self.at += u64::from(width);
        Ok(value >> unused & ((1 << width) - 1))
    }

    /// What [`BitWriter::number`] wrote.
    pub(super) fn number(&mut self, order: u32, what: &'static str) -> Result<u32, EncodingError> {
        let mut zeros = 0;
        while self.get(1, what)? == 0 {
            zeros += 1;
            if zeros > 32 {
                return Err(self.unknown(what, u64::MAX));
            }
        }
        let high = 1 << zeros | self.get(zeros, what)?;
        let value = (u128::from(high) - 1) << order | u128::from(self.get(order, what)?);
        u32::try_from(value).map_err(|_| self.unknown(what, value as u64))
    }

    /// What [`BitWriter::number`] wrote, of 16 bits.
    pub(super) fn short(&mut self, order: u32, what: &'static str) -> Result<u16, EncodingError> {
        let value = self.number(order, what)?;
        u16::try_from(value).map_err(|_| self.unknown(what, value.into()))
    }

    /// An error unless so many bits are left.
    pub(super) fn room(&self, bits: u64, what: &'static str) -> Result<(), EncodingError> {
        if bits <= self.bytes.len() as u64 * 8 - self.at {
            return Ok(());
        }
        let stream = self.stream;
        Err(EncodingError::Truncated { stream, what })
    }

    /// An error if there are more than `limit`.
    pub(super) fn at_most(
        &self,
        what: &'static str,
        count: u64,
        limit: u64,
    ) -> Result<(), EncodingError> {
        if count <= limit {
            return Ok(());
        }
        Err(EncodingError::TooMany {
            stream: self.stream,
            what,
            count,
            limit,
        })
    }

    pub(super) fn unknown(&self, what: &'static str, number: u64) -> EncodingError {
        let stream = self.stream;
        EncodingError::Unknown {
            stream,
            what,
            number,
        }
    }

    /// Skips to the next byte, over zeros.
    pub(super) fn align(&mut self) -> Result<(), EncodingError> {
        let width = self.at.next_multiple_of(8) - self.at;
        match self.get(width as u32, "padding")? {
            0 => Ok(()),
            bits => Err(self.unknown("padding", bits)),
        }
    }

    /// Whole bytes that are left.
    pub(super) fn bytes_left(&self) -> usize {
        self.bytes.len() - (self.at / 8) as usize
    }
}
