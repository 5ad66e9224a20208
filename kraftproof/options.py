"""Options of a run with their defaults; kraftproof/commands parses them.

It imports nothing of a cluster or a node, since a mutant's import hook has to come before them.
"""

import os
import re
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import msgspec

from kraftproof.cluster import backends, profiles
from kraftproof.errors import UsageError
from kraftproof.spelling import nearest

SECOND_NS = 1_000_000_000
BACKENDS = tuple(backends.BACKENDS)
ENGINES = ("spark", "inline")
EXPECTATIONS = ("declared", "strict")
PROFILES = tuple(profiles.PROFILES)
DEFAULT_NEMESES = ("kill", "pause")
PAIR = "3+3"
"""The controllers and brokers of the reference system, unless the run says otherwise."""
NODES_HELP = (
    "Nodes by role: 3+3, 5, controller=3,broker=3, or controller+broker=3 for nodes with both "
    "roles; otherwise as the system has them."
)
NODE_FORMS = "3+3, 5, or controller=3,broker=3"
_ROLE = re.compile(r"[a-z][a-z0-9_-]*(\+[a-z][a-z0-9_-]*)*")
MOST_NODES = 32
Counts = tuple[tuple[str | None, int], ...]
"""The number of nodes of each role."""
FILE_OPTIONS = ("faults_file", "hosts")
"""Options that name a file or are None."""
FIRST_OPTIONS = (
    *("backend", "concurrency", "engine", "mutant", "nemeses", "node_config", "operations"),
    *("rate", "seed", "time_limit_s", "timeouts", "workload"),
)
"""Options that every version has written into run.json."""
MOST_AT_ONCE = 8


@dataclass(frozen=True, slots=True, kw_only=True)
class RunOptions:
    """One run. The defaults are those of `kraftproof test`."""

    backend: str = "local"
    system: str = "reference"
    system_version: str | None = None
    """The release of the system under test; None for the system's default release."""
    workload: str = "topics"
    """The commands and the pytest plug-in take the first workload of a system as their default."""
    nemeses: tuple[str, ...] = DEFAULT_NEMESES
    faults_file: Path | None = None
    """The file that lists the faults; None: the faults are drawn."""
    hosts: Path | None = None
    """The file of hosts, for the backend that takes hosts."""
    nodes: str = ""
    """Number of nodes by role, as given to `--nodes`; empty: the default of the system."""
    time_limit_s: float = 30.0
    rate: float = 50.0
    concurrency: int = 10
    seed: int = 0
    mutant: str | None = None
    store: Path = field(default_factory=lambda: Path("store"))
    engine: str = "inline"
    timeouts: str = "chaos"
    expect: str = "declared"
    """Judge by the guarantees that the system declares, or strictly by the model."""
    node_config: tuple[tuple[str, str], ...] = ()
    """Keys and values of server.properties for all nodes."""
    fault_every_s: float | None = None
    """Seconds from one fault to the next; None: as many faults as leave enough of the run quiet."""
    at_once: int = 1
    """Largest number of faults at the same time; more than 1 draws subsets of the faults."""
    min_bites: int = 2
    """The least number of effective faults of each kind asked for, or the run proves nothing."""
    operations: tuple[int, ...] | None = None
    """Only these are invoked, by their number in the order in which their turn comes; None: all."""

    def __post_init__(self) -> None:
        """Refuse what no run can be made of.

        Raises:
            UsageError: a value out of its range; one line.
        """
        _one_of("--backend", self.backend, BACKENDS)
        if backends.BACKENDS[self.backend].takes_hosts and self.hosts is None:
            raise UsageError(f"--backend {self.backend}: needs --hosts FILE (docs/ssh.md)")
        if self.hosts is not None and not backends.BACKENDS[self.backend].takes_hosts:
            raise UsageError(f"--hosts {self.hosts}: the {self.backend} backend takes no hosts")
        _one_of("--engine", self.engine, ENGINES)
        _one_of("--expect", self.expect, EXPECTATIONS)
        _one_of("--timeouts", self.timeouts, PROFILES)
        refuse_counts(parse_nodes(self.nodes or PAIR))
        _within("--time-limit", self.time_limit_s, 1, 86_400)
        _within("--rate", self.rate, 0.1, 100_000)
        _within("--concurrency", self.concurrency, 1, 1_000)
        _within("--at-once", self.at_once, 1, MOST_AT_ONCE)
        _within("--min-bites", self.min_bites, 0, 1_000)
        if self.fault_every_s is not None:
            _within("--fault-every", self.fault_every_s, 2, self.time_limit_s)

    @property
    def is_virtual(self) -> bool:
        """Return whether the run is on virtual time."""
        return backends.BACKENDS[self.backend].is_virtual

    @property
    def controllers(self) -> int:
        """The first number of `3+3`."""
        return parse_pair(self.nodes or PAIR)[0]

    @property
    def brokers(self) -> int:
        """The second number of `3+3`."""
        return parse_pair(self.nodes or PAIR)[1]

    @property
    def fault_every_ns(self) -> int | None:
        """The time from one fault to the next, if it is stated."""
        return None if self.fault_every_s is None else int(self.fault_every_s * SECOND_NS)

    @property
    def time_limit_ns(self) -> int:
        """Return the time in which operations are invoked, in nanoseconds."""
        return int(self.time_limit_s * SECOND_NS)

    def _files(self) -> tuple[tuple[str, Path | None], ...]:
        return tuple((name, getattr(self, name)) for name in FILE_OPTIONS)

    def as_json(self) -> dict[str, Any]:
        """Return the options for run.json."""
        return {
            **asdict(self),
            "store": str(self.store),
            **{name: None if one is None else str(one) for name, one in self._files()},
            "nemeses": list(self.nemeses),
            "node_config": dict(self.node_config),
        }


