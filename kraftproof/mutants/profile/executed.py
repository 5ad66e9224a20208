"""Read which functions of the node each run of a sample executes, and plan a search by that.

executed.json comes from `python -m kraftproof.mutants.profile.record`. It has a digit for each run
and function: 0 for no execution, otherwise 1 and the logarithm of the executions to the base 2,
up to f. The file only orders searches, so an older file makes a search slower, and never wrong.
"""

import json
from collections.abc import Sequence
from math import log2
from pathlib import Path
from typing import Any, Final

from kraftproof.mutants.profile.edits import Place
from kraftproof.mutants.run_order import Executed, PlannedRun, by_gain, short_and_full

FILE: Final = Path(__file__).with_name("executed.json")
LARGEST: Final = 15
EDITED, BESIDE = 1.0, 0.05
"""Weights of the edited functions, and of the other functions of their modules."""


def read_profile(path: Path = FILE) -> list[Executed[Place]]:
    """Return what each run of the sample executes; nothing without a file."""
    if not path.is_file():
        return []
    return _decoded(json.loads(path.read_text(encoding="utf-8")))


def _decoded(found: dict[str, Any]) -> list[Executed[Place]]:
    counts: list[dict[Place, float]] = [{} for _ in found["runs"]]
    for module, named in found["functions"].items():
        for name, digits in named.items():
            for place, digit in enumerate(digits):
                if digit != "0":
                    counts[place][module, name] = 2 ** (int(digit, 16) - 1)
    return [
        Executed(PlannedRun.of(run), cpu_s, counts[place])
        for place, (run, cpu_s) in enumerate(zip(found["runs"], found["cpu_seconds"], strict=True))
    ]


def encoded(runs: Sequence[Executed[Place]]) -> str:
    """Return the text of the file, a line for each function."""
    places = sorted({place for one in runs for place in one.counts})
    modules: dict[str, dict[str, str]] = {}
    for place in places:
        digits = "".join(_digit(one.counts.get(place, 0)) for one in runs)
        modules.setdefault(place[0], {})[place[1]] = digits
    value = {
        "runs": [str(one.run) for one in runs],
        "cpu_seconds": [round(one.cpu_s, 1) for one in runs],
        "functions": modules,
    }
    return json.dumps(value, indent=0) + "\n"


def _digit(count: float) -> str:
    return f"{min(1 + int(log2(count)), LARGEST) if count else 0:x}"


def plan(edits: Sequence[Place], full_s: float) -> list[PlannedRun]:
    """Return the runs that execute the edited functions, best first.

    Where no run executes them, or code outside of functions is edited, the runs that execute the
    modules.
    """
    runs = read_profile()
    known = {place for one in runs for place in one.counts}
    modules = {module for module, _ in edits}
    beside = {place: BESIDE for place in sorted(known) if place[0] in modules}
    edited = [place for place in edits if place in known]
    reaching = [one for one in runs if any(map(one.counts.get, edited))] or runs
    ordered = by_gain(reaching, beside | dict.fromkeys(edited, EDITED))
    return short_and_full(ordered, full_s)
