//! Storage of one limb.

use std::fmt;
use std::marker::PhantomData;
use std::ops::{Deref, DerefMut};

use zeroize::Zeroize;

use crate::arena::Lines;
use crate::word::Word;

/// N words, 64-byte aligned, of fixed length.
///
/// Dereferences to a slice. Limbs that hold secrets are wiped by their owner
/// ([`Zeroize`]); dropping alone does not wipe. Limbs of 64 KiB to 1 MiB take
/// memory that earlier limbs left, in huge pages where the system has them.
pub struct LimbBuf<W: Word> {
    lines: Lines,
    len: usize,
    word: PhantomData<W>,
}

impl<W: Word> LimbBuf<W> {
    /// `len` zero words.
    #[must_use]
    pub fn zeroed(len: usize) -> Self {
        Self::over(Lines::zeroed(len * size_of::<W>()), len)
    }

    /// `len` words of any value: for results that are written in full. Words
    /// of a limb that was dropped may show through.
    #[must_use]
    pub fn unspecified(len: usize) -> Self {
        Self::over(Lines::unspecified(len * size_of::<W>()), len)
    }

    fn over(lines: Lines, len: usize) -> Self {
        Self {
            lines,
            len,
            word: PhantomData,
        }
    }

    /// A copy of `words`.
    #[must_use]
    pub fn from_slice(words: &[W]) -> Self {
        let mut buf = Self::unspecified(words.len());
        buf.copy_from_slice(words);
        buf
    }

    /// Bytes that the words take.
    #[must_use]
    pub fn size_bytes(&self) -> usize {
        self.len * size_of::<W>()
    }
}

impl<W: Word> Deref for LimbBuf<W> {
    type Target = [W];

    #[inline]
    fn deref(&self) -> &[W] {
        // SAFETY: `lines` holds at least `len * size_of::<W>()` initialised
        // bytes, aligned to 64; `W` is u32 or u64 (the trait is sealed), for
        // which every bit pattern is valid; the borrow of `self` covers them.
        unsafe { std::slice::from_raw_parts(self.lines.as_ptr().cast::<W>(), self.len) }
    }
}

impl<W: Word> DerefMut for LimbBuf<W> {
    #[inline]
    fn deref_mut(&mut self) -> &mut [W] {
        // SAFETY: as in `deref`; the borrow is exclusive.
        unsafe { std::slice::from_raw_parts_mut(self.lines.as_ptr().cast::<W>(), self.len) }
    }
}

impl<W: Word> Clone for LimbBuf<W> {
    fn clone(&self) -> Self {
        Self::from_slice(self)
    }
}

impl<W: Word> Default for LimbBuf<W> {
    fn default() -> Self {
        Self::zeroed(0)
    }
}

impl<W: Word> PartialEq for LimbBuf<W> {
    fn eq(&self, other: &Self) -> bool {
        **self == **other
    }
}

impl<W: Word> Eq for LimbBuf<W> {}

impl<W: Word> FromIterator<W> for LimbBuf<W> {
    fn from_iter<I: IntoIterator<Item = W>>(words: I) -> Self {
        let words: Vec<W> = words.into_iter().collect();
        Self::from_slice(&words)
    }
}

/// Shows the length only: limbs are long, and some are secret.
impl<W: Word> fmt::Debug for LimbBuf<W> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "LimbBuf<u{}>[{}]", W::BITS, self.len)
    }
}

impl<W: Word> Zeroize for LimbBuf<W> {
    fn zeroize(&mut self) {
        self.lines.wipe();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn round_trip<W: Word>() {
        for len in [0usize, 1, 7, 16, 33] {
            let words: Vec<W> = (0..len as u64).map(W::from_u64).collect();
            let mut buf = LimbBuf::from_slice(&words);
            assert_eq!(&buf[..], &words[..]);
            assert_eq!(buf.as_ptr() as usize % 64, 0);
            assert_eq!(buf, words.iter().copied().collect());
            buf.zeroize();
            assert!(buf.iter().all(|w| w.to_u64() == 0));
            assert_eq!(buf.len(), len);
        }
    }

    #[test]
    fn words_round_trip_aligned() {
        round_trip::<u32>();
        round_trip::<u64>();
    }
}
