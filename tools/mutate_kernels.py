"""Break the kernels of `ring`, one way at a time, and see whether its tests notice.

Each mutant is one change of the kind that a slip of the pen makes: a bound that is off by one,
a correction left out, a twiddle that is wrong at one degree. It is made in a copy of the sources,
never in the checkout. All mutants take some ten minutes; ``--list`` names them, arguments choose
those whose name contains one of them.
"""

from __future__ import annotations

import argparse
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parents[1]
COPY = ROOT / "target" / "mutants" / "sources"


class Mutant(NamedTuple):
    """One change: `old` stands exactly once in `file`, below the sources of `ring`."""

    name: str
    file: str
    old: str
    new: str


MUTANTS = [
    Mutant(
        "a conditional subtraction of 32-bit words is left out (AVX-512)",
        "arch/avx512/lanes32.rs",
        "_mm512_min_epu32(a, _mm512_sub_epi32(a, b))",
        "_mm512_min_epu32(a, _mm512_sub_epi32(a, _mm512_xor_si512(b, b)))",
    ),
    Mutant(
        "an equal 64-bit word is not subtracted (AVX-512)",
        "arch/avx512/lanes64.rs",
        "_mm512_mask_sub_epi64(a, _mm512_cmpge_epu64_mask(a, b), a, b)",
        "_mm512_mask_sub_epi64(a, _mm512_cmpgt_epu64_mask(a, b), a, b)",
    ),
    Mutant(
        "a value above half of 52 bits stays there (AVX-512)",
        "arch/avx512/lanes64.rs",
        "_mm512_mask_sub_epi64(a, _mm512_test_epi64_mask(a, mask), a, b)",
        "_mm512_mask_sub_epi64(a, _mm512_test_epi64_mask(a, mask) & 0x7f, a, b)",
    ),
    Mutant(
        "one lane of left partners stays positive (AVX-512)",
        "arch/avx512/lanes64.rs",
        "_mm512_mask_sub_epi64(a, _mm512_testn_epi64_mask(a, mask), a, b)",
        "_mm512_mask_sub_epi64(a, _mm512_testn_epi64_mask(a, mask) & 0xfe, a, b)",
    ),
    Mutant(
        "a carry is seen where a sum is equal (AVX-512)",
        "arch/avx512/lanes32.rs",
        "_mm512_cmplt_epu32_mask(sum, b)",
        "_mm512_cmple_epu32_mask(sum, b)",
    ),
    Mutant(
        "a bit of an even lane reaches the odd lane's product (IFMA)",
        "arch/avx512/lanes32.rs",
        "_mm512_set1_epi64((1 << 20) - 1)",
        "_mm512_set1_epi64((1 << 19) - 1)",
    ),
    Mutant(
        "an equal 32-bit word counts as less (AVX2)",
        "arch/avx2/lanes32.rs",
        "let at_least = _mm256_cmpeq_epi32(_mm256_max_epu32(a, b), a);",
        "let at_least = _mm256_andnot_si256(\n_mm256_cmpeq_epi32(a, b),\n"
        "_mm256_cmpeq_epi32(_mm256_max_epu32(a, b), a),\n);",
    ),
    Mutant(
        "words up to 4q enter where a constant is added (lazy32)",
        "arch/vector/lazy32.rs",
        "u32::MAX << (3 * q).ilog2()",
        "u32::MAX << (4 * q).ilog2()",
    ),
    Mutant(
        "words up to 2^52 enter where a constant is added (ifma52)",
        "arch/vector/ifma52.rs",
        "from_half: isa.splat(u64::MAX << 51)",
        "from_half: isa.splat(u64::MAX << 52)",
    ),
    Mutant(
        "a word counts as below 2q for primes above 2^30 (full32)",
        "arch/vector/full32.rs",
        "near_top: q > 1 << 31",
        "near_top: q > 1 << 30",
    ),
    Mutant(
        "more products are summed than fit (full32)",
        "arch/vector/full32.rs",
        "const TERMS_MAX: usize = 128;",
        "const TERMS_MAX: usize = 1 << 13;",
    ),
    Mutant(
        "more products are summed than fit (ifma52)",
        "arch/vector/ifma52.rs",
        "const TERMS_MAX: usize = 1 << 10;",
        "const TERMS_MAX: usize = 1 << 13;",
    ),
    Mutant(
        "a sum in the first stage of a pass is corrected by too little (wide32)",
        "arch/vector/wide32.rs",
        "isa.add(sum, self.biases[carried])",
        "isa.add(sum, self.biases[carried.min(1)])",
    ),
    Mutant(
        "more products are summed than fit (ifma61)",
        "arch/vector/ifma61.rs",
        "const TERMS_MAX: usize = 1 << 9;",
        "const TERMS_MAX: usize = 1 << 13;",
    ),
    Mutant(
        "the upper bits of a quotient are left out (ifma61)",
        "arch/vector/ifma61.rs",
        "let high = isa.madd_high(high, t, self.q_high);",
        "",
    ),
    Mutant(
        "one product of halves is left out of a quotient (shoup64)",
        "arch/vector/shoup64.rs",
        "isa.high32(isa.mul_low32(x, w.companion_high)),",
        "isa.zero(),",
    ),
    Mutant(
        "one twiddle is wrong, at N = 2^15 only",
        "twiddles.rs",
        "let n_inverse = modulus.inv(n as u64);",
        "if log_n == 15 {\n(factors[n - 1], companions[n - 1]) = (factors[n - 2], "
        "companions[n - 2]);\n}\nlet n_inverse = modulus.inv(n as u64);",
    ),
    Mutant(
        "halves of an inverse stage take each other's twiddles",
        "arch/vector/passes.rs",
        "1 (0 [0 2] [1 3]) (1 [4 6] [5 7]);\n    ],\n    [[0 4] [1 5] [2 6] [3 7]]);",
        "1 (1 [0 2] [1 3]) (0 [4 6] [5 7]);\n    ],\n    [[0 4] [1 5] [2 6] [3 7]]);",
    ),
    Mutant(
        "an automorphism reads the neighbouring block",
        "automorphism.rs",
        "let h = k * reverse_short(block, block_bits) + (k - 1) / 2;",
        "let h = k * reverse_short(block, block_bits) + k.div_ceil(2);",
    ),
    Mutant(
        "a sum of 128 bits wraps (scalar)",
        "arch/scalar/inner_product.rs",
        ".unwrap_or_else(|| u128::from(modulus.reduce_wide(sum)) + product)",
        ".unwrap_or_else(|| sum.wrapping_add(product))",
    ),
]


