//! Discrete Fourier transforms of complex numbers, in f64.
//!
//! Radix 2, in place: decimation in time from bit-reversed order, decimation in
//! frequency to it. The three layers whose butterflies span less than a vector
//! run on transposed blocks of 64 numbers, the others two at a time, so that
//! the numbers pass through registers as seldom as they can. None of that
//! changes what is added to and multiplied by what: every number goes through
//! the same roundings on every path.

use cyclotron_ring::Kernel;

use super::canonical_embedding::Complex;

/// Numbers that are handled together.
const LANES: usize = 8;

type Lane = [f64; LANES];

/// Complex numbers as two arrays.
#[derive(Debug, Clone, Default)]
pub(super) struct Split {
    pub(super) re: Vec<f64>,
    pub(super) im: Vec<f64>,
}

impl Split {
    pub(super) fn zeroed(n: usize) -> Self {
        Self {
            re: vec![0.0; n],
            im: vec![0.0; n],
        }
    }

    pub(super) fn collect(values: impl Iterator<Item = Complex>) -> Self {
        let (re, im) = values.map(|z| (z.re, z.im)).unzip();
        Self { re, im }
    }
}

/// `X_u = sum_k x_k exp(-2 pi i u k / h)`, from bit-reversed to natural order.
/// `roots` holds, for each half-length m = 1, 2, .. h/2, the roots
/// `exp(2 pi i j / 2m)`, j < m, at offset m - 1.
pub(super) struct FromReversed<'a> {
    pub(super) roots: &'a Split,
    pub(super) x: &'a mut Split,
}

/// `X_u = sum_k x_k exp(2 pi i u k / h)`, from natural to bit-reversed order.
pub(super) struct ToReversed<'a> {
    pub(super) roots: &'a Split,
    pub(super) x: &'a mut Split,
}

/// Eight complex numbers.
#[derive(Clone, Copy)]
struct C {
    re: Lane,
    im: Lane,
}

#[inline(always)]
fn add(a: Lane, b: Lane) -> Lane {
    let mut sum = a;
    for i in 0..LANES {
        sum[i] = a[i] + b[i];
    }
    sum
}

#[inline(always)]
fn sub(a: Lane, b: Lane) -> Lane {
    let mut difference = a;
    for i in 0..LANES {
        difference[i] = a[i] - b[i];
    }
    difference
}

#[inline(always)]
fn mul(a: Lane, b: Lane) -> Lane {
    let mut product = a;
    for i in 0..LANES {
        product[i] = a[i] * b[i];
    }
    product
}

impl C {
    #[inline(always)]
    fn splat(z: (f64, f64)) -> Self {
        Self {
            re: [z.0; LANES],
            im: [z.1; LANES],
        }
    }

    #[inline(always)]
    fn add(self, other: Self) -> Self {
        Self {
            re: add(self.re, other.re),
            im: add(self.im, other.im),
        }
    }

    #[inline(always)]
    fn sub(self, other: Self) -> Self {
        Self {
            re: sub(self.re, other.re),
            im: sub(self.im, other.im),
        }
    }

    #[inline(always)]
    fn mul(self, w: Self) -> Self {
        Self {
            re: sub(mul(self.re, w.re), mul(self.im, w.im)),
            im: add(mul(self.re, w.im), mul(self.im, w.re)),
        }
    }

    #[inline(always)]
    fn mul_conjugate(self, w: Self) -> Self {
        Self {
            re: add(mul(self.re, w.re), mul(self.im, w.im)),
            im: sub(mul(self.im, w.re), mul(self.re, w.im)),
        }
    }
}

/// A direction of the transform: what it does to two numbers.
trait Butterfly {
    fn run(a: C, b: C, w: C) -> (C, C);
}

/// `(a, b) -> (a + b conj(w), a - b conj(w))`
struct Time;

impl Butterfly for Time {
    #[inline(always)]
    fn run(a: C, b: C, w: C) -> (C, C) {
        let t = b.mul_conjugate(w);
        (a.add(t), a.sub(t))
    }
}

