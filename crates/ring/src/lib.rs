//! Modular arithmetic, NTT, automorphism, base conversion and samplers over limbs.
//!
//! A [`Ring`] holds the tables of a list of primes at one degree and executes
//! limb instructions on slices of N words, 32 or 64 bits wide. All results are
//! canonical; the scalar code is the definition, and every SIMD path gives the
//! same bits.
//!
//! ```
//! use cyclotron_ring::{LimbBuf, Ring, Simd, primes};
//!
//! // x * x^(N-1) = -1 in the ring of degree N = 1024.
//! let q = primes::ntt_primes(1 << 32, 2048, 1)[0];
//! let ring = Ring::<u32>::new(10, &[q], Simd::detect()?)?;
//! let (mut a, mut b) = (LimbBuf::zeroed(ring.n()), LimbBuf::zeroed(ring.n()));
//! (a[1], b[ring.n() - 1]) = (1, 1);
//! ring.ntt_in_place(0, &mut a);
//! ring.ntt_in_place(0, &mut b);
//! let mut product = LimbBuf::zeroed(ring.n());
//! ring.mul(0, &mut product, &a, &b);
//! ring.intt_in_place(0, &mut product);
//! assert_eq!(u64::from(product[0]), q - 1);
//! # Ok::<(), cyclotron_ring::RingError>(())
//! ```
//!
//! Randomness comes from [`prf`] streams through the [`sampler`]s. What is not
//! here: ciphertexts, parameters, threads (one operation runs on its caller's).

mod arch;
mod automorphism;
mod error;
mod limb_buf;
mod modulus;
pub mod prf;
pub mod primes;
mod residues;
mod ring;
pub mod sampler;
mod simd;
mod twiddles;
mod word;

pub use arch::Pair;
pub use error::RingError;
pub use limb_buf::LimbBuf;
pub use modulus::Modulus;
pub use residues::{reduce_signed, reduce_signed_wide};
pub use ring::Ring;
pub use simd::Simd;
pub use word::Word;
