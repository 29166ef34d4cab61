"""Rows as CSV and Parquet."""

from __future__ import annotations

import csv
from pathlib import Path
from typing import Any

from cyclotron.errors import UsageError

__all__ = ["EXTRA", "write_table"]

#: What to say when a package of the extra is missing.
EXTRA = "it comes with the extra `report`: pip install 'cyclotron-fhe[report]'"


def write_table(folder: Path, name: str, rows: list[dict[str, Any]]) -> list[Path]:
    """Write rows to ``NAME.csv`` and ``NAME.parquet``; return the two paths.

    Raises
    ------
    UsageError
        If pyarrow is not installed.
    """
    try:
        import pyarrow as pa  # noqa: PLC0415 - an optional dependency
        import pyarrow.parquet as pq  # noqa: PLC0415
    except ImportError:
        raise UsageError(f"Parquet files need pyarrow; {EXTRA}") from None
    text, columns = folder / f"{name}.csv", folder / f"{name}.parquet"
    with text.open("w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, fieldnames=list(rows[0]), lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)
    pq.write_table(pa.Table.from_pylist(rows), columns)
    return [text, columns]
