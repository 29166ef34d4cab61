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
use chacha20::cipher::{KeyIvInit, StreamCipher};
use zeroize::{Zeroize, ZeroizeOnDrop};

use crate::error::RingError;

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

const BUFFER_BYTES: usize = 1024;

/// A stream of pseudorandom bytes. Wiped when dropped.
pub struct Prf {
    cipher: ChaCha20,
    buffer: [u8; BUFFER_BYTES],
    /// Bytes of the buffer that were given out.
    used: usize,
}

impl Prf {
    fn from_key(key: &Seed) -> Self {
        Self {
            cipher: ChaCha20::new(&key.0.into(), &[0; 12].into()),
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
                    Self::key_stream(&mut self.cipher, direct);
                    dest = rest;
                    continue;
                }
                Self::key_stream(&mut self.cipher, &mut self.buffer);
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

    fn key_stream(cipher: &mut ChaCha20, dest: &mut [u8]) {
        dest.fill(0);
        cipher.apply_keystream(dest);
    }
}

impl Drop for Prf {
    fn drop(&mut self) {
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

    /// RFC 8439, section 2.3.2: the block function at counter 1.
    #[test]
    fn key_stream_matches_rfc_8439() {
        let key: [u8; 32] = std::array::from_fn(|i| i as u8);
        let nonce = [0, 0, 0, 9, 0, 0, 0, 0x4a, 0, 0, 0, 0];
        let mut cipher = ChaCha20::new(&key.into(), &nonce.into());
        let mut blocks = [0xffu8; 128];
        Prf::key_stream(&mut cipher, &mut blocks);
        let expected = [
            0x10, 0xf1, 0xe7, 0xe4, 0xd1, 0x3b, 0x59, 0x15, 0x50, 0x0f, 0xdd, 0x1f, 0xa3, 0x20,
            0x71, 0xc4, 0xc7, 0xd1, 0xf4, 0xc7, 0x33, 0xc0, 0x68, 0x03, 0x04, 0x22, 0xaa, 0x9a,
            0xc3, 0xd4, 0x6c, 0x4e, 0xd2, 0x82, 0x64, 0x46, 0x07, 0x9f, 0xaa, 0x09, 0x14, 0xc2,
            0xd7, 0x05, 0xd9, 0x8b, 0x02, 0xa2, 0xb5, 0x12, 0x9c, 0xd1, 0xde, 0x16, 0x4e, 0xb9,
            0xcb, 0xd0, 0x83, 0xe8, 0xa2, 0x50, 0x3c, 0x4e,
        ];
        assert_eq!(blocks[64..], expected);
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
