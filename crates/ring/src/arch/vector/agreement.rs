//! Every back end that this processor can run, also those that a ring
//! would not choose here, against the scalar definition.

use super::backend::{wide32, word32, word52, word61, word64};
use crate::arch::avx2::Avx2;
use crate::arch::avx512::Avx512;
use crate::arch::scalar::Scalar;
use crate::arch::{Backend, NttEntry, NttExit, Pair};
use crate::automorphism::Automorphism;
use crate::limb_buf::LimbBuf;
use crate::modulus::Modulus;
use crate::prf::{Seed, stream};
use crate::primes::{nearest_prime, ntt_primes};
use crate::sampler::uniform;
use crate::twiddles::Root;
use crate::word::Word;

/// An interpreter takes the least degree of 256-bit vectors, to finish.
const LOG_N: u32 = if cfg!(miri) { 7 } else { 10 };
const N: usize = 1 << LOG_N;
/// An automorphism of a part.
const MAP: Automorphism = Automorphism {
    k: 2 * N as u32 - 5,
    offset: N as u32 / 3,
};

/// Words below `bound` with the edges sprinkled in.
fn words<W: Word>(bound: u64, edges: &[u64], seed: u64) -> LimbBuf<W> {
    let mut prf = stream(&Seed::for_test(seed), "agreement", &[bound]);
    let mut words = LimbBuf::zeroed(N);
    uniform(&mut prf, bound, &mut words);
    for word in words.iter_mut() {
        if let Some(&edge) = edges.get(prf.below(3 * edges.len() as u64) as usize) {
            *word = W::from_u64(edge);
        }
    }
    words
}

fn residues<W: Word>(q: u64, seed: u64) -> LimbBuf<W> {
    words(q, &[0, 1, q / 2, q - 2, q - 1], seed)
}

fn any_words<W: Word>(q: u64, seed: u64) -> LimbBuf<W> {
    let top = u64::MAX >> (64 - W::BITS);
    words(top, &[0, q - 1, q, 2 * q - 1, (4 * q - 1) & top, top], seed)
}

/// Words that barely exceed what kernels take without reducing: 52 bits, or a
/// few times q.
fn barely_wide<W: Word>(q: u64, seed: u64) -> LimbBuf<W> {
    let top = u64::MAX >> (64 - W::BITS);
    let edge = if (1 << 40..1 << 50).contains(&q) {
        1 << 53
    } else {
        q.saturating_mul(12)
    };
    words(
        edge.min(top),
        &[(edge / 2).min(top), (edge - 1).min(top)],
        seed,
    )
}

/// A kernel's result, from a destination with something in it.
fn result<W: Word>(kernel: impl Fn(&mut [W])) -> LimbBuf<W> {
    let mut dst: LimbBuf<W> = std::iter::repeat_n(W::from_u64(3), N).collect();
    kernel(&mut dst);
    dst
}

