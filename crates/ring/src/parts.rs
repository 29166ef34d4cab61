//! Polynomials of several vectors: `Z_q[x] / (x^(PN) + 1)` as P rings of degree N.
//!
//! Let psi be the least primitive 2PN-th root of unity modulo q. Then
//! `x^(PN) + 1 = x^(PN) - psi^(PN)`, and for even M
//!
//! ```text
//! x^M - psi^(Mc) = (x^(M/2) - r) (x^(M/2) + r),  r = psi^(Mc/2).
//! ```
//!
//! Modulo the two factors a polynomial `lo + x^(M/2) hi` is `lo + r hi` and
//! `lo - r hi`. Since `-1 = psi^(PN)`, the second factor is `x^(M/2) - psi^(M/2 (c + 2PN/M))`:
//! of the same form. Of 2^s factors (M = PN / 2^s), block b has `c = 2 brv(b) + 1`, brv the
//! reversal of s bits, if the factors of block b are the blocks 2b and 2b + 1. After log2 P
//! steps *part* j is the residue modulo `x^N - psi^(N c_j)`, `c_j = 2 brv(j) + 1`.
//!
//! Let `x = psi^(c_j - P) y`. Then `x^N = psi^(N c_j)` is `y^N = psi^(PN) = -1`: multiplying
//! the coefficient of x^i by `psi^((c_j - P) i)`, the part's *twist*, gives an element of
//! `Z_q[y] / (y^N + 1)`. Its value at `y = theta^(2f + 1)`, `theta = psi^P`, is the value of
//! the whole polynomial at `psi^(c_j - P + P (2f + 1)) = psi^(c_j + 2Pf)`.
//!
//! *Order.* An index of the whole polynomial's values is `jN + i`, and the reversal of its
//! bits `P brv(i) + brv(j)`; so it holds the value at `psi^(2P brv(i) + c_j)`. With
//! `f = brv(i)`: values of part j are values `jN .. (j + 1)N` of the whole, in order, if
//! transforms of length N use theta ([`crate::Ring::of_parts`]). Coefficients of the whole
//! are P vectors as well, `jN .. (j + 1)N` each, before the first step.
//!
//! *Automorphisms.* x -> x^k gives the point `e = c_j + 2Pf` the value at
//! `ke = c_l + 2P (kf + b)`, with l the part that has `c_l = k c_j mod 2P`, and
//! `b = (k c_j - c_l) / (2P)`. So each part of the result is one part of the operand,
//! permuted by `f -> kf + b mod N`: an [`Automorphism`] with an offset. (P = 1: `c = 1`, and
//! b is `(k - 1)/2`, the offset 0.)

use crate::automorphism::Automorphism;
use crate::limb_buf::LimbBuf;
use crate::modulus::Modulus;
use crate::twiddles::{Root, reverse_bits};
use crate::word::Word;

/// The splitting of polynomials modulo one prime.
#[derive(Debug, Clone)]
pub struct Parts {
    modulus: Modulus,
    psi: u64,
    log_n: u32,
    log_parts: u32,
}

impl Parts {
    /// For 2^`log_parts` parts of 2^`log_n` coefficients each.
    ///
    /// # Cost
    /// About P N / 2 multiplications.
    ///
    /// # Panics
    /// If the prime is not 1 modulo 2PN.
    #[must_use]
    pub fn new(modulus: &Modulus, log_n: u32, log_parts: u32) -> Self {
        Self {
            psi: Root::least(modulus, log_n + log_parts).psi,
            modulus: *modulus,
            log_n,
            log_parts,
        }
    }

    /// The r with which block `block` of 2^`depth` is split in two: canonical.
    #[must_use]
    pub fn factor(&self, depth: u32, block: usize) -> u64 {
        let half = 1u64 << (self.log_n + self.log_parts - depth - 1);
        let c = 2 * reverse_bits(block, depth) as u64 + 1;
        self.modulus.pow(self.psi, half * c)
    }

    /// The twist of a part, canonical: word i is `psi^((c_j - P) i)`.
    #[must_use]
    pub fn twist<W: Word>(&self, part: usize) -> LimbBuf<W> {
        let order = 2u64 << (self.log_n + self.log_parts);
        let (c, parts) = (point(part, self.log_parts), 1u64 << self.log_parts);
        let step = self.modulus.pow(self.psi, order + c - parts);
        let mut power = 1;
        let mut twist = LimbBuf::zeroed(1 << self.log_n);
        for word in twist.iter_mut() {
            *word = W::from_u64(power);
            power = self.modulus.mul(power, step);
        }
        twist
    }
}

/// `c_j` of part j.
fn point(part: usize, log_parts: u32) -> u64 {
    2 * reverse_bits(part, log_parts) as u64 + 1
}

/// The part whose twist is the inverse of the twist of `part`.
#[must_use]
pub fn inverse(part: usize, log_parts: u32) -> usize {
    // c of the one and of the other make 2P.
    (1 << log_parts) - 1 - part
}

/// What x -> x^k, k odd, does to values: the part of the operand that part `part`
/// of the result is made of, and how. The map's exponent is below 2N, its offset below N.
#[must_use]
pub fn automorphism(k: u32, part: usize, log_n: u32, log_parts: u32) -> (usize, Automorphism) {
    let (n, double) = (1u64 << log_n, 2u64 << log_parts);
    let k = u64::from(k) % (n * double);
    let image = k * point(part, log_parts);
    let source = reverse_bits((image % double / 2) as usize, log_parts);
    let shift = (image / double) % n;
    let k = k % (2 * n);
    let offset = (shift + n - (k - 1) / 2 % n) % n;
    let map = Automorphism {
        k: k as u32,
        offset: offset as u32,
    };
    (source, map)
}
