//! The frame that every object travels in.
//!
//! # Layout
//! A header of 64 bytes, little-endian, then the body:
//!
//! | bytes | field |
//! | --- | --- |
//! | 0..4 | magic `89 43 59 43` |
//! | 4..6 | format version |
//! | 6 | kind |
//! | 7 | flags, 0 |
//! | 8..16 | length of the body in bytes |
//! | 16..40 | first 24 bytes of the hash of the parameters, 0 where there are none |
//! | 40..64 | first 24 bytes of the BLAKE3 hash of bytes 0..40 and the body |
//!
//! Fields are checked in this order, each before anything depends on it, and
//! the length against the bytes that are there before anything is allocated.
//! The checksum finds damage; it does not authenticate.

use std::fmt;

use crate::error::WireError;

/// Bytes of the header.
pub const HEADER_BYTES: usize = 64;
/// The format version that this release writes, and the newest that it reads.
pub const FORMAT_VERSION: u16 = 1;

const MAGIC: [u8; 4] = [0x89, b'C', b'Y', b'C'];
const HASHED_BYTES: usize = 40;
const HASH_CONTEXT: &str = "cyclotron 2026 wire object checksum";

/// What a frame holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[repr(u8)]
pub enum Kind {
    /// Parameters.
    Parameters = 1,
    /// A secret key with everything that the client needs.
    SecretKey = 2,
    /// A public encryption key.
    PublicKey = 3,
    /// Key-switch keys.
    EvaluationKeys = 4,
    /// A ciphertext.
    Ciphertext = 5,
    /// An HE program with its plaintext operands.
    Program = 6,
    /// A limb program.
    LimbProgram = 7,
}

impl Kind {
    /// Every kind.
    pub const ALL: [Kind; 7] = [
        Kind::Parameters,
        Kind::SecretKey,
        Kind::PublicKey,
        Kind::EvaluationKeys,
        Kind::Ciphertext,
        Kind::Program,
        Kind::LimbProgram,
    ];

    fn from_byte(byte: u8) -> Option<Kind> {
        Kind::ALL.into_iter().find(|&kind| kind as u8 == byte)
    }
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Kind::Parameters => "parameters",
            Kind::SecretKey => "a secret key",
            Kind::PublicKey => "a public key",
            Kind::EvaluationKeys => "evaluation keys",
            Kind::Ciphertext => "a ciphertext",
            Kind::Program => "an HE program",
            Kind::LimbProgram => "a limb program",
        })
    }
}

/// The first 24 bytes of the hash of the parameters that an object belongs to.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct ParamsHash([u8; 24]);

impl ParamsHash {
    /// Of an object that belongs to no parameters.
    pub const NONE: ParamsHash = ParamsHash([0; 24]);

    /// Takes the first 24 bytes of a 32-byte hash.
    #[must_use]
    pub fn of(hash: &[u8; 32]) -> Self {
        let mut short = [0; 24];
        short.copy_from_slice(&hash[..24]);
        ParamsHash(short)
    }
}

impl fmt::Display for ParamsHash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0[..8]
            .iter()
            .try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

impl fmt::Debug for ParamsHash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "ParamsHash({self})")
    }
}

/// The fields of a header.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Header {
    /// Format version.
    pub version: u16,
    /// What the body holds.
    pub kind: Kind,
    /// The parameters that it belongs to.
    pub params: ParamsHash,
    /// Length of the body in bytes.
    pub body_bytes: u64,
    checksum: [u8; 24],
}

impl Header {
    /// Reads the first 64 bytes of an object.
    ///
    /// # Errors
    /// [`WireError`] for a wrong magic number, an unknown version, kind or
    /// flag, or fewer than 64 bytes.
    pub fn read(bytes: &[u8]) -> Result<Header, WireError> {
        let magic = bytes.get(..4).unwrap_or(bytes);
        if magic != &MAGIC[..magic.len()] {
            return Err(WireError::NotOurs);
        }
        let Some(header) = bytes.first_chunk::<HEADER_BYTES>() else {
            return Err(WireError::Truncated {
                what: "the header",
                needs: HEADER_BYTES as u64,
                has: bytes.len() as u64,
            });
        };
        let version = u16::from_le_bytes([header[4], header[5]]);
        if version > FORMAT_VERSION {
            return Err(WireError::NewerFormat {
                found: version,
                supported: FORMAT_VERSION,
            });
        }
        if version == 0 {
            return Err(WireError::UnknownVersion { found: version });
        }
        let kind = Kind::from_byte(header[6]).ok_or(WireError::UnknownKind { found: header[6] })?;
        if header[7] != 0 {
            return Err(WireError::UnknownFlags { found: header[7] });
        }
        Ok(Header {
            version,
            kind,
            params: ParamsHash(array(&header[16..40])),
            body_bytes: u64::from_le_bytes(array(&header[8..16])),
            checksum: array(&header[40..64]),
        })
    }
}

/// A copy of a slice whose length is known to be M.
fn array<const M: usize>(bytes: &[u8]) -> [u8; M] {
    let mut out = [0; M];
    out.copy_from_slice(bytes);
    out
}

