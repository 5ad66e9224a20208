"""Schedule files: a simulated run as readable text, with a header of options and a line per fault.

    kraftproof schedule 1
    # Comments explain, and are read over.
    violates ElectionSafety
    seed 17
    mutant A18
    nodes 3+1
    workload topics
    rate 20
    concurrency 2
    time-limit 3.5
    operations 0-3,7
    0.531 2.2 kill target=@active-controller

`operations` and `mutant` are optional: by default all operations are invoked, and the node is
unchanged. The seed still draws delays, disks and waiting times. The header is parsed without an
import of the node, since a mutant must be planted before the import.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from kraftproof.checkers.text import shortened
from kraftproof.errors import UsageError
from kraftproof.options import RunOptions, parse_node_config, parse_pair
from kraftproof.search.renamed_invariants import RENAMED_INVARIANTS
from kraftproof.spelling import nearest

FIRST_LINE = "kraftproof schedule 1"
NEEDED = ("seed", "nodes", "workload", "rate", "concurrency", "time-limit")
OPTIONAL = ("violates", "mutant", "timeouts", "node-config", "operations")


@dataclass(frozen=True, slots=True, kw_only=True)
class ScheduleText:
    """Lines of a file with their numbers, split into header and faults but not parsed."""

    path: Path
    header: Mapping[str, tuple[int, str]]
    faults: Sequence[tuple[int, str]]

    @property
    def mutant(self) -> str | None:
        """The mutant to plant before the faults are parsed."""
        return self.header.get("mutant", (0, None))[1]

    @property
    def violates(self) -> str | None:
        """The property that the run violates, according to the file."""
        name = self.header.get("violates", (0, None))[1]
        return None if name is None else RENAMED_INVARIANTS.get(name, name)

    def mistake(self, number: int, text: str) -> UsageError:
        """Return an error about a line."""
        return UsageError(f"{self.path} line {number}: {text}")

    def value(self, name: str) -> str:
        """Return the value of a name of the header; the name must exist."""
        return self.header[name][1]


def read_schedule_text(path: Path) -> ScheduleText:
    """Read a file and split its lines into header and faults.

    Raises:
        UsageError: the file is unreadable, or is no schedule file; the message names the line.
    """
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else "it is not text in UTF-8"
        raise UsageError(f"--schedule {path}: {reason}") from error
    if not lines or lines[0].strip() != FIRST_LINE:
        raise UsageError(
            f"{path} line 1: {FIRST_LINE!r} is expected, as `kraftproof shrink` writes"
        )
    text = ScheduleText(path=path, header={}, faults=())
    header: dict[str, tuple[int, str]] = {}
    faults: list[tuple[int, str]] = []
    for number, line in enumerate(lines[1:], start=2):
        stripped = line.strip()
        if not stripped or stripped.startswith("#"):
            continue
        if stripped[0].isdecimal():
            faults.append((number, stripped))
            continue
        name, value = _option(text, number, stripped)
        if name in header:
            raise text.mistake(number, f"{name} stands in line {header[name][0]} already")
        header[name] = (number, value)
    missing = [name for name in NEEDED if name not in header]
    if missing:
        raise UsageError(f"{path}: a line with {', '.join(missing)} is missing")
    return ScheduleText(path=path, header=header, faults=tuple(faults))


def _option(text: ScheduleText, number: int, line: str) -> tuple[str, str]:
    name, _, value = line.partition(" ")
    if name not in NEEDED + OPTIONAL:
        known = NEEDED + OPTIONAL
        raise text.mistake(
            number,
            f"unknown option {shortened(repr(name))}{nearest(name, known)}: one of "
            f"{', '.join(known)}, or a fault",
        )
    if not value.strip():
        raise text.mistake(number, f"{name} has no value")
    return name, value.strip()


def options_of(text: ScheduleText, store: Path) -> RunOptions:
    """Return the options of a file's header.

    Raises:
        UsageError: a value is invalid; the message names the line.
    """
    options = RunOptions(backend="simulated", engine="inline", store=store, mutant=text.mutant)
    for name, (number, value) in text.header.items():
        try:
            options = _with(options, name, value)
        except ValueError as error:
            raise text.mistake(number, _reason(error, name, value)) from error
    return options


def _with(options: RunOptions, name: str, value: str) -> RunOptions:
    if name == "nodes":
        parse_pair(value)
        return replace(options, nodes=value)
    if name == "time-limit":
        return replace(options, time_limit_s=float(value))
    if name == "rate":
        return replace(options, rate=float(value))
    if name == "seed":
        return replace(options, seed=int(value))
    if name == "concurrency":
        return replace(options, concurrency=int(value))
    if name == "operations":
        return replace(options, operations=parse_numbers(value))
    if name == "workload":
        return replace(options, workload=value)
    if name == "timeouts":
        return replace(options, timeouts=value)
    if name == "node-config":
        return replace(options, node_config=parse_node_config(value.split()))
    return options


def _reason(error: ValueError, name: str, value: str) -> str:
    return str(error) if isinstance(error, UsageError) else f"{name} {value}: a number is expected"


def parse_numbers(text: str) -> tuple[int, ...]:
    """Return the sorted distinct numbers of a text such as `0-3,7`; `none` is the empty list.

    Raises:
        UsageError: the text is no list of numbers.
    """
    numbers: set[int] = set()
    for part in [] if text == "none" else text.split(","):
        found = re.fullmatch(r"(\d+)(?:-(\d+))?", part.strip())
        if found is None:
            raise UsageError(f"operations {text}: numbers such as 0-3,7 are expected, or none")
        first = int(found.group(1))
        numbers |= set(range(first, int(found.group(2) or first) + 1))
    return tuple(sorted(numbers))


def numbers_text(numbers: Iterable[int]) -> str:
    """Return numbers in the form `0-3,7`; `parse_numbers` is the inverse."""
    runs: list[list[int]] = []
    for number in sorted(numbers):
        if runs and runs[-1][1] == number - 1:
            runs[-1][1] = number
        else:
            runs.append([number, number])
    parts = [f"{first}" if first == last else f"{first}-{last}" for first, last in runs]
    return ",".join(parts) or "none"


def number_text(number: float) -> str:
    """Return the shortest exact text of a number."""
    short = f"{number:g}"
    return short if float(short) == number else repr(number)


def schedule_text(
    options: RunOptions,
    fault_lines: Sequence[str],
    *,
    violates: str | None,
    comments: Sequence[str] = (),
) -> str:
    """Return the text of a schedule file; `read_schedule_text` and `options_of` parse the text."""
    lines = [FIRST_LINE, *(f"# {comment}" for comment in comments)]
    if violates is not None:
        lines.append(f"violates {violates}")
    lines.append(f"seed {options.seed}")
    if options.mutant is not None:
        lines.append(f"mutant {options.mutant}")
    lines += [
        f"nodes {options.controllers}+{options.brokers}",
        f"workload {options.workload}",
        f"rate {number_text(options.rate)}",
        f"concurrency {options.concurrency}",
        f"time-limit {number_text(options.time_limit_s)}",
    ]
    if options.timeouts != RunOptions().timeouts:
        lines.append(f"timeouts {options.timeouts}")
    if options.node_config:
        settings = " ".join(f"{key}={value}" for key, value in options.node_config)
        lines.append(f"node-config {settings}")
    if options.operations is not None:
        lines.append(f"operations {numbers_text(options.operations)}")
    return "\n".join((*lines, *fault_lines)) + "\n"
