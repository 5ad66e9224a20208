"""Records for a search which blocks of the node's code each seed runs; see mutants/blocks.py."""

import json
from pathlib import Path
from typing import TYPE_CHECKING

from kraftproof.mutants import blocks
from kraftproof.option_files import option_file

if TYPE_CHECKING:
    from kraftproof.search.seed_result import SeedResult


class BlockCounts:
    """The counts of a search; without a file nothing is counted.

    The recorder must be made before the import of the node's modules.
    """

    def __init__(self, path: Path | None) -> None:
        self._path = path
        self._lines: list[str] = []
        if path is not None:
            blocks.install_probes()

    def take(self, one: "SeedResult") -> None:
        """Take the counts of a finished seed."""
        if self._path is not None:
            taken = {
                "seed": one.seed,
                "verdict": one.result.verdict.value,
                "cpu_seconds": round(one.cpu_s, 3),
                "events": one.events,
                "blocks": blocks.take_counts(),
            }
            self._lines.append(json.dumps(taken))

    def write(self) -> None:
        """Write a JSON object per seed to the file.

        Raises:
            UsageError: the file can't be written.
        """
        if self._path is not None:
            with option_file("--blocks", self._path) as part:
                part.write_text("".join(f"{line}\n" for line in self._lines), encoding="utf-8")
