//! What can be wrong with bytes that claim to be one of our objects.

use std::fmt;

use crate::frame::{Kind, ParamsHash};

/// Why bytes were refused. No variant carries a part of the body, so that a
/// message never repeats key material.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum WireError {
    /// The bytes do not start with the magic number.
    #[error("not a Cyclotron file: it does not start with the magic number")]
    NotOurs,
    /// Fewer bytes than the header or the declared body needs.
    #[error("truncated: {what} needs {needs} bytes, {has} are there; fetch the file again")]
    Truncated {
        /// What was being read.
        what: &'static str,
        /// Bytes that it needs.
        needs: u64,
        /// Bytes that are there.
        has: u64,
    },
    /// More bytes than the object has.
    #[error("{extra} bytes follow the end of the object; one file holds one object")]
    TrailingBytes {
        /// How many.
        extra: u64,
    },
    /// Written by a newer release.
    #[error(
        "format version {found} is newer than {supported}, the newest that this release reads; \
         update Cyclotron"
    )]
    NewerFormat {
        /// Version in the header.
        found: u16,
        /// Newest version that is understood.
        supported: u16,
    },
    /// A version number that no release wrote.
    #[error("format version {found} does not exist")]
    UnknownVersion {
        /// Version in the header.
        found: u16,
    },
    /// A kind number that is not assigned.
    #[error("kind {found} is not assigned")]
    UnknownKind {
        /// Number in the header.
        found: u8,
    },
    /// Flag bits that are not assigned.
    #[error("flags {found:#04x} are not assigned")]
    UnknownFlags {
        /// Flag byte in the header.
        found: u8,
    },
    /// An object of another kind than the one asked for.
    #[error("this file holds {found}, where {expected} is needed")]
    WrongKind {
        /// What the caller asked for.
        expected: Kind,
        /// What the header says.
        found: Kind,
    },
    /// A secret key where something else is expected: it must never leave the client.
    #[error(
        "REFUSED: this file holds a SECRET KEY, where {expected} is needed. A secret key never \
         leaves the client; delete every copy that was sent, and make new keys"
    )]
    SecretKeyOffered {
        /// What the caller asked for.
        expected: Kind,
    },
    /// Made for other parameters.
    #[error("made for parameters {found}, but the parameters here are {expected}")]
    ParametersMismatch {
        /// Hash of the parameters at hand.
        expected: ParamsHash,
        /// Hash in the header.
        found: ParamsHash,
    },
    /// There are not as many bytes of limbs as parameters and counts imply.
    #[error("{what}: {left} bytes of limbs are there, parameters and counts imply {implied}")]
    LengthMismatch {
        /// What was being read.
        what: &'static str,
        /// Bytes that are there.
        left: u64,
        /// Bytes that the parameters imply.
        implied: u64,
    },
    /// The checksum does not match.
    #[error("checksum mismatch: the file is damaged; fetch it again")]
    Checksum,
    /// A residue that is not below its prime.
    #[error("{what}: word {index} is not below the prime {modulus}")]
    NonCanonical {
        /// Which limb.
        what: String,
        /// Index of the word within the limb.
        index: usize,
        /// The prime.
        modulus: u64,
    },
    /// A field has a value that no object has.
    #[error("{what}: {why}")]
    Invalid {
        /// Which field.
        what: &'static str,
        /// What is wrong with it.
        why: String,
    },
}

impl WireError {
    /// A stable short code for programs, for example `E_TRUNCATED`.
    #[must_use]
    pub fn code(&self) -> &'static str {
        match self {
            WireError::NotOurs => "E_NOT_OURS",
            WireError::Truncated { .. } => "E_TRUNCATED",
            WireError::TrailingBytes { .. } => "E_TRAILING_BYTES",
            WireError::NewerFormat { .. } => "E_NEWER_FORMAT",
            WireError::UnknownVersion { .. } => "E_UNKNOWN_VERSION",
            WireError::UnknownKind { .. } => "E_UNKNOWN_KIND",
            WireError::UnknownFlags { .. } => "E_UNKNOWN_FLAGS",
            WireError::WrongKind { .. } => "E_WRONG_KIND",
            WireError::SecretKeyOffered { .. } => "E_SECRET_KEY",
            WireError::ParametersMismatch { .. } => "E_PARAM_MISMATCH",
            WireError::LengthMismatch { .. } => "E_LENGTH",
            WireError::Checksum => "E_CHECKSUM",
            WireError::NonCanonical { .. } => "E_NONCANONICAL",
            WireError::Invalid { .. } => "E_INVALID",
        }
    }

    pub(crate) fn invalid(what: &'static str, why: impl fmt::Display) -> Self {
        WireError::Invalid {
            what,
            why: why.to_string(),
        }
    }
}
