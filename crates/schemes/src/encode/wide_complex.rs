//! Complex numbers of 106 bits, and arrays of them.

use super::canonical_embedding::Complex;
use super::double_double::DoubleDouble;

/// A complex number of 106 bits.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct WideComplex {
    /// Real part.
    pub re: DoubleDouble,
    /// Imaginary part.
    pub im: DoubleDouble,
}

impl From<Complex> for WideComplex {
    fn from(z: Complex) -> Self {
        Self {
            re: z.re.into(),
            im: z.im.into(),
        }
    }
}

impl WideComplex {
    /// The nearest complex number of 53 bits.
    #[must_use]
    pub fn narrow(self) -> Complex {
        Complex::new(self.re.hi, self.im.hi)
    }

    /// Whether both parts are numbers.
    pub(crate) fn is_finite(self) -> bool {
        self.re.is_finite() && self.im.is_finite()
    }

    /// The sum.
    #[inline(always)]
    pub(super) fn add(self, other: Self) -> Self {
        Self {
            re: self.re.add(other.re),
            im: self.im.add(other.im),
        }
    }

    /// The difference.
    #[inline(always)]
    pub(super) fn sub(self, other: Self) -> Self {
        Self {
            re: self.re.sub(other.re),
            im: self.im.sub(other.im),
        }
    }

    /// The product.
    #[inline(always)]
    pub(super) fn mul(self, w: Self) -> Self {
        Self {
            re: self.re.mul(w.re).sub(self.im.mul(w.im)),
            im: self.im.mul(w.re).add(self.re.mul(w.im)),
        }
    }

    /// The product with the conjugate of w.
    #[inline(always)]
    pub(super) fn mul_conjugate(self, w: Self) -> Self {
        Self {
            re: self.re.mul(w.re).add(self.im.mul(w.im)),
            im: self.im.mul(w.re).sub(self.re.mul(w.im)),
        }
    }
}

/// Numbers in a block.
pub(super) const LANES: usize = 8;

/// Eight complex numbers, by part: loops over lanes run in vectors.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Block {
    re_hi: [f64; LANES],
    re_lo: [f64; LANES],
    im_hi: [f64; LANES],
    im_lo: [f64; LANES],
}

impl Block {
    /// One of the numbers.
    #[inline(always)]
    pub(super) fn get(&self, lane: usize) -> WideComplex {
        let part = |hi, lo| DoubleDouble { hi, lo };
        WideComplex {
            re: part(self.re_hi[lane], self.re_lo[lane]),
            im: part(self.im_hi[lane], self.im_lo[lane]),
        }
    }

    /// Replaces one of the numbers.
    #[inline(always)]
    pub(super) fn set(&mut self, lane: usize, z: WideComplex) {
        (self.re_hi[lane], self.re_lo[lane]) = (z.re.hi, z.re.lo);
        (self.im_hi[lane], self.im_lo[lane]) = (z.im.hi, z.im.lo);
    }
}

/// Complex numbers in blocks, the last of which may be partly used.
#[derive(Debug, Clone)]
pub(super) struct Blocks(pub(super) Vec<Block>);

impl Blocks {
    /// `n` zeros.
    pub(super) fn zeroed(n: usize) -> Self {
        Self(vec![Block::default(); n.div_ceil(LANES)])
    }

    /// These numbers.
    pub(super) fn collect(values: &[WideComplex]) -> Self {
        let mut blocks = Self::zeroed(values.len());
        for (i, &z) in values.iter().enumerate() {
            blocks.set(i, z);
        }
        blocks
    }

    /// Number `i`.
    #[inline(always)]
    pub(super) fn get(&self, i: usize) -> WideComplex {
        self.0[i / LANES].get(i % LANES)
    }

    /// Replaces number `i`.
    #[inline(always)]
    pub(super) fn set(&mut self, i: usize, z: WideComplex) {
        self.0[i / LANES].set(i % LANES, z);
    }
}
