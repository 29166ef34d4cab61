"""Homomorphic programs: a graph of operations, each with the Python line that wrote it.

`Program` is what F1's Listing 2 builds by hand and what the decorator
`cyclotron.program` builds by calling a function; its values are the handles of
`cyclotron.encrypted`.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from cyclotron import _native, arguments, binding, span
from cyclotron.encrypted import Encrypted, Plain, Taken
from cyclotron.errors import ProgramError, program_error
from cyclotron.slots import Slots
from cyclotron.wide import Inputs, Vector

if TYPE_CHECKING:
    from cyclotron.span import Span


@dataclass(frozen=True)
class Node:
    """One operation; ``op``, its arguments and attributes as the compiled module takes them."""

    op: str
    args: tuple[int, ...]
    span: Span
    name: str | None = None
    plain: int | None = None
    value: float | int | None = None
    steps: int | None = None
    scale_bits: float | None = None


@dataclass(frozen=True)
class PlainOperand:
    """A row of the program's table of plaintext operands; ``values`` is None for a run-time one."""

    name: str
    values: NDArray[Any] | None
    scale_bits: float | None
    length: int | None = None


@dataclass(frozen=True)
class Input:
    """An encrypted input: at most ``length`` values (all slots when None)."""

    name: str
    node: int
    length: int | None


@dataclass(frozen=True)
class Output:
    """A named result, and the slots that hold it (all when None)."""

    name: str
    node: int
    slots: tuple[int, ...] | None


