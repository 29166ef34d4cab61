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
//! # Words, primes and kernels
//! A limb's words are 32 bits wide for primes below 2^32 and 64 bits for primes
//! below 2^61. The kernels that serve a prime depend on its size and on the
//! [`Simd`] path, chosen when the ring is made: the fastest of the processor,
//! or the one that the environment variable `CYCLOTRON_SIMD` names.
//! [`Ring::kernels`] tells their name.
//!
//! | kernels | words | primes | instructions |
//! | --- | --- | --- | --- |
//! | `scalar` | both | all | portable; also for N too small for vectors |
//! | `lazy32` | 32 | below 2^30 | AVX2, AVX-512 |
//! | `full32` | 32 | all others | AVX2, AVX-512 |
//! | `wide32` | 32 | all | AVX-512 IFMA |
//! | `ifma52` | 64 | between 2^13 and 2^50 | AVX-512 IFMA |
//! | `shoup64` | 64 | all others | AVX2, AVX-512 |
//!
//! # Operands
//! *Canonical* words are in `[0, q)`; all results are. Multiplicands and the
//! sources of NTT and base conversion may be *any words* (limbs of another
//! prime): they are reduced on the way in. Where canonical words are required
//! and others are given, the result is unspecified, but there is one: nothing
//! panics or is undefined, so that a wrong schedule can be executed.
//!
//! # Randomness
//! Comes from [`prf`] streams through the [`sampler`]s, and is the same for the
//! same seed on every path and for every number of threads.
//!
//! # What is not here
//! Ciphertexts and parameters; threads (an operation runs on its caller's;
//! only [`Ring::new`] builds its tables on all).

mod arch;
mod arena;
mod automorphism;
mod error;
mod limb_buf;
mod modulus;
pub mod parts;
pub mod prf;
pub mod primes;
mod residues;
mod ring;
pub mod sampler;
mod simd;
mod throughput;
mod twiddles;
mod word;

pub use arch::{Kernel, NttEntry, NttExit, Pair, run_wide, wipe_scratch};
pub use automorphism::Automorphism;
pub use error::RingError;
pub use limb_buf::LimbBuf;
pub use modulus::Modulus;
pub use residues::reduce_signed_wide;
pub use ring::{Ring, STRIP_WORDS};
pub use simd::Simd;
pub use throughput::{Multiply, multiplications, sum_words};
pub use word::Word;
