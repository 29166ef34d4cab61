//! Kernels written once over a small vector trait.
//!
//! - [`lanes`]: what an instruction set offers ([`Isa`](lanes::Isa),
//!   [`Lanes`](lanes::Lanes)); implemented by the tokens in `avx2` and `avx512`.
//! - [`transform`]: the order of butterflies of an NTT, over any
//!   [`Transform`](transform::Transform) (arithmetic modulo a prime of one size):
//!   [`passes`] over distant vectors, [`tails`] over neighbouring ones, and the
//!   [`storage`] of values between them.
//! - [`pointwise`]: loops of the other kernels, over any
//!   [`Pointwise`](pointwise::Pointwise).
//! - [`full32`], [`lazy32`], [`wide32`], [`shoup64`], [`ifma52`], [`ifma61`]: arithmetic for one
//!   range of primes each, with the proof of its bounds.
//! - [`prefetch`]: hints to the caches.
//! - [`backend`]: all of it as a [`Backend`](super::Backend).
//!
//! Everything here is `#[inline(always)]`, so that it is compiled with the
//! instruction set of the one function per kernel that [`lanes::Isa::run`]
//! calls. For the same reason hot code has no closures.

#[cfg(test)]
mod agreement;
pub mod backend;
pub mod full32;
pub mod ifma52;
pub mod ifma61;
pub mod lanes;
pub mod lazy32;
pub mod passes;
pub mod pointwise;
pub mod prefetch;
#[cfg(test)]
mod ranges;
pub mod shoup64;
pub mod storage;
pub mod tails;
pub mod transform;
pub mod wide32;
