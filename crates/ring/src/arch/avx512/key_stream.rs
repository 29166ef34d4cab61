//! ChaCha20 (RFC 8439), sixteen blocks side by side: vector i holds word i of
//! every block.

use std::arch::x86_64::*;

use super::Avx512;

/// Bytes of sixteen blocks.
pub const BATCH_BYTES: usize = 1024;

/// The first words of every block.
const CONSTANTS: [u32; 4] = [0x6170_7865, 0x3320_646e, 0x7962_2d32, 0x6b20_6574];

impl Avx512<false> {
    /// Writes the key stream from block `counter` on, with a zero nonce.
    /// Counters wrap at 2^32.
    pub fn key_stream(self, key: &[u32; 8], counter: u32, dest: &mut [[u8; BATCH_BYTES]]) {
        // SAFETY: the token proves that the processor has the instructions.
        unsafe { key_stream(key, counter, dest) }
    }
}

/// The quarter round on four of the state's words.
macro_rules! quarter {
    ($x:ident, $a:literal, $b:literal, $c:literal, $d:literal) => {
        $x[$a] = _mm512_add_epi32($x[$a], $x[$b]);
        $x[$d] = _mm512_rol_epi32::<16>(_mm512_xor_si512($x[$d], $x[$a]));
        $x[$c] = _mm512_add_epi32($x[$c], $x[$d]);
        $x[$b] = _mm512_rol_epi32::<12>(_mm512_xor_si512($x[$b], $x[$c]));
        $x[$a] = _mm512_add_epi32($x[$a], $x[$b]);
        $x[$d] = _mm512_rol_epi32::<8>(_mm512_xor_si512($x[$d], $x[$a]));
        $x[$c] = _mm512_add_epi32($x[$c], $x[$d]);
        $x[$b] = _mm512_rol_epi32::<7>(_mm512_xor_si512($x[$b], $x[$c]));
    };
}

#[target_feature(enable = "avx512f")]
fn key_stream(key: &[u32; 8], counter: u32, dest: &mut [[u8; BATCH_BYTES]]) {
    let lanes = _mm512_set_epi32(15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0);
    let mut start = [_mm512_setzero_si512(); 16];
    for (vector, word) in start.iter_mut().zip(CONSTANTS.iter().chain(key)) {
        *vector = _mm512_set1_epi32(*word as i32);
    }
    start[12] = _mm512_add_epi32(_mm512_set1_epi32(counter as i32), lanes);
    for batch in dest {
        let mut x = start;
        for _ in 0..10 {
            quarter!(x, 0, 4, 8, 12);
            quarter!(x, 1, 5, 9, 13);
            quarter!(x, 2, 6, 10, 14);
            quarter!(x, 3, 7, 11, 15);
            quarter!(x, 0, 5, 10, 15);
            quarter!(x, 1, 6, 11, 12);
            quarter!(x, 2, 7, 8, 13);
            quarter!(x, 3, 4, 9, 14);
        }
        for (x, start) in x.iter_mut().zip(&start) {
            *x = _mm512_add_epi32(*x, *start);
        }
        let (blocks, _) = batch.as_chunks_mut::<64>();
        for (block, vector) in blocks.iter_mut().zip(transposed(x)) {
            // SAFETY: a block has 64 bytes; the store needs no alignment.
            unsafe { _mm512_storeu_si512(block.as_mut_ptr().cast(), vector) }
        }
        start[12] = _mm512_add_epi32(start[12], _mm512_set1_epi32(16));
    }
}

/// Word i of lane j to word j of lane i.
#[inline]
#[target_feature(enable = "avx512f")]
fn transposed(x: [__m512i; 16]) -> [__m512i; 16] {
    // rows[4 i + k] holds, in its quarter l, words 4 i .. 4 i + 4 of block 4 l + k.
    let mut rows = x;
    for (row, x) in rows
        .as_chunks_mut::<4>()
        .0
        .iter_mut()
        .zip(x.as_chunks::<4>().0)
    {
        let low = [
            _mm512_unpacklo_epi32(x[0], x[1]),
            _mm512_unpacklo_epi32(x[2], x[3]),
        ];
        let high = [
            _mm512_unpackhi_epi32(x[0], x[1]),
            _mm512_unpackhi_epi32(x[2], x[3]),
        ];
        *row = [
            _mm512_unpacklo_epi64(low[0], low[1]),
            _mm512_unpackhi_epi64(low[0], low[1]),
            _mm512_unpacklo_epi64(high[0], high[1]),
            _mm512_unpackhi_epi64(high[0], high[1]),
        ];
    }
    let mut blocks = rows;
    for k in 0..4 {
        let first = [
            _mm512_shuffle_i32x4::<0x44>(rows[k], rows[4 + k]),
            _mm512_shuffle_i32x4::<0x44>(rows[8 + k], rows[12 + k]),
        ];
        let last = [
            _mm512_shuffle_i32x4::<0xee>(rows[k], rows[4 + k]),
            _mm512_shuffle_i32x4::<0xee>(rows[8 + k], rows[12 + k]),
        ];
        blocks[k] = _mm512_shuffle_i32x4::<0x88>(first[0], first[1]);
        blocks[4 + k] = _mm512_shuffle_i32x4::<0xdd>(first[0], first[1]);
        blocks[8 + k] = _mm512_shuffle_i32x4::<0x88>(last[0], last[1]);
        blocks[12 + k] = _mm512_shuffle_i32x4::<0xdd>(last[0], last[1]);
    }
    blocks
}