class Program:
    """A homomorphic program under construction.

    Parameters
    ----------
    N
        Ring degree, a power of two from 1024 to 131072.
    scheme
        ``"bgv"`` (exact integers modulo ``t``) or ``"ckks"`` (approximate reals).
    t
        Plaintext modulus of BGV, a prime; 65537 unless given.
    name
        What reports call the program.
    precision_bits
        CKKS: bits of precision to plan for; the compiler's default when None.
    allow_insecure
        The reason why parameters below the security table may be used.
    tolerance
        CKKS: largest ``max|out - twin| / max|twin|`` that counts as a match.
    public_key
        Whether inputs are encrypted under the public key, by anybody, instead of the
        secret key: fresh noise is then larger by about log2(4N/3) / 2 bits.
    definition
        The line that errors about the program as a whole name; the caller's
        unless given.

    Examples
    --------
    >>> from cyclotron import Add, Mul, Program, Rotate
    >>> p = Program(N=1024)
    >>> x, y = p.Input(), p.Input()
    >>> z = p.Output(Add(Mul(x, y), Rotate(x, 1)), name="z")
    >>> p.twin({"input_0": [1, 2, 3], "input_1": [10, 10, 10]})["z"][:3]
    array([12, 23, 30])
    """

    def __init__(
        self,
        N: int = 16384,  # noqa: N803 - as F1's Listing 2 has it
        *,
        scheme: str = "bgv",
        t: int | None = None,
        name: str = "program",
        precision_bits: float | None = None,
        allow_insecure: str | None = None,
        tolerance: float = 2.0**-10,
        public_key: bool = False,
        definition: Span | None = None,
    ) -> None:
        if scheme == "bgv" and t is None:
            t = 65537
        #: Where nodes are written that no line of the user's writes: the inputs and
        #: outputs of a decorated function.
        self.definition = definition
        #: The line that made the program.
        self.written = self._here()
        with self._at_line():
            self.geometry = Slots.of(scheme, N, t)
            self.name = arguments.text(name, "name")
            self.precision_bits = arguments.precision_bits(precision_bits)
            self.allow_insecure = arguments.reason(allow_insecure)
            self.public_key = arguments.flag(public_key, "public_key")
            self.tolerance = arguments.number(tolerance, "tolerance", 0, math.inf)
        self.levels: int | None = None
        self.nodes: list[Node] = []
        self.plains: list[PlainOperand] = []
        self.inputs: dict[str, Input] = {}
        self.outputs: dict[str, Output] = {}
        self._constants: dict[tuple[bytes, float | None], int] = {}

    @property
    def N(self) -> int:  # noqa: N802 - as F1's Listing 2 has it
        """Ring degree."""
        return self.geometry.n

    @property
    def scheme(self) -> str:
        """``"bgv"`` or ``"ckks"``."""
        return self.geometry.scheme

    @property
    def t(self) -> int:
        """Plaintext modulus of BGV; 0 for CKKS."""
        return self.geometry.t

    @property
    def slots(self) -> int:
        """Number of values in a ciphertext."""
        return self.geometry.count

    @property
    def plain_inputs(self) -> dict[str, int | None]:
        """Names of the run-time plaintext inputs, and how many values each may have."""
        return {p.name: p.length for p in self.plains if p.values is None}

    # -- what a user writes -------------------------------------------------

    def Input(  # noqa: N802 - as F1's Listing 2 has it
        self,
        L: int | None = None,  # noqa: N803
        *,
        name: str | None = None,
        length: int | None = None,
        scale_bits: float | None = None,
    ) -> Encrypted:
        """Declare an encrypted input.

        Parameters
        ----------
        L
            Number of limbs that ciphertexts start with; the compiler chooses
            when it is left out. The same for all inputs of a program.
        name
            Name at run time; ``input_0``, ``input_1``, ... unless given.
        length
            How many values it has; all slots unless given.
        scale_bits
            CKKS: base-2 logarithm of the encoding's scale.
        """
        with self._at_line():
            if L is not None:
                self._set_levels(L)
            label = name if name is not None else f"input_{len(self.inputs)}"
            self._new_name(label)
            self._check_length(label, length)
            scale_bits = arguments.scale_bits(scale_bits)
        node = self.add_node("input", (), name=label, scale_bits=scale_bits)
        self.inputs[label] = Input(label, node, length)
        return Encrypted(self, node)

    def PlainInput(  # noqa: N802 - beside Input
        self, *, name: str, length: int | None = None, scale_bits: float | None = None
    ) -> Plain:
        """Declare a plaintext input whose values are given at run time."""
        with self._at_line():
            self._new_name(name)
            self._check_length(name, length)
            scale_bits = arguments.scale_bits(scale_bits)
        self.plains.append(PlainOperand(name, None, scale_bits, length))
        return Plain(None, scale_bits, program=self, index=len(self.plains) - 1)

    def Output(  # noqa: N802 - beside Input
        self,
        value: Encrypted | Taken | Sequence[Encrypted | Taken] | Mapping[str, Encrypted | Taken],
        *,
        name: str = "output",
    ) -> None:
        """Name a result; a list gives ``name_0``, ``name_1``, ..., a dict its own names."""
        if isinstance(value, Mapping):
            for key, item in value.items():
                self.Output(item, name=str(key))
            return
        if not isinstance(value, (Encrypted, Taken)) and isinstance(value, (list, tuple)):
            for position, item in enumerate(value):
                self.Output(item, name=f"{name}_{position}")
            return
        chosen = value if isinstance(value, Taken) else Taken(value, None)  # type: ignore[arg-type]
        with self._at_line():
            if not isinstance(chosen.value, Encrypted):
                raise ProgramError(
                    f"output {name!r} must be an encrypted value, not {type(chosen.value).__name__}"
                )
            self._own(chosen.value)
            if name in self.outputs:
                raise ProgramError(f"there are two outputs called {name!r}; give each its own name")
        node = self.add_node("output", (chosen.value.node,), name=name)
        self.outputs[name] = Output(name, node, chosen.slots)

    def twin(self, inputs: Inputs) -> dict[str, Any]:
        """Execute the program on cleartext; see `cyclotron.twin.execute`."""
        from cyclotron import twin  # noqa: PLC0415 - the twin reads this module's types

        return twin.execute(self, inputs)

    # -- what the handles of values call --------------------------------------

    def add_node(
        self,
        op: str,
        args: Iterable[int],
        *,
        name: str | None = None,
        plain: int | None = None,
        value: float | int | None = None,
        steps: int | None = None,
        scale_bits: float | None = None,
    ) -> int:
        """Append an operation written at the caller's line; return its number."""
        self.nodes.append(
            Node(op, tuple(args), self._here(), name, plain, value, steps, scale_bits)
        )
        return len(self.nodes) - 1

    def apply(self, op: str, left: Encrypted, right: object) -> Encrypted:
        """Append ``left op right`` for ``op`` in add, sub, mul and any operand."""
        with self._at_line():
            self._own(left)
            if isinstance(right, Encrypted):
                self._own(right)
                return Encrypted(self, self.add_node(op, (left.node, right.node)))
            plain = right if isinstance(right, Plain) else Plain(right, None)
            arguments.scale_bits(plain.scale_bits)
            if plain.is_scalar:
                return self._apply_scalar(op, left, plain)
            index = self._plain_index(plain)
        return Encrypted(self, self.add_node(f"{op}_plain", (left.node,), plain=index))

    def unary(self, op: str, value: Encrypted, steps: int | None = None) -> Encrypted:
        """Append an operation on one value."""
        with self._at_line():
            self._own(value)
            if op == "conjugate" and self.scheme != "ckks":
                raise ProgramError("conjugate is for CKKS; BGV slots are integers")
        return Encrypted(self, self.add_node(op, (value.node,), steps=steps))

    def rotate(self, value: Encrypted, steps: object) -> Encrypted:
        """Append a rotation; one by nothing is the value itself."""
        with self._at_line():
            self._own(value)
            k = self.geometry.rotation(steps)
        return value if k == 0 else self.unary("rotate", value, k)

    # -- what the rest of the package reads ------------------------------------

    def native(self) -> _native.Graph:
        """Hand the program over to the compiled module."""
        if not self.outputs:
            raise program_error(
                "the program has no output; call Output or return a value", self.written
            )
        graph = _native.Graph(
            self.name, self.scheme, self.geometry.log_n, self.t or None, self.public_key
        )
        for operand in self.plains:
            graph.plain(operand.name, operand.values, operand.scale_bits)
        for node in self.nodes:
            graph.node(
                node.op,
                list(node.args),
                node.span.file,
                node.span.line,
                name=node.name,
                plain=node.plain,
                value=None if node.value is None else float(node.value),
                steps=node.steps,
                scale_bits=node.scale_bits,
            )
        return graph

    def bind(self, values: Inputs) -> dict[str, Vector]:
        """Check run-time values against the declared inputs; see `cyclotron.binding.bind`."""
        return binding.bind(self, values)

    # -- details ---------------------------------------------------------------

    def _apply_scalar(self, op: str, left: Encrypted, plain: Plain) -> Encrypted:
        value = self.geometry.scalar(plain.values)
        if op == "sub":
            op, value = "add", -value
        if op == "add" and value == 0 and plain.scale_bits is None:
            return left
        node = self.add_node(f"{op}_scalar", (left.node,), value=value, scale_bits=plain.scale_bits)
        return Encrypted(self, node)

    def _plain_index(self, plain: Plain) -> int:
        if plain.index is not None:
            if plain.program is not self:
                raise ProgramError("this plaintext input belongs to another program")
            return plain.index
        vector = self.geometry.vector(plain.values)
        key = (vector.tobytes(), plain.scale_bits)
        if key not in self._constants:
            self._constants[key] = len(self.plains)
            self.plains.append(
                PlainOperand(f"plain_{len(self.plains)}", vector, plain.scale_bits, len(vector))
            )
        return self._constants[key]

    def _own(self, value: Encrypted) -> None:
        if value.program is not self:
            raise ProgramError(
                "this value belongs to another program; a program can only use its own inputs"
            )

    def _new_name(self, name: str) -> None:
        if not isinstance(name, str) or not name:
            raise ProgramError(f"the name of an input is {name!r}; use a string")
        if name in self.inputs or name in self.plain_inputs:
            raise ProgramError(f"there are two inputs called {name!r}; give each its own name")

    def _check_length(self, name: str, length: object) -> None:
        right = isinstance(length, (int, np.integer)) and not isinstance(length, bool)
        if length is not None and not (right and 0 < length <= self.slots):  # type: ignore[operator]
            raise ProgramError(
                f"input {name!r} cannot have {length!r} values; there are {self.slots} slots"
            )

    def _set_levels(self, levels: object) -> None:
        if isinstance(levels, bool) or not isinstance(levels, int) or not 1 <= levels <= 128:
            raise ProgramError(f"L = {levels!r} must be a number of limbs from 1 to 128")
        if self.levels not in (None, levels):
            raise ProgramError(f"L = {levels} here, but an earlier input has L = {self.levels}")
        self.levels = levels

    def _here(self) -> Span:
        return self.definition or span.caller()

    def _at_line(self) -> _AtLine:
        return _AtLine(self._here)


class _AtLine:
    """Puts the caller's file and line in front of a `ProgramError` that has none."""

    def __init__(self, here: Callable[[], Span]) -> None:
        self.here = here

    def __enter__(self) -> None:
        return

    def __exit__(self, kind: type[BaseException] | None, error: object, trace: object) -> None:
        if isinstance(error, ProgramError) and not hasattr(error, "line"):
            raise program_error(str(error), self.here()) from None
