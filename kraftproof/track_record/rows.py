"""Read the rows of the track record.

    issue = "KAFKA-15489"
    title = "An isolated leader never resigns"
    system = "apache-kafka"
    version = "3.3.1"
    control = "3.7.0"
    finding = "ReplacedLeadersResign"
    runs = 3
    control_runs = 3
    budget_s = 600

    [run]
    backend = "docker"
    workload = "topics"
    time_limit_s = 30
    faults = ["6 26 partition shape=isolate around=@active-controller"]

The keys of [run] are the options of `kraftproof test`, with underscores; `faults` has a line per
fault, as in run.json. In place of `faults`, `nemesis` has a list of names or of file.py:planner.
Paths are relative to the row. Run number n of a row has the seed `seed` + n. A table [control_run]
has the options that differ in the runs of the control. A control with the same version needs one:

    [control_run]
    node_config = { "log.flush.interval.messages" = 1 }
"""

import tomllib
from collections.abc import Sequence
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any, Final

from kraftproof.errors import UsageError
from kraftproof.fault_lines import kinds_of, schedule_of_lines
from kraftproof.nemesis.schedule import Schedule
from kraftproof.option_files import reason_of
from kraftproof.options import RunOptions
from kraftproof.spelling import nearest

MOST_RUNS: Final = 1_000
_TEXTS: Final = ("issue", "title", "system", "version", "control", "finding")
_NUMBERS: Final = {"runs": 3, "control_runs": 3, "budget_s": 900}
_RUN_KEYS: Final = (
    {one.name for one in fields(RunOptions)}
    - {"system", "system_version", "store", "mutant", "nemeses", "operations"}
) | {"faults", "nemesis"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """A known bug, and the run that shows the bug.

    Attributes:
        path: The file.
        issue: The bug's number in its tracker.
        title: The bug in a few words.
        version: The release with the bug.
        control: A release without the bug.
        finding: The name of the check for the bug.
        runs: The most runs of the version; the first find ends the runs.
        control_runs: The runs of the control.
        budget_s: The time limit for the start of a run, in seconds.
        options: The options of the runs, with the version of the bug.
        control_options: The options of the runs of the control.
        schedule: The faults; None if the seed of each run draws the faults.
    """

    path: Path
    issue: str
    title: str
    version: str
    control: str
    finding: str
    runs: int
    control_runs: int
    budget_s: float
    options: RunOptions
    control_options: RunOptions
    schedule: Schedule | None

    @property
    def name(self) -> str:
        """Return the name of the file without its ending."""
        return self.path.stem

    @property
    def control_name(self) -> str:
        """Return the version of the control, with the settings that only its nodes have."""
        own = dict(self.options.node_config)
        other = [f"{k}={v}" for k, v in self.control_options.node_config if own.get(k) != v]
        return " with ".join(filter(None, (self.control, ", ".join(other))))


def read_rows(folder: Path, names: Sequence[str], store: Path) -> list[Row]:
    """Return the named rows, or all rows of a folder, by name.

    Raises:
        UsageError: the folder has no such row, or a row is wrong; one line.
    """
    paths = {path.stem: path for path in sorted(folder.glob("*.toml"))}
    if not paths:
        raise UsageError(f"--rows {folder}: no rows there; a row is a file NAME.toml")
    for name in names:
        if name not in paths:
            raise UsageError(f"{name!r}: no row of {folder}, which has {', '.join(paths)}")
    return [_read_row(paths[name], store) for name in names or paths]


def _read_row(path: Path, store: Path) -> Row:
    try:
        read = tomllib.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise UsageError(f"{path}: {reason_of(error)}") from error
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise UsageError(f"{path}: {error}") from error
    run, control_run = read.pop("run", None), read.pop("control_run", {})
    if not isinstance(run, dict):
        raise UsageError(f"{path}: the table [run] is missing")
    if not isinstance(control_run, dict):
        raise UsageError(f"{path}: control_run: a table is expected, not {control_run!r}")
    unknown = sorted(read.keys() - {*_TEXTS, *_NUMBERS})
    if unknown:
        keys = (*_TEXTS, *_NUMBERS)
        raise UsageError(
            f"{path}: unknown key {unknown[0]!r}{nearest(unknown[0], keys)}; the keys are "
            f"{', '.join(keys)}"
        )
    texts = {key: _text(path, key, read.get(key)) for key in _TEXTS}
    numbers = {key: _number(path, key, read.get(key, least)) for key, least in _NUMBERS.items()}
    system = texts.pop("system")
    if texts["version"] == texts["control"] and not control_run:
        raise UsageError(f"{path}: control: is the version itself; [control_run] has to differ")
    _, control_options = _run(path, {**run, **control_run}, system, texts["control"], store)
    schedule, options = _run(path, run, system, texts["version"], store)
    return Row(
        path=path,
        **texts,
        runs=int(numbers["runs"]),
        control_runs=int(numbers["control_runs"]),
        budget_s=numbers["budget_s"],
        options=options,
        control_options=control_options,
        schedule=schedule,
    )


def _run(
    path: Path, run: dict[str, Any], system: str, version: str, store: Path
) -> tuple[Schedule | None, RunOptions]:
    unknown = sorted(run.keys() - _RUN_KEYS)
    if unknown:
        keys = sorted(_RUN_KEYS)
        raise UsageError(
            f"{path}: unknown key {unknown[0]!r} of [run]{nearest(unknown[0], keys)}; the keys are "
            f"{', '.join(keys)}"
        )
    if "faults" in run and "nemesis" in run:
        raise UsageError(f"{path}: [run] has both faults and nemesis; either is expected")
    drawn = "nemesis" in run
    names = _texts(path, "nemesis", run.pop("nemesis", []))
    lines = _texts(path, "faults", run.pop("faults", []))
    schedule = None if drawn else schedule_of_lines(lines, f"{path}: faults")
    settings = run.pop("node_config", {})
    if not isinstance(settings, dict):
        raise UsageError(f"{path}: node_config: a table is expected, not {settings!r}")
    try:
        options = RunOptions(
            system=_reference(path, system),
            system_version=version,
            store=store,
            nemeses=tuple(_reference(path, name) for name in names)
            if schedule is None
            else kinds_of(schedule),
            node_config=tuple((key, str(value)) for key, value in settings.items()),
            **{"min_bites": 0, **run},
        )
    except (UsageError, TypeError) as error:
        raise UsageError(f"{path}: {error}") from error
    return schedule, options


def _reference(path: Path, name: str) -> str:
    """Return a name, or a file.py:name beside the row as an absolute path."""
    return str((path.parent / name).resolve()) if ".py:" in name else name


def _texts(path: Path, key: str, value: object) -> list[str]:
    if not isinstance(value, list) or not all(isinstance(one, str) for one in value):
        raise UsageError(f"{path}: {key}: a list of texts is expected, not {value!r}")
    return value


def _text(path: Path, key: str, value: object) -> str:
    if not isinstance(value, str) or not value:
        raise UsageError(f"{path}: {key}: a text is expected, not {value!r}")
    return value


def _number(path: Path, key: str, value: object) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 < value <= 86_400:
        raise UsageError(f"{path}: {key}: a number from 1 to 86400 is expected, not {value!r}")
    return float(value)
