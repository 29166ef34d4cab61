//! The ring `Z_q[x] / (x^N + 1)` modulo each prime of a chain.

use rayon::prelude::*;

use crate::arch::{Backend, Kernel, NttEntry, NttExit, Pair, prefetch, run_wide};
use crate::automorphism::{self, Automorphism};
use crate::error::RingError;
use crate::limb_buf::LimbBuf;
use crate::modulus::Modulus;
use crate::parts::Parts;
use crate::primes::is_prime;
use crate::residues::reduce_signed;
use crate::simd::Simd;
use crate::twiddles::Root;
use crate::word::Word;

/// Bytes that the tiles of all sources of a base conversion may take together:
/// they stay in the first-level cache while all destinations read them.
const TILES_BYTES: usize = 24 << 10;

/// A strip of a limb has a multiple of so many words.
pub const STRIP_WORDS: usize = 64;

/// Limb arithmetic at one degree N for a list of primes, numbered from 0.
///
/// # Layout
/// A limb is a slice of N words. Coefficient domain: index i holds the
/// coefficient of x^i. Evaluation domain: index i holds the value at
/// `psi^(2 brv(i) + 1)`, brv the reversal of log2 N bits, psi the least
/// primitive 2N-th root of unity modulo the prime ([`Ring::of_parts`]: another).
///
/// # Ranges
/// Results are canonical, in `[0, q)`. Operands are canonical unless they may
/// be *any words*: those are reduced on the way in.
///
/// # Strips
/// Operations that treat every index alike (`add`, `sub`, `neg`, `mul`, `add_c`,
/// `mul_c`, `mac`, `msub`, `sub_mul_c`, `dot`) also take the same strip of each limb: a
/// multiple of [`STRIP_WORDS`] words.
///
/// # Panics
/// Every operation panics if a slice has another length than N (or a strip's)
/// or a prime's number is out of range. Operands that should be canonical and are not give
/// unspecified words, never undefined behaviour.
pub struct Ring<W: Word> {
    log_n: u32,
    log_parts: u32,
    simd: Simd,
    limbs: Vec<Box<dyn Backend<W>>>,
}

impl<W: Word> Ring<W> {
    /// The least supported log2 N.
    pub const LOG_N_MIN: u32 = 4;
    /// The greatest supported log2 N.
    pub const LOG_N_MAX: u32 = 17;

    /// The ring of degree 2^`log_n` over distinct primes = 1 mod 2N, below
    /// 2^32 for 32-bit words and below 2^61 for 64-bit words.
    ///
    /// # Cost
    /// About 3 N multiplications a prime (on all threads), 2 N words a prime.
    ///
    /// # Errors
    /// Says which argument to change: degree, prime, or SIMD path.
    pub fn new(log_n: u32, primes: &[u64], simd: Simd) -> Result<Self, RingError> {
        Self::of_parts(log_n, 0, primes, simd)
    }

    /// The ring of the 2^`log_parts` parts of polynomials of 2^(`log_n` +
    /// `log_parts`) coefficients: as [`Self::new`] with degree 2^`log_n`, but psi
    /// is the power of the longer ring's that makes values of parts values of the
    /// whole (see [`crate::parts`]). Primes are 1 modulo twice the longer degree.
    ///
    /// # Errors
    /// As [`Self::new`]; the degrees of both rings must be supported.
    pub fn of_parts(
        log_n: u32,
        log_parts: u32,
        primes: &[u64],
        simd: Simd,
    ) -> Result<Self, RingError> {
        let supported = Self::LOG_N_MIN..=Self::LOG_N_MAX;
        let whole = log_n.saturating_add(log_parts);
        if let Some(log_n) = [log_n, whole].into_iter().find(|x| !supported.contains(x)) {
            return Err(RingError::LogNOutOfRange {
                log_n,
                min: Self::LOG_N_MIN,
                max: Self::LOG_N_MAX,
            });
        }
        let simd = simd.require()?;
        for (i, &q) in primes.iter().enumerate() {
            check_prime::<W>(q, whole)?;
            if primes[..i].contains(&q) {
                return Err(RingError::DuplicateModulus { modulus: q });
            }
        }
        let backend = |&q: &u64| {
            let modulus = Modulus::new(q);
            let psi = Root::least(&modulus, whole).psi;
            let psi = modulus.pow(psi, 1 << log_parts);
            W::backend(simd, modulus, Root { log_n, psi })
        };
        // Tables of small rings are not worth starting threads for.
        let limbs = if log_n < 10 {
            primes.iter().map(backend).collect()
        } else {
            primes.par_iter().map(backend).collect()
        };
        Ok(Self {
            log_n,
            log_parts,
            simd,
            limbs,
        })
    }

