"""How to compile and run a program."""

from __future__ import annotations

from dataclasses import dataclass

from cyclotron import arguments
from cyclotron.errors import ProgramError, UsageError

#: More limbs than any program of a supported ring has.
MAX_LEVELS = 128
MAX_THREADS = 256


@dataclass(frozen=True)
class Options:
    """How to compile and run; every field has a command-line option of its name.

    Attributes
    ----------
    on
        ``"cpu"``, a shipped machine or a path to a machine's TOML file.
    overlays
        Variants of the machine to apply, in order.
    seed
        Makes keys and encryption repeatable, for tests and comparisons only;
        fresh randomness of the operating system when None. A whole number from 0.
    threads
        CPU threads of a run, at most 256; all cores when 0. Compiling takes all cores, or
        as many threads as the environment variable ``RAYON_NUM_THREADS`` says.
    security
        Bits of security to choose parameters for: 128, 192 or 256.
    allow_insecure
        The reason why parameters with less may be used.
    keyswitch
        ``"listing1"`` or ``"hybrid"`` everywhere; chosen for each operation when None.
    faithful
        Key switching as F1 has it: ``"listing1"`` everywhere, with parameters for it,
        of more levels than the program says where it would not decrypt else.
    precision_bits, levels
        Override the program's: bits from 1 to 100, limbs from 1 to 128.
    effort
        Compile time against quality of the schedule: 0 (fastest) to 2.
    phase2
        How off-chip movement is planned: ``"greedy"``, or ``"csr"`` for code scheduling
        that minimizes register usage, which is what the first is compared with.

    Raises
    ------
    UsageError
        For a field of the wrong type or outside its range, and for options that
        contradict each other.
    """

    on: str = "cpu"
    overlays: tuple[str, ...] = ()
    seed: int | None = None
    threads: int = 0
    security: int = 128
    allow_insecure: str | None = None
    keyswitch: str | None = None
    faithful: bool = False
    precision_bits: float | None = None
    levels: int | None = None
    effort: int = 1
    phase2: str = "greedy"

    def __post_init__(self) -> None:
        """Check every field."""
        try:
            self._check()
        except ProgramError as error:
            raise UsageError(str(error)) from None
        if self.faithful and self.keyswitch not in (None, "listing1"):
            raise UsageError(
                f"faithful key switching is listing1, not {self.keyswitch}; give one of the two"
            )

    def _check(self) -> None:
        if not isinstance(self.on, str):
            raise UsageError(
                f'on is {self.on!r}; use "cpu", the name of a machine or the path of its TOML file'
            )
        overlays: object = self.overlays
        right = isinstance(overlays, (list, tuple)) and all(isinstance(o, str) for o in overlays)
        if not right:
            raise UsageError(f"overlays are {self.overlays!r}; use a tuple of names")
        if self.seed is not None:
            arguments.whole(self.seed, "seed", 0, 2**64 - 1)
        arguments.whole(self.threads, "threads", 0, MAX_THREADS)
        if isinstance(self.security, float) or self.security not in (128, 192, 256):
            raise UsageError(f"security is {self.security!r}; use 128, 192 or 256")
        if self.keyswitch not in (None, "listing1", "hybrid"):
            raise UsageError(f'keyswitch is {self.keyswitch!r}; use "listing1", "hybrid" or None')
        arguments.flag(self.faithful, "faithful")
        arguments.reason(self.allow_insecure)
        arguments.precision_bits(self.precision_bits)
        if self.levels is not None:
            arguments.whole(self.levels, "levels", 1, MAX_LEVELS)
        arguments.whole(self.effort, "effort", 0, 2)
        if self.phase2 not in ("greedy", "csr"):
            raise UsageError(f'phase2 is {self.phase2!r}; use "greedy" or "csr"')

    @property
    def variant(self) -> str | None:
        """The key-switch variant that everything uses, if there is one."""
        return "listing1" if self.faithful else self.keyswitch
