"""The decorator `program`: a Python function becomes a homomorphic program by being called.

Parameters annotated `Encrypted` are encrypted inputs, ``list[Encrypted]`` groups
of them, `Plain` run-time plaintext inputs. All others are ordinary Python values
with defaults, which `ProgramFunction.build` can override. What the function
returns are the outputs.
"""

from __future__ import annotations

import inspect
import typing
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cyclotron import span
from cyclotron.encrypted import Encrypted, Plain
from cyclotron.errors import CyclotronError, UsageError, program_error
from cyclotron.graph import Program
from cyclotron.wide import Inputs

__all__ = ["InputShape", "ProgramFunction", "program", "shape"]


@dataclass(frozen=True)
class InputShape:
    """How large an input is; made by `shape`."""

    length: int | None = None
    count: int | None = None
    scale_bits: float | None = None


def shape(
    length: int | None = None, *, count: int | None = None, scale_bits: float | None = None
) -> InputShape:
    """Describe an input of a decorated program.

    Parameters
    ----------
    length
        How many values each vector has; all slots unless given.
    count
        How many vectors a ``list[Encrypted]`` parameter holds.
    scale_bits
        CKKS: base-2 logarithm of the encoding's scale.
    """
    return InputShape(length, count, scale_bits)


@dataclass(frozen=True)
class _Settings:
    scheme: str
    n: int
    t: int | None
    levels: int | None
    precision_bits: float | None
    allow_insecure: str | None
    tolerance: float
    public_key: bool


#: What `ProgramFunction.build` may override, besides parameters of the function.
_SETTINGS = ("n", "t", "levels", "precision_bits", "allow_insecure", "public_key")