    /// The degree N.
    #[must_use]
    pub fn n(&self) -> usize {
        1 << self.log_n
    }

    /// log2 of the degree.
    #[must_use]
    pub fn log_n(&self) -> u32 {
        self.log_n
    }

    /// log2 of the number of parts whose ring it is: 0 for whole polynomials.
    #[must_use]
    pub fn log_parts(&self) -> u32 {
        self.log_parts
    }

    /// The twist of a part modulo prime `m`: see [`Parts::twist`].
    ///
    /// # Cost
    /// About P N / 2 + N multiplications.
    ///
    /// # Panics
    /// If there is no such part.
    #[must_use]
    pub fn twist(&self, m: usize, part: usize) -> LimbBuf<W> {
        Parts::new(self.arithmetic(m), self.log_n, self.log_parts).twist(part)
    }

    /// The SIMD path of the kernels.
    #[must_use]
    pub fn simd(&self) -> Simd {
        self.simd
    }

    /// Number of primes.
    #[must_use]
    pub fn moduli_count(&self) -> usize {
        self.limbs.len()
    }

    /// Prime number `m`.
    #[must_use]
    pub fn modulus(&self, m: usize) -> u64 {
        self.arithmetic(m).value()
    }

    /// Arithmetic on single residues modulo prime `m`.
    #[must_use]
    pub fn arithmetic(&self, m: usize) -> &Modulus {
        self.limb(m).modulus()
    }