def copy() -> None:
    """Bring the copy of the sources up to date."""
    command = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    listed = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout
    for name in filter(None, listed.split("\0")):
        source, target = ROOT / name, COPY / name
        if source.is_file() and not (
            target.is_file() and target.read_bytes() == source.read_bytes()
        ):
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(source, target)


def tests() -> tuple[bool, str]:
    """Run the tests of the copy: whether they pass, and which failed first or what was said."""
    environment = {
        "CARGO_TARGET_DIR": str(COPY.parent / "build"),
        "CARGO_PROFILE_DEV_OPT_LEVEL": "1",
        "CARGO_PROFILE_DEV_DEBUG": "0",
    }
    command = ["cargo", "test", "-p", "cyclotron-ring", "--lib", "--tests", "--no-fail-fast"]
    run = subprocess.run(
        command,
        cwd=COPY,
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
        check=False,
    )
    if run.returncode == 0:
        return True, ""
    failed = sorted(set(re.findall(r"^test (\S+) .*FAILED$", run.stdout, re.MULTILINE)))
    if not failed:
        raise SystemExit(f"the tests did not run:\n{run.stderr}")
    return False, ", ".join(failed)


def main() -> int:
    """Run from the command line."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("name", nargs="*", help="part of the names of the mutants")
    parser.add_argument("--list", action="store_true", help="print the names only")
    options = parser.parse_args()
    names: list[str] = options.name or [""]
    chosen = [mutant for mutant in MUTANTS if any(part in mutant.name for part in names)]
    if options.list:
        print("\n".join(mutant.name for mutant in chosen))
        return 0
    copy()
    missed = 0
    for mutant in chosen:
        path = COPY / "crates" / "ring" / "src" / mutant.file
        text = path.read_text()
        if text.count(mutant.old) != 1:
            raise SystemExit(f"{mutant.file} does not hold once: {mutant.old}")
        path.write_text(text.replace(mutant.old, mutant.new))
        try:
            passed, failed = tests()
        finally:
            path.write_text(text)
        missed += passed
        print(f"{mutant.name}: {'NOT NOTICED' if passed else 'noticed by ' + failed}", flush=True)
    return bool(missed)


if __name__ == "__main__":
    sys.exit(main())