/// `(a, b) -> (a + b, (a - b) w)`
struct Frequency;

impl Butterfly for Frequency {
    #[inline(always)]
    fn run(a: C, b: C, w: C) -> (C, C) {
        (a.add(b), a.sub(b).mul(w))
    }
}

/// Vectors of a range of numbers.
struct Vectors<'a> {
    re: &'a mut [Lane],
    im: &'a mut [Lane],
}

impl<'a> Vectors<'a> {
    #[inline(always)]
    fn of(x: &'a mut Split) -> Self {
        Self {
            re: x.re.as_chunks_mut().0,
            im: x.im.as_chunks_mut().0,
        }
    }

    #[inline(always)]
    fn split_at(self, at: usize) -> (Self, Self) {
        let (re, re_after) = self.re.split_at_mut(at);
        let (im, im_after) = self.im.split_at_mut(at);
        (
            Self { re, im },
            Self {
                re: re_after,
                im: im_after,
            },
        )
    }

    #[inline(always)]
    fn get(&self, i: usize) -> C {
        C {
            re: self.re[i],
            im: self.im[i],
        }
    }

    #[inline(always)]
    fn set(&mut self, i: usize, c: C) {
        self.re[i] = c.re;
        self.im[i] = c.im;
    }
}

/// The roots of half-length `m`, from number `from` on, as vectors.
#[inline(always)]
fn roots_of(roots: &Split, m: usize, from: usize, count: usize) -> (&[Lane], &[Lane]) {
    let range = m - 1 + from..m - 1 + from + count;
    (
        roots.re[range.clone()].as_chunks().0,
        roots.im[range].as_chunks().0,
    )
}

/// One layer of half-length `m`, a multiple of [`LANES`].
#[inline(always)]
fn layer<B: Butterfly>(roots: &Split, x: &mut Split, m: usize) {
    let (re, im) = roots_of(roots, m, 0, m);
    let count = m / LANES;
    let mut rest = Vectors::of(x);
    while rest.re.len() >= 2 * count {
        let (block, after) = rest.split_at(2 * count);
        let (mut a, mut b) = block.split_at(count);
        for i in 0..count {
            let w = C {
                re: re[i],
                im: im[i],
            };
            let (sum, difference) = B::run(a.get(i), b.get(i), w);
            a.set(i, sum);
            b.set(i, difference);
        }
        rest = after;
    }
}

/// The layers of half-lengths `m`, a multiple of [`LANES`], and 2m; in this
/// order if `UP`, else the larger first.
#[inline(always)]
fn two_layers<B: Butterfly, const UP: bool>(roots: &Split, x: &mut Split, m: usize) {
    let count = m / LANES;
    let (inner_re, inner_im) = roots_of(roots, m, 0, m);
    let (low_re, low_im) = roots_of(roots, 2 * m, 0, m);
    let (high_re, high_im) = roots_of(roots, 2 * m, m, m);
    let mut rest = Vectors::of(x);
    while rest.re.len() >= 4 * count {
        let (block, after) = rest.split_at(4 * count);
        let (first, second) = block.split_at(2 * count);
        let ((mut a, mut b), (mut c, mut d)) = (first.split_at(count), second.split_at(count));
        for i in 0..count {
            let inner = C {
                re: inner_re[i],
                im: inner_im[i],
            };
            let low = C {
                re: low_re[i],
                im: low_im[i],
            };
            let high = C {
                re: high_re[i],
                im: high_im[i],
            };
            let mut v = [a.get(i), b.get(i), c.get(i), d.get(i)];
            if UP {
                (v[0], v[1]) = B::run(v[0], v[1], inner);
                (v[2], v[3]) = B::run(v[2], v[3], inner);
            }
            (v[0], v[2]) = B::run(v[0], v[2], low);
            (v[1], v[3]) = B::run(v[1], v[3], high);
            if !UP {
                (v[0], v[1]) = B::run(v[0], v[1], inner);
                (v[2], v[3]) = B::run(v[2], v[3], inner);
            }
            a.set(i, v[0]);
            b.set(i, v[1]);
            c.set(i, v[2]);
            d.set(i, v[3]);
        }
        rest = after;
    }
}

