//! Randomness as a function of a seed, a purpose and numbers.
//!
//! Every random polynomial comes from a stream of its own: BLAKE3 keyed with
//! the seed hashes the purpose and the numbers (key, digit, limb, ...) to a
//! ChaCha20 key. So results depend neither on the order in which polynomials
//! are made nor on the number of threads.
//!
//! The hashed message is injective: length of the purpose, the purpose, count
//! of numbers, the numbers, all integers as 8 bytes, little-endian. The nonce
//! is zero; a key is used for one stream only. A stream has at most 256 GiB.

use std::fmt;

use chacha20::ChaCha20;
use chacha20::cipher::{KeyIvInit, StreamCipher, StreamCipherSeek};
use zeroize::{Zeroize, ZeroizeOnDrop};

use crate::arch::key_stream;
use crate::error::RingError;
use crate::simd::Simd;

/// A secret or public seed of 256 bits. Wiped when dropped; never printed.
#[derive(Clone, PartialEq, Eq, Zeroize, ZeroizeOnDrop)]
pub struct Seed([u8; 32]);

impl Seed {
    /// The seed with these bytes.
    #[must_use]
    pub fn from_bytes(bytes: [u8; 32]) -> Self {
        Self(bytes)
    }

    /// A seed from the operating system.
    ///
    /// # Errors
    /// [`RingError::NoRandomness`] if the system gives none.
    pub fn random() -> Result<Self, RingError> {
        let mut seed = Self([0; 32]);
        getrandom::fill(&mut seed.0).map_err(|error| RingError::NoRandomness {
            why: error.to_string(),
        })?;
        Ok(seed)
    }

    /// A reproducible seed: `number` as little-endian bytes, then zeros. It has
    /// no more entropy than its number.
    #[must_use]
    pub fn for_test(number: u64) -> Self {
        let mut bytes = [0; 32];
        bytes[..8].copy_from_slice(&number.to_le_bytes());
        Self(bytes)
    }

    /// The bytes, for storage.
    #[must_use]
    pub fn as_bytes(&self) -> &[u8; 32] {
        &self.0
    }

    /// The seed for a purpose and numbers, independent of all others.
    #[must_use]
    pub fn derive(&self, purpose: &str, ids: &[u64]) -> Seed {
        let mut hasher = blake3::Hasher::new_keyed(&self.0);
        hasher.update(&(purpose.len() as u64).to_le_bytes());
        hasher.update(purpose.as_bytes());
        hasher.update(&(ids.len() as u64).to_le_bytes());
        for id in ids {
            hasher.update(&id.to_le_bytes());
        }
        Seed(hasher.finalize().into())
    }
}

impl fmt::Debug for Seed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Seed(redacted)")
    }
}

/// The stream of `seed` for a purpose and numbers.
///
/// # Examples
/// ```
/// use cyclotron_ring::prf::{Seed, stream};
///
/// let seed = Seed::for_test(1);
/// let first = stream(&seed, "error", &[0, 3]).next_u64();
/// assert_eq!(first, stream(&seed, "error", &[0, 3]).next_u64());
/// assert_ne!(first, stream(&seed, "error", &[0, 4]).next_u64());
/// ```
#[must_use]
pub fn stream(seed: &Seed, purpose: &str, ids: &[u64]) -> Prf {
    Prf::from_key(&seed.derive(purpose, ids))
}

/// Bytes that are made at a time: 16 blocks of 64.
const BUFFER_BYTES: usize = 1024;

/// A stream of pseudorandom bytes. Wiped when dropped.
pub struct Prf {
    blocks: Blocks,
    buffer: [u8; BUFFER_BYTES],
    /// Bytes of the buffer that were given out.
    used: usize,
}

impl Prf {
    fn from_key(key: &Seed) -> Self {
        // Which instructions make the bytes does not change them.
        Self::with_simd(key, Simd::detect().unwrap_or(Simd::Scalar))
    }