class ProgramFunction:
    """A decorated function; `build` calls it once and returns the `Program`."""

    def __init__(
        self,
        function: Callable[..., Any],
        name: str,
        settings: _Settings,
        inputs: Mapping[str, InputShape],
    ) -> None:
        self.function, self.name = function, name
        for key, form in inputs.items():
            if not isinstance(form, InputShape):
                raise program_error(
                    f"the shape of {key!r} is {form!r}; use cyclotron.shape(...)", span.caller()
                )
        self._settings, self._shapes = settings, dict(inputs)
        self.__doc__ = function.__doc__
        self.__name__ = function.__name__
        self.__wrapped__ = function
        self._parameters = _classify(function)
        for unknown in self._shapes.keys() - self._parameters.keys():
            raise program_error(
                f"{name} has no parameter {unknown!r} to give a shape", span.caller()
            )

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Use the function inside another program."""
        given = [*args, *kwargs.values()]
        flat = [item for a in given for item in (a if isinstance(a, (list, tuple)) else [a])]
        if not any(isinstance(item, Encrypted) for item in flat):
            raise program_error(
                f"{self.name} is a homomorphic program: run it with cyclotron.run({self.name}, "
                f"inputs), or in the clear with {self.name}.twin(inputs)",
                span.caller(),
            )
        return self.function(*args, **kwargs)

    def build(self, **parameters: Any) -> Program:
        """Trace the function.

        Parameters
        ----------
        **parameters
            ``n``, ``t``, ``levels``, ``precision_bits``, ``allow_insecure``,
            ``public_key`` or any ordinary parameter of the function, to override its default.

        Raises
        ------
        ProgramError
            At the user's line, for anything wrong in the program.
        """
        settings, own = self._settings, {}
        for key, value in parameters.items():
            if self._parameters.get(key, "no such parameter") is None:
                own[key] = value
            elif key in _SETTINGS:
                settings = replace(settings, **{key: value})
            else:
                own_names = [n for n, kind in self._parameters.items() if kind is None]
                raise UsageError(
                    f"program {self.name!r} has no parameter {key!r}; "
                    f"it has {', '.join([*own_names, *_SETTINGS])}"
                )
        code = self.function.__code__
        definition = span.Span(span.display_path(code.co_filename), code.co_firstlineno)
        traced = Program(
            settings.n,
            scheme=settings.scheme,
            t=settings.t,
            name=self.name,
            precision_bits=settings.precision_bits,
            allow_insecure=settings.allow_insecure,
            tolerance=settings.tolerance,
            public_key=settings.public_key,
            definition=definition,
        )
        arguments = {
            name: self._declare(traced, name, kind, settings.levels)
            for name, kind in self._parameters.items()
            if kind is not None
        }
        traced.definition = None
        try:
            result = self.function(**arguments, **own)
        except CyclotronError:
            raise
        except Exception as error:
            where = span.of_traceback(error.__traceback__) or span.caller()
            raise program_error(f"{type(error).__name__}: {error}", where) from error
        if result is None:
            raise program_error(f"{self.name} returns nothing; return its outputs", definition)
        traced.definition = definition
        traced.Output(result)
        traced.definition = None
        return traced

    def twin(self, inputs: Inputs, **parameters: Any) -> dict[str, Any]:
        """Execute the program in the clear; see `cyclotron.twin.execute`."""
        return self.build(**parameters).twin(inputs)

    def _declare(
        self, traced: Program, name: str, kind: str, levels: int | None
    ) -> Encrypted | Plain | list[Encrypted]:
        form = self._shapes.get(name, InputShape())
        if kind == "plain":
            return traced.PlainInput(name=name, length=form.length, scale_bits=form.scale_bits)
        if kind == "encrypted":
            return traced.Input(levels, name=name, length=form.length, scale_bits=form.scale_bits)
        count = form.count
        if isinstance(count, bool) or not isinstance(count, int) or count < 1:
            wrong = "say" if count is None else f"count is {count!r}; say in a whole number"
            raise program_error(
                f"{wrong} how many values {name!r} holds, inputs={{{name!r}: shape(count=...)}}",
                traced.written,
            )
        return [
            traced.Input(levels, name=f"{name}.{i}", length=form.length, scale_bits=form.scale_bits)
            for i in range(count)
        ]


def program(
    without_parentheses: object = None,
    /,
    *,
    scheme: str = "bgv",
    n: int = 16384,
    t: int | None = None,
    levels: int | None = None,
    inputs: Mapping[str, InputShape] | None = None,
    name: str | None = None,
    precision_bits: float | None = None,
    allow_insecure: str | None = None,
    tolerance: float = 2.0**-10,
    public_key: bool = False,
) -> Callable[[Callable[..., Any]], ProgramFunction]:
    """Make a homomorphic program of a function.

    Parameters
    ----------
    scheme, n, t, precision_bits, allow_insecure, tolerance, public_key
        As for `Program`.
    levels
        Number of limbs that inputs start with (``L`` of Listing 2); the compiler
        chooses when it is left out.
    inputs
        A `shape` for each parameter that needs one.
    name
        What reports call it; the function's name unless given.

    Examples
    --------
    >>> import cyclotron
    >>> from cyclotron import Encrypted
    >>> @cyclotron.program(scheme="bgv", n=1024, t=65537)
    ... def dot(x: Encrypted, y: Encrypted):
    ...     return (x * y).inner_sum()
    >>> dot.twin({"x": [1, 2, 3], "y": [4, 5, 6]})["output"][0]
    np.int64(32)
    """
    if without_parentheses is not None:
        raise program_error(
            "write the decorator with parentheses: @cyclotron.program()", span.caller()
        )
    if not isinstance(inputs, (Mapping, type(None))):
        raise program_error(
            f'inputs are {inputs!r}; use a mapping from parameters to shapes, {{"x": shape(100)}}',
            span.caller(),
        )
    if not isinstance(name, (str, type(None))):
        raise program_error(f"name is {name!r}; use a string", span.caller())

    def decorate(function: Callable[..., Any]) -> ProgramFunction:
        if not inspect.isfunction(function):
            raise program_error(
                f"a program is made of a function, not {type(function).__name__}", span.caller()
            )
        settings = _Settings(
            scheme, n, t, levels, precision_bits, allow_insecure, tolerance, public_key
        )
        return ProgramFunction(function, name or function.__name__, settings, inputs or {})

    return decorate


def _classify(function: Callable[..., Any]) -> dict[str, str | None]:
    """Return for each parameter ``encrypted``, ``encrypted list``, ``plain`` or None (ordinary)."""
    try:
        hints = typing.get_type_hints(function)
    except Exception as error:
        raise program_error(f"an annotation cannot be read: {error}", span.caller()) from None
    kinds: dict[str, str | None] = {}
    for name, parameter in inspect.signature(function).parameters.items():
        hint = hints.get(name)
        if hint is Encrypted:
            kinds[name] = "encrypted"
        elif hint is Plain:
            kinds[name] = "plain"
        elif typing.get_origin(hint) is list and typing.get_args(hint) == (Encrypted,):
            kinds[name] = "encrypted list"
        elif parameter.default is not inspect.Parameter.empty:
            kinds[name] = None
        else:
            raise program_error(
                f"parameter {name!r} needs an annotation (Encrypted, list[Encrypted] or Plain) "
                "or a default",
                span.caller(),
            )
    return kinds


def random_inputs(traced: Program, random: np.random.Generator) -> dict[str, NDArray[Any]]:
    """Draw values for every input: integers modulo t (BGV), reals in [-1, 1] (CKKS)."""
    values: dict[str, NDArray[Any]] = {}
    lengths = {i.name: i.length for i in traced.inputs.values()} | traced.plain_inputs
    for name, length in lengths.items():
        size = length or traced.slots
        if traced.scheme == "bgv":
            values[name] = traced.geometry.centred(random.integers(0, traced.t, size))
        else:
            values[name] = random.uniform(-1, 1, size)
    return values