fn agree<W: Word>(backend: &dyn Backend<W>, scalar: &dyn Backend<W>) {
    let q = scalar.modulus().value();
    let (a, b, c) = (residues::<W>(q, 1), residues::<W>(q, 2), q / 3);
    let (x, y) = (any_words::<W>(q, 3), any_words::<W>(q, 4));
    let (z, t) = (barely_wide::<W>(q, 5), barely_wide::<W>(q, 6));
    let pairs: [Pair<'_, W>; 3] = [(&x, &y), (&a, &x), (&y, &y)];
    let sources: [&[W]; 3] = [&x, &y, &a];
    let low = a
        .iter()
        .chain(b.iter())
        .all(|word| word.to_u64() >> 52 == 0);
    let results = [backend, scalar].map(|kernels| {
        let constants = [q - 1, 1, c].map(|constant| kernels.prepare(constant));
        vec![
            result(|d| kernels.ntt(d, Some(&x))),
            result(|d| kernels.ntt(d, Some(&a))),
            result(|d| kernels.intt(d, Some(&a))),
            result(|d| kernels.add(d, &a, &b)),
            result(|d| kernels.sub(d, &a, &b)),
            result(|d| kernels.neg(d, &a)),
            result(|d| kernels.add_c(d, &a, c)),
            result(|d| kernels.mul(d, &x, &y)),
            result(|d| kernels.mul_c(d, &x, c)),
            result(|d| kernels.mac(d, &a, &x, &y)),
            result(|d| kernels.msub(d, &a, &x, &y)),
            result(|d| kernels.sub_mul_c(d, &a, &b, c)),
            result(|d| kernels.dot(d, &pairs)),
            result(|d| kernels.dot_constants(d, &sources, &constants, false)),
            result(|d| kernels.dot_constants(d, &[&a, &b], &constants[..2], low)),
            result(|d| kernels.permute(d, &x, MAP)),
            result(|d| kernels.permute_sum(d, &a, &b, MAP)),
            result(|d| {
                d.copy_from_slice(&a);
                kernels.add_in_place(d, &b);
            }),
            result(|d| kernels.ntt(d, Some(&z))),
            result(|d| {
                let exit = NttExit::SubMulC { minuend: &b, c };
                kernels.ntt_with(d, Some(&z), NttEntry { add_c: q - 1 }, exit);
            }),
            result(|d| kernels.intt_with(d, Some(&a), c, q - 1)),
            result(|d| kernels.mul(d, &z, &t)),
            result(|d| kernels.mul_c(d, &z, c)),
            result(|d| kernels.dot(d, &[(&a, &z), (&t, &b)])),
            result(|d| kernels.dot_constants(d, &[&z, &t], &constants[..2], false)),
        ]
    });
    for (kernel, (ours, theirs)) in results[0].iter().zip(&results[1]).enumerate() {
        assert_eq!(
            **ours,
            **theirs,
            "{}: kernel {kernel} modulo {q}",
            backend.name()
        );
    }
}

/// The largest primes of each size in bits, and the least one.
fn moduli(bits: &[u32]) -> Vec<Modulus> {
    let step = 2 * N as u64;
    let mut primes: Vec<u64> = bits
        .iter()
        .flat_map(|&bits| ntt_primes(1 << bits, step, 2))
        .collect();
    if cfg!(miri) {
        // The largest of two sizes.
        return primes
            .into_iter()
            .rev()
            .skip(1)
            .step_by(4)
            .take(2)
            .map(Modulus::new)
            .collect();
    }
    primes.extend(nearest_prime(0.0, step, 1 << 32, &[]));
    primes.into_iter().map(Modulus::new).collect()
}

#[test]
fn all_32_bit_back_ends_agree() {
    for modulus in moduli(&[14, 20, 28, 29, 30, 31, 32]) {
        let root = Root::least(&modulus, LOG_N);
        let scalar = Scalar::<u32>::new(modulus, root);
        let backends = [
            Avx2::new().and_then(|isa| word32(isa, modulus, root)),
            Avx512::<false>::new().and_then(|isa| word32(isa, modulus, root)),
            Avx512::<true>::new().and_then(|isa| word32(isa, modulus, root)),
            Avx512::<true>::new().and_then(|isa| wide32(isa, modulus, root)),
        ];
        for backend in backends.into_iter().flatten() {
            agree(&*backend, &scalar);
        }
    }
}

#[test]
fn all_64_bit_back_ends_agree() {
    for modulus in moduli(&[14, 30, 40, 47, 48, 49, 50, 51, 52, 55, 60, 61]) {
        let root = Root::least(&modulus, LOG_N);
        let scalar = Scalar::<u64>::new(modulus, root);
        let backends = [
            Avx2::new().and_then(|isa| word64(isa, modulus, root)),
            Avx512::<false>::new().and_then(|isa| word64(isa, modulus, root)),
            Avx512::<true>::new().and_then(|isa| word64(isa, modulus, root)),
            Avx512::<true>::new().and_then(|isa| word52(isa, modulus, root)),
            Avx512::<true>::new().and_then(|isa| word61(isa, modulus, root)),
        ];
        for backend in backends.into_iter().flatten() {
            agree(&*backend, &scalar);
        }
    }
}
