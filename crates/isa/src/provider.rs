//! Where executors get their input limbs from.

use std::error::Error;
use std::fmt;
use std::sync::Arc;

use cyclotron_ring::{LimbBuf, Ring, Word};

use crate::error::IsaError;
use crate::flat::FlatProgram;
use crate::limb::LimbType;
use crate::program::{InputDecl, LimbProgram, Source};

/// Gives the input limbs of a limb program. Executors ask for a limb when it is
/// first used and may ask again later; the answer must be the same.
pub trait InputProvider<W: Word>: Sync {
    /// The limb from `source`: N words, canonical modulo the prime of `ty`, in its domain;
    /// P N words where a limb has P parts. Never asked for [`Source::Twist`].
    ///
    /// # Errors
    /// Whatever keeps the provider from giving the limb.
    fn limb(&self, source: Source, ty: LimbType) -> Result<Arc<LimbBuf<W>>, ProviderError>;

    /// Whether the words of every limb that it gives are known to be canonical,
    /// checked when they came or computed by us: executors then do not read
    /// them once more to check. Words that are not give wrong results.
    fn vouches(&self) -> bool {
        false
    }
}

/// Why a provider could not give a limb.
#[derive(Debug)]
pub struct ProviderError(pub Box<dyn Error + Send + Sync>);

impl ProviderError {
    /// An error with a message.
    #[must_use]
    pub fn new(message: impl Into<String>) -> Self {
        Self(message.into().into())
    }
}

impl fmt::Display for ProviderError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl Error for ProviderError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        self.0.source()
    }
}

/// Why a program could not be executed.
#[derive(Debug, thiserror::Error)]
pub enum ExecuteError {
    /// The program or plan is faulty.
    #[error(transparent)]
    Program(#[from] IsaError),
    /// The ring is not the program's.
    #[error("the ring does not fit the program: {why}")]
    WrongRing {
        /// What differs.
        why: String,
    },
    /// The provider failed.
    #[error("input limb {source:?}: {error}", source = .place)]
    Input {
        /// The limb.
        place: Source,
        /// What the provider says.
        error: ProviderError,
    },
    /// The provider gave something that is not a limb of the declared type.
    #[error("input limb {place:?} is not a canonical limb: {why}")]
    BadInput {
        /// The limb.
        place: Source,
        /// Its length or the word that is too large.
        why: String,
    },
}

/// Checks that a ring has the program's degree, number of parts, word size and primes;
/// `log_sizes` are `log_n` and `log_parts` of the program.
///
/// # Errors
/// [`ExecuteError::WrongRing`] that says what differs.
fn check_ring<W: Word>(
    log_sizes: [u32; 2],
    word_bits: u32,
    moduli: &[u64],
    ring: &Ring<W>,
) -> Result<(), ExecuteError> {
    let wrong = |why: String| Err(ExecuteError::WrongRing { why });
    if W::BITS != word_bits {
        return wrong(format!("{}-bit words, needed {word_bits}", W::BITS));
    }
    let found = [ring.log_n(), ring.log_parts()];
    for (what, found, needed) in [
        ("log_n", found[0], log_sizes[0]),
        ("log_parts", found[1], log_sizes[1]),
    ] {
        if found != needed {
            return wrong(format!("{what} {found}, needed {needed}"));
        }
    }
    if ring.moduli_count() < moduli.len() {
        let (has, needs) = (ring.moduli_count(), moduli.len());
        return wrong(format!("{has} primes, needed {needs}"));
    }
    match (0..moduli.len()).find(|&i| ring.modulus(i) != moduli[i]) {
        Some(i) => wrong(format!(
            "prime {i} is {}, needed {}",
            ring.modulus(i),
            moduli[i]
        )),
        None => Ok(()),
    }
}

/// The input that is declared so. Asks the provider for the limb and checks that it is
/// one; of a provider that [vouches](InputProvider::vouches) for its words, only the
/// length. Twists are computed.
///
/// # Cost
/// Each part of a polynomial asks for the whole limb and copies its words; a twist
/// takes about as many multiplications as half the polynomial has coefficients.
///
/// # Errors
/// [`ExecuteError::Input`] or [`ExecuteError::BadInput`].
pub fn fetch<W: Word>(
    inputs: &dyn InputProvider<W>,
    decl: InputDecl,
    ring: &Ring<W>,
) -> Result<Arc<LimbBuf<W>>, ExecuteError> {
    let InputDecl { source, ty, part } = decl;
    let (m, part) = (usize::from(ty.modulus), usize::from(part));
    if source == Source::Twist {
        return Ok(Arc::new(ring.twist(m, part)));
    }
    let limb = inputs
        .limb(source, ty)
        .map_err(|error| ExecuteError::Input {
            place: source,
            error,
        })?;
    let bad = |why: String| Err(ExecuteError::BadInput { place: source, why });
    let whole = ring.n() << ring.log_parts();
    if limb.len() != whole {
        return bad(format!("it has {} words, not {whole}", limb.len()));
    }
    let limb = if ring.log_parts() == 0 {
        limb
    } else {
        let words = limb[part * ring.n()..][..ring.n()].iter().copied();
        Arc::new(words.collect())
    };
    if inputs.vouches() {
        return Ok(limb);
    }
    let q = ring.modulus(m);
    match limb.iter().position(|w| w.to_u64() >= q) {
        Some(i) => bad(format!("word {i} is {}, not below {q}", limb[i])),
        None => Ok(limb),
    }
}

impl LimbProgram {
    /// Checks that a ring is the one that the program computes in.
    ///
    /// # Errors
    /// [`ExecuteError::WrongRing`] that says what differs.
    pub fn check_ring<W: Word>(&self, ring: &Ring<W>) -> Result<(), ExecuteError> {
        let log_sizes = [self.log_n, self.log_parts];
        check_ring(log_sizes, self.word_bits, &self.moduli, ring)
    }
}

impl FlatProgram {
    /// Checks that a ring is the one that the program computes in.
    ///
    /// # Errors
    /// [`ExecuteError::WrongRing`] that says what differs.
    pub fn check_ring<W: Word>(&self, ring: &Ring<W>) -> Result<(), ExecuteError> {
        let log_sizes = [self.log_n, self.log_parts];
        check_ring(log_sizes, self.word_bits, &self.moduli, ring)
    }
}