#[inline(always)]
fn transposed(rows: [Lane; LANES]) -> [Lane; LANES] {
    let mut columns = rows;
    for i in 0..LANES {
        for j in 0..LANES {
            columns[i][j] = rows[j][i];
        }
    }
    columns
}

/// The layers of half-lengths 1, 2 and 4; in this order if `UP`, else reversed.
#[inline(always)]
fn small_layers<B: Butterfly, const UP: bool>(roots: &Split, x: &mut Split) {
    let re = x.re.as_chunks_mut::<LANES>().0.as_chunks_mut::<LANES>().0;
    let im = x.im.as_chunks_mut::<LANES>().0.as_chunks_mut::<LANES>().0;
    for (re, im) in re.iter_mut().zip(im) {
        let (mut tr, mut ti) = (transposed(*re), transposed(*im));
        for step in 0..3 {
            let m = if UP { 1 << step } else { 4 >> step };
            for pair in 0..LANES / 2 {
                let (j, at) = (pair % m, pair / m * 2 * m + pair % m);
                let w = C::splat((roots.re[m - 1 + j], roots.im[m - 1 + j]));
                let [a, b] = [at, at + m].map(|at| C {
                    re: tr[at],
                    im: ti[at],
                });
                let (sum, difference) = B::run(a, b, w);
                (tr[at], ti[at]) = (sum.re, sum.im);
                (tr[at + m], ti[at + m]) = (difference.re, difference.im);
            }
        }
        (*re, *im) = (transposed(tr), transposed(ti));
    }
}

/// One layer of any half-length, for transforms too short for vectors.
#[inline(always)]
fn short_layer<B: Butterfly>(roots: &Split, x: &mut Split, m: usize) {
    let h = x.re.len();
    for at in (0..h).filter(|at| at & m == 0) {
        let w = C::splat((roots.re[m - 1 + at % m], roots.im[m - 1 + at % m]));
        let a = C::splat((x.re[at], x.im[at]));
        let b = C::splat((x.re[at + m], x.im[at + m]));
        let (sum, difference) = B::run(a, b, w);
        (x.re[at], x.im[at]) = (sum.re[0], sum.im[0]);
        (x.re[at + m], x.im[at + m]) = (difference.re[0], difference.im[0]);
    }
}

/// Transforms shorter than this are not worth vectors.
const SHORT: usize = LANES * LANES;

impl Kernel for FromReversed<'_> {
    #[inline(always)]
    fn run(self) {
        let h = self.x.re.len();
        if h < SHORT {
            let mut m = 1;
            while m < h {
                short_layer::<Time>(self.roots, self.x, m);
                m *= 2;
            }
            return;
        }
        small_layers::<Time, true>(self.roots, self.x);
        let mut m = LANES;
        if (h / LANES).ilog2() % 2 == 1 {
            layer::<Time>(self.roots, self.x, m);
            m *= 2;
        }
        while m < h {
            two_layers::<Time, true>(self.roots, self.x, m);
            m *= 4;
        }
    }
}

impl Kernel for ToReversed<'_> {
    #[inline(always)]
    fn run(self) {
        let h = self.x.re.len();
        let mut m = h;
        if h < SHORT {
            while m > 1 {
                m /= 2;
                short_layer::<Frequency>(self.roots, self.x, m);
            }
            return;
        }
        while m >= 4 * LANES {
            m /= 4;
            two_layers::<Frequency, false>(self.roots, self.x, m);
        }
        if m == 2 * LANES {
            layer::<Frequency>(self.roots, self.x, LANES);
        }
        small_layers::<Frequency, false>(self.roots, self.x);
    }
}