    /// The name of the kernels that serve prime `m`.
    #[must_use]
    pub fn kernels(&self, m: usize) -> &'static str {
        self.limb(m).name()
    }

    /// Coefficient to evaluation domain; any words.
    pub fn ntt(&self, m: usize, dst: &mut [W], src: &[W]) {
        self.check(&[dst, src]);
        self.limb(m).ntt(dst, Some(src));
    }

    /// Coefficient to evaluation domain in place; any words.
    pub fn ntt_in_place(&self, m: usize, data: &mut [W]) {
        self.check(&[data]);
        self.limb(m).ntt(data, None);
    }

    /// Evaluation to coefficient domain, division by N included.
    pub fn intt(&self, m: usize, dst: &mut [W], src: &[W]) {
        self.check(&[dst, src]);
        self.limb(m).intt(dst, Some(src));
    }

    /// Evaluation to coefficient domain in place, division by N included.
    pub fn intt_in_place(&self, m: usize, data: &mut [W]) {
        self.check(&[data]);
        self.limb(m).intt(data, None);
    }

    /// The NTT between an operation on each coefficient and one on each value,
    /// in the same walks over memory: `dst = exit(NTT(src + entry.add_c))`.
    /// Without a source it is done in place. `src` any words, constants any
    /// integers, the minuend canonical.
    pub fn ntt_with(
        &self,
        m: usize,
        dst: &mut [W],
        src: Option<&[W]>,
        entry: NttEntry,
        exit: NttExit<'_, W>,
    ) {
        self.check(&[dst, src.unwrap_or(dst)]);
        let limb = self.limb(m);
        let entry = NttEntry {
            add_c: limb.modulus().reduce(entry.add_c),
        };
        let exit = match exit {
            NttExit::Canonical => NttExit::Canonical,
            NttExit::SubMulC { minuend, c } => {
                self.check(&[minuend]);
                let c = limb.modulus().reduce(c);
                NttExit::SubMulC { minuend, c }
            }
        };
        limb.ntt_with(dst, src, entry, exit);
    }

    /// `mul_c INTT(src) + add_c`, the constant added to each coefficient; any
    /// integers, and without a source in place. The multiplication costs nothing:
    /// it joins the division by N.
    pub fn intt_with(&self, m: usize, dst: &mut [W], src: Option<&[W]>, mul_c: u64, add_c: u64) {
        self.check(&[dst, src.unwrap_or(dst)]);
        let limb = self.limb(m);
        let [mul_c, add_c] = [mul_c, add_c].map(|c| limb.modulus().reduce(c));
        limb.intt_with(dst, src, mul_c, add_c);
    }

    /// `a + b`.
    pub fn add(&self, m: usize, dst: &mut [W], a: &[W], b: &[W]) {
        self.check_strips(&[dst, a, b]);
        self.limb(m).add(dst, a, b);
    }

    /// `dst + a`, in place.
    pub fn add_in_place(&self, m: usize, dst: &mut [W], a: &[W]) {
        self.check_strips(&[dst, a]);
        self.limb(m).add_in_place(dst, a);
    }

    /// `a - b`.
    pub fn sub(&self, m: usize, dst: &mut [W], a: &[W], b: &[W]) {
        self.check_strips(&[dst, a, b]);
        self.limb(m).sub(dst, a, b);
    }

    /// `-a`.
    pub fn neg(&self, m: usize, dst: &mut [W], a: &[W]) {
        self.check_strips(&[dst, a]);
        self.limb(m).neg(dst, a);
    }

    /// `a b`, index by index; any words.
    pub fn mul(&self, m: usize, dst: &mut [W], a: &[W], b: &[W]) {
        self.check_strips(&[dst, a, b]);
        self.limb(m).mul(dst, a, b);
    }

    /// `a + c` at every index; any integer c.
    pub fn add_c(&self, m: usize, dst: &mut [W], a: &[W], c: u64) {
        self.check_strips(&[dst, a]);
        let limb = self.limb(m);
        limb.add_c(dst, a, limb.modulus().reduce(c));
    }

    /// `a c` at every index; a any words, any integer c.
    pub fn mul_c(&self, m: usize, dst: &mut [W], a: &[W], c: u64) {
        self.check_strips(&[dst, a]);
        let limb = self.limb(m);
        limb.mul_c(dst, a, limb.modulus().reduce(c));
    }

    /// `acc + a b`; a and b any words.
    pub fn mac(&self, m: usize, dst: &mut [W], acc: &[W], a: &[W], b: &[W]) {
        self.check_strips(&[dst, acc, a, b]);
        self.limb(m).mac(dst, acc, a, b);
    }

    /// `acc - a b`; a and b any words.
    pub fn msub(&self, m: usize, dst: &mut [W], acc: &[W], a: &[W], b: &[W]) {
        self.check_strips(&[dst, acc, a, b]);
        self.limb(m).msub(dst, acc, a, b);
    }

    /// Signed integers modulo prime `m`; fastest for magnitudes up to the prime.
    pub fn reduce_signed<T: Copy + Into<i64>>(&self, m: usize, dst: &mut [W], src: &[T]) {
        self.check(&[dst]);
        reduce_signed(self.simd, self.arithmetic(m), dst, src);
    }

    /// `(a - b) c`; any integer c.
    pub fn sub_mul_c(&self, m: usize, dst: &mut [W], a: &[W], b: &[W], c: u64) {
        self.check_strips(&[dst, a, b]);
        let limb = self.limb(m);
        limb.sub_mul_c(dst, a, b, limb.modulus().reduce(c));
    }

    /// The sum of the products of all pairs, index by index; any words; 0 if
    /// there is no pair.
    pub fn dot(&self, m: usize, dst: &mut [W], pairs: &[Pair<'_, W>]) {
        for (a, b) in pairs {
            self.check_strips(&[dst, a, b]);
        }
        self.check_strips(&[dst]);
        self.limb(m).dot(dst, pairs);
    }

    /// Base conversion: `dsts[j] = sum_i srcs[i] matrix[i][j]` modulo prime
    /// `dst_moduli[j]`; sources any words, read as integers.
    ///
    /// # Layout
    /// `matrix` is row-major by source: entry (i, j) at `i * dsts.len() + j`;
    /// any integers.
    ///
    /// # Panics
    /// Also if the matrix or `dst_moduli` has another size.
    pub fn bconv(
        &self,
        dst_moduli: &[usize],
        dsts: &mut [&mut [W]],
        srcs: &[&[W]],
        matrix: &[u64],
    ) {
        assert_eq!(dst_moduli.len(), dsts.len(), "one prime per destination");
        assert_eq!(
            matrix.len(),
            srcs.len() * dsts.len(),
            "the matrix is sources x destinations"
        );
        self.check(srcs);
        dsts.iter().for_each(|dst| self.check(&[dst]));
        let columns: Vec<Vec<u64>> = (0..dsts.len())
            .map(|j| {
                let column = matrix[j.min(matrix.len())..].iter().step_by(dsts.len());
                let limb = self.limb(dst_moduli[j]);
                column.map(|&c| limb.prepare(c)).collect()
            })
            .collect();
        let mut tiles = Vec::with_capacity(srcs.len());
        let tile_words = TILES_BYTES / (srcs.len().max(1) * size_of::<W>());
        let tile_words = 1 << tile_words.clamp(64, 1024).ilog2();
        for at in (0..self.n()).step_by(tile_words) {
            let tile = at..(at + tile_words).min(self.n());
            tiles.clear();
            tiles.extend(srcs.iter().map(|src| &src[tile.clone()]));
            let below_2_52 = self.all_below_2_52(&tiles);
            let next = tile.end..(tile.end + tile_words).min(self.n());
            let mut ahead = srcs.iter();
            let share = srcs.len().div_ceil(dsts.len().max(1));
            for ((dst, &m), column) in dsts.iter_mut().zip(dst_moduli).zip(&columns) {
                let limb = self.limb(m);
                // The next tile comes while this one is computed on.
                for src in ahead.by_ref().take(share) {
                    prefetch(&src[next.clone()]);
                }
                limb.dot_constants(&mut dst[tile.clone()], &tiles, column, below_2_52);
            }
        }
    }

    /// Whether no word has a bit above the 52 that some kernels multiply.
    fn all_below_2_52(&self, tiles: &[&[W]]) -> bool {
        if W::BITS <= 52 {
            return true;
        }
        let mut or = 0;
        run_wide(self.simd, Or { tiles, or: &mut or });
        or >> 52 == 0
    }

    /// The automorphism x -> x^k in evaluation domain, for any prime; with an
    /// offset, what it does to a part.
    ///
    /// # Panics
    /// Also if k is even.
    pub fn aut_eval(&self, map: impl Into<Automorphism>, dst: &mut [W], src: &[W]) {
        self.check(&[dst, src]);
        let map = self.map(map.into());
        match self.limbs.first() {
            Some(limb) => limb.permute(dst, src, map),
            None => automorphism::evaluations(map, dst, |at| src[at]),
        }
    }

    /// The automorphism x -> x^k of `a + b`, in evaluation domain.
    ///
    /// # Panics
    /// Also if k is even.
    pub fn aut_eval_of_sum(
        &self,
        m: usize,
        map: impl Into<Automorphism>,
        dst: &mut [W],
        a: &[W],
        b: &[W],
    ) {
        self.check(&[dst, a, b]);
        self.limb(m).permute_sum(dst, a, b, self.map(map.into()));
    }

    /// The automorphism x -> x^k in coefficient domain.
    ///
    /// # Panics
    /// Also if k is even.
    pub fn aut_coeff(&self, m: usize, k: u32, dst: &mut [W], src: &[W]) {
        self.check(&[dst, src]);
        automorphism::coefficients(self.arithmetic(m), self.exponent(k), dst, src);
    }

    fn limb(&self, m: usize) -> &dyn Backend<W> {
        &*self.limbs[m]
    }

    fn check(&self, slices: &[&[W]]) {
        for slice in slices {
            assert_eq!(slice.len(), self.n(), "a limb has N words");
        }
    }

    /// Slices of one length, N or a shorter multiple of [`STRIP_WORDS`].
    fn check_strips(&self, slices: &[&[W]]) {
        let len = slices[0].len();
        assert!(
            len == self.n() || (len.is_multiple_of(STRIP_WORDS) && len < self.n()),
            "a limb has N words, a strip of one a multiple of {STRIP_WORDS}"
        );
        for slice in slices {
            assert_eq!(slice.len(), len, "slices of one length");
        }
    }

    /// The exponent mod 2N, the offset mod N.
    fn map(&self, map: Automorphism) -> Automorphism {
        Automorphism {
            k: self.exponent(map.k),
            offset: map.offset & (self.n() as u32 - 1),
        }
    }

    /// The exponent k mod 2N.
    fn exponent(&self, k: u32) -> u32 {
        assert!(k % 2 == 1, "x -> x^{k} is no automorphism: k must be odd");
        k & (2 * self.n() as u32 - 1)
    }
}

