"""One comparison: a published figure and ours."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

from cyclotron.reproduction.published import Figure

__all__ = ["Measured", "Result"]


@dataclass(frozen=True)
class Measured:
    """What we have for a published figure; one figure may have several.

    Attributes
    ----------
    id
        The figure's.
    ours
        Our number in the figure's unit; None if there is none, and then the note
        says what is missing.
    reading
        What exactly was measured or computed.
    note
        Why it differs, or what is missing.
    unit
        Instead of the figure's.
    """

    id: str
    ours: float | None
    reading: str = ""
    note: str = ""
    unit: str | None = None


@dataclass(frozen=True)
class Result:
    """A published figure beside ours."""

    id: str
    where: str
    what: str
    published: float | None
    ours: float | None
    unit: str
    ratio: float | None
    reading: str
    note: str

    @classmethod
    def of(cls, figure: Figure, measured: Measured) -> Result:
        """Compare."""
        ours, published = measured.ours, figure.value
        return cls(
            id=figure.id,
            where=figure.where,
            what=figure.what,
            published=published,
            ours=ours,
            unit=measured.unit or figure.unit,
            ratio=ours / published if ours is not None and published else None,
            reading=measured.reading or figure.reading or "",
            note=measured.note,
        )

    def to_dict(self) -> dict[str, Any]:
        """Return the fields, for JSON."""
        return asdict(self)