/// Writes a body behind its header.
#[must_use]
pub fn seal(kind: Kind, params: ParamsHash, body: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(HEADER_BYTES + body.len());
    out.extend_from_slice(&MAGIC);
    out.extend_from_slice(&FORMAT_VERSION.to_le_bytes());
    out.push(kind as u8);
    out.push(0);
    out.extend_from_slice(&(body.len() as u64).to_le_bytes());
    out.extend_from_slice(&params.0);
    let checksum = checksum(&out, body);
    out.extend_from_slice(&checksum);
    out.extend_from_slice(body);
    out
}

/// Checks a frame against what is wanted and returns its body.
///
/// `params` is the hash of the parameters at hand, or `None` where any will do.
///
/// # Errors
/// [`WireError`], in the order of the module's table; the length is compared
/// with the bytes that are there before the checksum is computed.
pub fn open(
    bytes: &[u8],
    kind: Kind,
    params: Option<ParamsHash>,
) -> Result<(Header, &[u8]), WireError> {
    let header = Header::read(bytes)?;
    if header.kind != kind {
        return Err(match header.kind {
            Kind::SecretKey => WireError::SecretKeyOffered { expected: kind },
            found => WireError::WrongKind {
                expected: kind,
                found,
            },
        });
    }
    let body = &bytes[HEADER_BYTES..];
    let has = body.len() as u64;
    if has < header.body_bytes {
        return Err(WireError::Truncated {
            what: "the body",
            needs: header.body_bytes,
            has,
        });
    }
    if has > header.body_bytes {
        return Err(WireError::TrailingBytes {
            extra: has - header.body_bytes,
        });
    }
    if let Some(expected) = params
        && header.params != expected
    {
        return Err(WireError::ParametersMismatch {
            expected,
            found: header.params,
        });
    }
    if checksum(&bytes[..HASHED_BYTES], body) != header.checksum {
        return Err(WireError::Checksum);
    }
    Ok((header, body))
}

fn checksum(head: &[u8], body: &[u8]) -> [u8; 24] {
    let mut hasher = blake3::Hasher::new_derive_key(HASH_CONTEXT);
    hasher.update(head);
    hasher.update(body);
    array(&hasher.finalize().as_bytes()[..24])
}

#[cfg(test)]
mod tests {
    use super::*;

    const HASH: ParamsHash = ParamsHash([7; 24]);

    fn sealed() -> Vec<u8> {
        seal(Kind::Ciphertext, HASH, b"thirty-one residues and a limb.")
    }

    fn reopen(bytes: &[u8]) -> Result<&[u8], WireError> {
        open(bytes, Kind::Ciphertext, Some(HASH)).map(|(_, body)| body)
    }

    #[test]
    fn a_sealed_body_opens_unchanged() {
        assert_eq!(
            reopen(&sealed()).unwrap(),
            b"thirty-one residues and a limb."
        );
    }

    #[test]
    fn every_truncation_is_refused() {
        let bytes = sealed();
        for length in 0..bytes.len() {
            let error = reopen(&bytes[..length]).unwrap_err();
            assert_eq!(error.code(), "E_TRUNCATED", "cut at {length}");
        }
    }

    #[test]
    fn every_flipped_bit_is_refused() {
        let bytes = sealed();
        for bit in 0..8 * bytes.len() {
            let mut flipped = bytes.clone();
            flipped[bit / 8] ^= 1 << (bit % 8);
            assert!(reopen(&flipped).is_err(), "bit {bit}");
        }
    }

    #[test]
    fn a_claimed_length_is_compared_before_anything_is_read() {
        for claim in [u64::MAX, 1 << 63, 1 << 40, 32] {
            let mut bytes = sealed();
            bytes[8..16].copy_from_slice(&claim.to_le_bytes());
            assert_eq!(
                reopen(&bytes).unwrap_err(),
                WireError::Truncated {
                    what: "the body",
                    needs: claim,
                    has: 31,
                }
            );
        }
    }

    #[test]
    fn a_newer_version_is_named() {
        let mut bytes = sealed();
        bytes[4] = 9;
        assert_eq!(
            reopen(&bytes).unwrap_err(),
            WireError::NewerFormat {
                found: 9,
                supported: FORMAT_VERSION,
            }
        );
    }

    #[test]
    fn a_secret_key_is_refused_as_anything_else() {
        let bytes = seal(Kind::SecretKey, HASH, b"secret");
        for kind in Kind::ALL.into_iter().filter(|&k| k != Kind::SecretKey) {
            let error = open(&bytes, kind, None).unwrap_err();
            assert_eq!(error, WireError::SecretKeyOffered { expected: kind });
        }
    }

    #[test]
    fn other_parameters_are_named_with_both_hashes() {
        let message = open(&sealed(), Kind::Ciphertext, Some(ParamsHash([9; 24])))
            .unwrap_err()
            .to_string();
        assert!(message.contains("0707070707070707"), "{message}");
        assert!(message.contains("0909090909090909"), "{message}");
    }
}