    fn with_simd(key: &Seed, simd: Simd) -> Self {
        let mut words = [0; 8];
        for (word, bytes) in words.iter_mut().zip(key.0.as_chunks().0) {
            *word = u32::from_le_bytes(*bytes);
        }
        Self {
            blocks: Blocks {
                key: words,
                counter: 0,
                simd,
            },
            buffer: [0; BUFFER_BYTES],
            used: BUFFER_BYTES,
        }
    }

    /// Writes the next bytes of the stream.
    ///
    /// # Panics
    /// After 256 GiB.
    pub fn fill(&mut self, mut dest: &mut [u8]) {
        while !dest.is_empty() {
            if self.used == BUFFER_BYTES {
                if dest.len() >= BUFFER_BYTES {
                    let whole = dest.len() - dest.len() % BUFFER_BYTES;
                    let (direct, rest) = dest.split_at_mut(whole);
                    self.blocks.write(direct);
                    dest = rest;
                    continue;
                }
                self.blocks.write(&mut self.buffer);
                self.used = 0;
            }
            let count = dest.len().min(BUFFER_BYTES - self.used);
            let (now, later) = dest.split_at_mut(count);
            now.copy_from_slice(&self.buffer[self.used..self.used + count]);
            self.used += count;
            dest = later;
        }
    }

    /// The next eight bytes as an integer, little-endian.
    #[inline]
    pub fn next_u64(&mut self) -> u64 {
        let mut bytes = [0; 8];
        self.fill(&mut bytes);
        u64::from_le_bytes(bytes)
    }

    /// A uniform integer in `[0, bound)`, by rejection.
    ///
    /// # Panics
    /// If `bound` is 0.
    pub fn below(&mut self, bound: u64) -> u64 {
        assert!(bound > 0, "no integer is below 0");
        let mask = u64::MAX >> (bound - 1).leading_zeros().min(63);
        loop {
            let candidate = self.next_u64() & mask;
            if candidate < bound {
                return candidate;
            }
        }
    }
}

/// The blocks of one ChaCha20 key.
struct Blocks {
    key: [u32; 8],
    /// The next block.
    counter: u64,
    simd: Simd,
}

impl Blocks {
    /// Writes a multiple of 16 blocks.
    fn write(&mut self, dest: &mut [u8]) {
        let end = self.counter + (dest.len() / 64) as u64;
        assert!(end < 1 << 32, "a stream has at most 256 GiB");
        let (batches, _) = dest.as_chunks_mut();
        if !key_stream(self.simd, &self.key, self.counter as u32, batches) {
            let mut key = [0; 32];
            for (bytes, word) in key.as_chunks_mut().0.iter_mut().zip(&self.key) {
                *bytes = word.to_le_bytes();
            }
            let mut cipher = ChaCha20::new(&key.into(), &[0; 12].into());
            key.zeroize();
            cipher.seek(64 * self.counter);
            dest.fill(0);
            cipher.apply_keystream(dest);
        }
        self.counter = end;
    }
}

impl Drop for Prf {
    fn drop(&mut self) {
        self.blocks.key.zeroize();
        self.buffer.zeroize();
    }
}

impl fmt::Debug for Prf {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Prf(redacted)")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Every way of making the bytes against the crate, over batches and the
    /// counters' carry into their upper half.
    #[test]
    fn key_streams_do_not_depend_on_the_path() {
        let key = Seed::for_test(77);
        let mut expected = vec![0; 9 * BUFFER_BYTES];
        for start in [0u64, 16, (1 << 16) - 32, (1 << 32) - 160] {
            let mut cipher = ChaCha20::new(&key.0.into(), &[0; 12].into());
            cipher.seek(64 * start);
            expected.fill(0);
            cipher.apply_keystream(&mut expected);
            for simd in Simd::available() {
                let mut prf = Prf::with_simd(&key, simd);
                prf.blocks.counter = start;
                let mut bytes = vec![0xff; expected.len()];
                let (first, rest) = bytes.split_at_mut(100);
                prf.fill(first);
                prf.fill(rest);
                assert_eq!(bytes, expected, "{simd}, from block {start}");
            }
        }
    }

