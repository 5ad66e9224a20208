"""Measured rows on disk, so that an interrupted benchmark can continue.

Rows of another state of the sources, or under other limits, are left aside: they would be of
another comparison.
"""

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final, Self

import msgspec

from bench.checkers.histories import ROOT
from bench.checkers.measure import Results

_MEASURED: Final = ("checkers", "bench/checkers")


@dataclass(slots=True)
class Kept:
    """The rows of a run.

    Attributes:
        of: the state of the sources and the options, common to all rows.
        measured: what each side did, by row.
        files: how many histories a row has.
    """

    of: str
    measured: dict[str, Results] = field(default_factory=dict)
    files: dict[str, int] = field(default_factory=dict)

    @classmethod
    def read(cls, path: Path, of: str) -> Self:
        """Return the rows of a file with the same state; empty for a missing file."""
        try:
            kept = msgspec.json.decode(path.read_bytes(), type=cls)
        except (FileNotFoundError, msgspec.DecodeError):
            return cls(of)
        return kept if kept.of == of else cls(of)

    def write(self, path: Path) -> None:
        """Replaces the file, whole or not at all."""
        replace(path, msgspec.json.encode(self))


def replace(path: Path, content: bytes) -> None:
    """Replaces a file, whole or not at all."""
    unfinished = path.with_name(f"{path.name}.new")
    unfinished.write_bytes(content)
    unfinished.replace(path)


def state_of(options: Sequence[object]) -> str:
    """Returns what changes with the sources that are measured, and with the options."""
    found = hashlib.sha256(repr(options).encode())
    for folder in _MEASURED:
        for path in sorted((ROOT / folder).rglob("*")):
            if path.suffix in {".py", ".go", ".rs", ".mod", ".toml"}:
                found.update(path.read_bytes())
    return found.hexdigest()