def options_of_json(value: Mapping[str, Any], store: Path) -> RunOptions:
    """Return the options that `RunOptions.as_json` gave, with another store.

    An option that an older version did not know has its default.

    Raises:
        UsageError: an option is missing or has a wrong value; one line.
    """
    missing = [name for name in FIRST_OPTIONS if name not in value]
    if missing:
        raise UsageError(f"options: {missing[0]} is missing: this is no run of kraftproof test")
    try:
        entries = msgspec.convert(value["node_config"], dict[str, str])
        given = {**value, "store": str(store), "node_config": tuple(entries.items())}
        return msgspec.convert(given, RunOptions, dec_hook=_path)
    except msgspec.ValidationError as error:
        raise UsageError(f"options: {error}") from error


def _path(wanted: type, value: object) -> Path:
    """Return the path of a text, for `msgspec.convert`."""
    if wanted is Path and isinstance(value, str):
        return Path(value)
    raise ValueError(f"Expected a path, got {value!r}")


def parse_nodes(text: str, where: str = "--nodes") -> Counts:
    """Return the count of each role of `3+3`, `5` or `controller=3,broker=3`, in that order.

    A number without a role has the role None: its place tells the system which role that is. The
    roles of a node with several are joined by +. `where` begins the line of a mistake.

    Raises:
        UsageError: the text has none of these forms.
    """
    found: list[tuple[str | None, int]] = []
    for part in text.split("," if "=" in text else "+"):
        role, equals, count = part.strip().rpartition("=")
        if not count.isdecimal() or bool(equals) != ("=" in text):
            raise UsageError(f"{where} {text}: {NODE_FORMS} is expected")
        if equals and (_ROLE.fullmatch(role) is None or role in dict(found)):
            reason = "each role once, in lower case"
            if ":" in role:
                reason = "a release is given by --system-version VERSION"
            raise UsageError(f"{where} {text}: {part.strip()}: {reason}")
        found.append((role or None, int(count)))
    return tuple(found)


def refuse_counts(counts: Counts, where: str = "--nodes") -> None:
    """Refuse no nodes of a role, and more than a run can have.

    Raises:
        UsageError: one line that begins with `where`.
    """
    for _, count in counts:
        _within(where, count, 1, MOST_NODES)


def parse_pair(text: str) -> tuple[int, int]:
    """Return controllers and brokers of `3+3`.

    Raises:
        UsageError: the text is no such sum.
    """
    counts = parse_nodes(text)
    if len(counts) != 2 or any(role is not None for role, _ in counts):
        raise UsageError(f"--nodes {text}: CONTROLLERS+BROKERS is expected, for example 3+3")
    return counts[0][1], counts[1][1]


def parse_nemeses(text: str) -> tuple[str, ...]:
    """Return the names of a comma-separated list, each once; `none` stands for no fault.

    Raises:
        UsageError: the text has no name, as an unset variable of a script, or faults beside `none`.
    """
    names = tuple(dict.fromkeys(name for one in text.split(",") if (name := one.strip())))
    if not names:
        raise UsageError(f"--nemesis {text!r}: names of faults are expected, or none")
    if "none" in names and len(names) > 1:
        raise UsageError(f"--nemesis {text}: none can't be combined with faults")
    return () if names == ("none",) else names


def parse_node_config(texts: Sequence[str]) -> tuple[tuple[str, str], ...]:
    """Return keys and values of `KEY=VALUE` texts; the last value of a key counts.

    Raises:
        UsageError: a text has no `=` after a key.
    """
    entries: dict[str, str] = {}
    for text in texts:
        key, equals, value = (part.strip() for part in text.partition("="))
        if not key or not equals:
            raise UsageError(f"--node-config {text}: KEY=VALUE is expected")
        entries[key] = value
    return tuple(entries.items())


def refuse_store(store: Path) -> None:
    """Refuse a store that run directories can't be made in.

    Raises:
        UsageError: it is, or lies under, something that is no directory; or it may not be written.
    """
    refuse_folder("--store", store)


def refuse_folder(option: str, folder: Path) -> None:
    """Refuse a path at which no folder can be made; the disk stays as before.

    Raises:
        UsageError: the path is, or lies under, a file, or a folder that may not be written.
    """
    path = folder.absolute()
    there = next(one for one in (path, *path.parents) if one.exists())
    if not there.is_dir():
        raise UsageError(f"{option} {folder}: {there} is not a directory")
    if not os.access(there, os.W_OK | os.X_OK):
        raise UsageError(f"{option} {folder}: {there} can't be written to")


def _one_of(option: str, value: str, known: tuple[str, ...]) -> None:
    if value not in known:
        raise UsageError(
            f"{option} {value}{nearest(value, known)}: one of {', '.join(known)} is expected"
        )


def _within(option: str, value: float, smallest: float, largest: float) -> None:
    if not smallest <= value <= largest:
        raise UsageError(f"{option} {value}: {smallest} to {largest} is expected")