impl<W: Word> std::fmt::Debug for Ring<W> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let moduli: Vec<u64> = (0..self.limbs.len()).map(|m| self.modulus(m)).collect();
        f.debug_struct("Ring")
            .field("log_n", &self.log_n)
            .field("log_parts", &self.log_parts)
            .field("word_bits", &W::BITS)
            .field("simd", &self.simd)
            .field("moduli", &moduli)
            .finish()
    }
}

/// The bitwise or of all words.
struct Or<'a, W> {
    tiles: &'a [&'a [W]],
    or: &'a mut u64,
}

impl<W: Word> Kernel for Or<'_, W> {
    #[inline(always)]
    fn run(self) {
        for tile in self.tiles {
            *self.or |= tile.iter().fold(0, |or, word| or | word.to_u64());
        }
    }
}

fn check_prime<W: Word>(q: u64, log_n: u32) -> Result<(), RingError> {
    let order = 2u64 << log_n;
    if q >> W::MODULUS_BITS != 0 {
        return Err(RingError::ModulusTooLarge {
            modulus: q,
            word_bits: W::BITS,
            max_bits: W::MODULUS_BITS,
        });
    }
    if !is_prime(q) {
        return Err(RingError::NotPrime { modulus: q });
    }
    if q % order != 1 {
        return Err(RingError::NoRootOfUnity { modulus: q, order });
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::limb_buf::LimbBuf;

    /// Small enough for an interpreter that looks for undefined behaviour.
    fn smallest_ring<W: Word>() {
        let ring = Ring::<W>::new(4, &[97, 193], Simd::Scalar).expect("primes = 1 mod 32");
        let [mut x, mut y]: [LimbBuf<W>; 2] = [LimbBuf::zeroed(16), LimbBuf::zeroed(16)];
        (x[1], y[15]) = (W::from_u64(1), W::from_u64(1));
        ring.ntt_in_place(0, &mut x);
        ring.ntt_in_place(0, &mut y);
        let mut product = LimbBuf::zeroed(16);
        ring.mul(0, &mut product, &x, &y);
        ring.intt_in_place(0, &mut product);
        // x * x^15 = -1; then modulo the other prime; then x -> x^3.
        assert_eq!(product[0].to_u64(), 96);
        let mut converted = LimbBuf::zeroed(16);
        ring.bconv(&[1], &mut [&mut converted[..]], &[&product], &[5]);
        assert_eq!(converted[0].to_u64(), 5 * 96 % 193);
        ring.aut_eval(3, &mut y, &x);
        ring.intt_in_place(0, &mut y);
        assert_eq!(y[3].to_u64(), 1);
    }

    #[test]
    fn smallest_ring_multiplies_converts_and_permutes() {
        smallest_ring::<u32>();
        smallest_ring::<u64>();
    }
}
