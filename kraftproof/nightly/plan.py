"""Read the plan of a night, a TOML file.

    [controls]
    mutants = ["A18", "S3"]
    mutant_budget_s = 112
    rows = ["kafka-14337"]

    [simulation]
    budget_s = 300
    past_seeds = [610014]

    [[runs]]
    name = "reference under all faults"
    arguments = ["--backend", "docker", "--nemesis", "kill,partition", "--time-limit", "90"]

A night needs controls: only found known bugs show the power of a night.
"""

import re
import tomllib
from pathlib import Path
from typing import Final

import msgspec

from kraftproof.errors import UsageError
from kraftproof.option_files import reason_of
from kraftproof.spelling import nearest

REPEATS: Final = 5

UNKNOWN_KEY: Final = re.compile("unknown field `([^`]*)`")
"""The message of msgspec about a key that no struct has."""


class Controls(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Known bugs; the night must find each bug."""

    mutants: tuple[str, ...] = ()
    rows: tuple[str, ...] = ()
    mutant_budget_s: float = 112.0
    """CPU seconds of the search for a mutant."""


class Simulation(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The new seeds of a night, and seeds with an earlier failure."""

    budget_s: float
    """CPU seconds of the search of new seeds."""
    past_seeds: tuple[int, ...] = ()


class LiveRun(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A run of `kraftproof test`; the night adds the seed and the store."""

    name: str
    arguments: tuple[str, ...]


class Plan(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The parts of a night, in order."""

    controls: Controls
    simulation: Simulation | None = None
    runs: tuple[LiveRun, ...] = ()
    repeats: int = REPEATS
    """The number of repetitions of a run with a finding."""


def read_plan(path: Path) -> Plan:
    """Return the plan of a file.

    Raises:
        UsageError: the file can't be read, is no plan, or has no control; one line.
    """
    try:
        read = tomllib.loads(path.read_text(encoding="utf-8"))
        plan = msgspec.convert(read, type=Plan)
    except OSError as error:
        raise UsageError(f"{path}: {reason_of(error)}") from error
    except (tomllib.TOMLDecodeError, UnicodeDecodeError, msgspec.ValidationError) as error:
        raise UsageError(f"{path}: {error}{_near(str(error))}") from error
    if not plan.controls.mutants and not plan.controls.rows:
        raise UsageError(f"{path}: controls: at least one mutant or row is expected")
    return plan


def _near(said: str) -> str:
    """Return the known key that is nearest to the unknown one that an error names."""
    unknown = UNKNOWN_KEY.search(said)
    structs = (Plan, Controls, Simulation, LiveRun)
    known = [name for struct in structs for name in struct.__struct_fields__]
    return "" if unknown is None else nearest(unknown[1], known)