    #[test]
    #[should_panic(expected = "at most 256 GiB")]
    fn streams_end() {
        let mut prf = Prf::from_key(&Seed::for_test(1));
        prf.blocks.counter = (1 << 32) - 32;
        prf.fill(&mut [0; BUFFER_BYTES + 1]);
    }

    /// RFC 8439, appendix A.1, vector 1: zero key, zero nonce, counter 0: what [`Prf`] starts with.
    #[test]
    fn stream_starts_at_counter_zero() {
        let mut prf = Prf::from_key(&Seed::from_bytes([0; 32]));
        let mut bytes = [0; 16];
        prf.fill(&mut bytes);
        assert_eq!(
            bytes,
            [
                0x76, 0xb8, 0xe0, 0xad, 0xa0, 0xf1, 0x3d, 0x90, 0x40, 0x5d, 0x6a, 0xe5, 0x53, 0x86,
                0xbd, 0x28
            ]
        );
    }

    #[test]
    fn bytes_do_not_depend_on_how_they_are_taken() {
        let seed = Seed::for_test(7);
        let mut whole = vec![0; 10_000];
        stream(&seed, "x", &[1]).fill(&mut whole);
        let mut parts = vec![0; 10_000];
        let mut prf = stream(&seed, "x", &[1]);
        let mut at = 0;
        for len in (1..).map(|i: usize| i * i % 3000) {
            let end = (at + len).min(parts.len());
            prf.fill(&mut parts[at..end]);
            at = end;
            if at == parts.len() {
                break;
            }
        }
        assert_eq!(whole, parts);
    }

    #[test]
    fn streams_differ_by_seed_purpose_and_numbers() {
        let (a, b) = (Seed::for_test(1), Seed::for_test(2));
        let firsts = [
            stream(&a, "p", &[]).next_u64(),
            stream(&b, "p", &[]).next_u64(),
            stream(&a, "q", &[]).next_u64(),
            stream(&a, "p", &[0]).next_u64(),
            stream(&a, "p", &[0, 0]).next_u64(),
            stream(&a, "p\0", &[]).next_u64(),
        ];
        for (i, x) in firsts.iter().enumerate() {
            assert!(!firsts[..i].contains(x), "stream {i} repeats another");
        }
    }

    /// The message that the module's documentation describes.
    #[test]
    fn derivation_is_pinned() {
        let seed = Seed::for_test(0x0123_4567_89ab_cdef);
        let derived = seed.derive("secret", &[1, u64::MAX]);
        let mut message = Vec::new();
        message.extend_from_slice(&6u64.to_le_bytes());
        message.extend_from_slice(b"secret");
        message.extend_from_slice(&2u64.to_le_bytes());
        message.extend_from_slice(&1u64.to_le_bytes());
        message.extend_from_slice(&u64::MAX.to_le_bytes());
        let expected = blake3::keyed_hash(seed.as_bytes(), &message);
        assert_eq!(derived.as_bytes(), expected.as_bytes());
    }

    #[test]
    fn debug_output_hides_secrets() {
        let seed = Seed::from_bytes([0xab; 32]);
        assert_eq!(format!("{seed:?}"), "Seed(redacted)");
        assert_eq!(format!("{:?}", stream(&seed, "x", &[])), "Prf(redacted)");
    }

    #[test]
    fn bounded_integers_are_uniform() {
        let mut prf = stream(&Seed::for_test(5), "below", &[]);
        let mut counts = [0u32; 5];
        for _ in 0..50_000 {
            counts[prf.below(5) as usize] += 1;
        }
        // Each count has mean 10,000 and standard deviation 90.
        assert!(
            counts.iter().all(|c| c.abs_diff(10_000) < 450),
            "{counts:?}"
        );
        assert_eq!(prf.below(1), 0);
        assert!(prf.below(u64::MAX) < u64::MAX);
    }
}
