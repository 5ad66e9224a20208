"""Reads run.json: the description of a run, with the type and the range of each field.

Every command reads run.json through this module, so that each of them refuses the same damage. A
description that was made by hand, or by another harness, has `workload` at least.
"""

from pathlib import Path
from typing import Annotated, Final, Literal

import msgspec

from kraftproof.checkers.guards.facts import GuardBounds
from kraftproof.checkers.initial import parse_initial
from kraftproof.checkers.options import MILLISECOND_NS
from kraftproof.checkers.verdict import CheckerInputError

RUN_FILE: Final = "run.json"
RUN_VERSION: Final = 1
MOST_MS: Final = 366 * 24 * 3_600_000
"""The longest time of a description, in milliseconds: a year."""

_Milliseconds = Annotated[int, msgspec.Meta(ge=0, le=MOST_MS)]
_NodeId = Annotated[int, msgspec.Meta(ge=0, lt=1 << 31)]


class Workload(msgspec.Struct, frozen=True):
    """The workload of a run, its model, and the initial values in the form of `--initial`."""

    name: str
    model: str
    initial: tuple[str, ...] = ()


class Options(msgspec.Struct, frozen=True):
    """The options of a run that checks and tables use."""

    backend: str = ""
    seed: int | None = None
    session_ms: _Milliseconds = 9_000
    failover_ms: _Milliseconds = 5_000
    measurement_error_ns: Annotated[int, msgspec.Meta(ge=0, le=MOST_MS * MILLISECOND_NS)] = (
        MILLISECOND_NS
    )
    monotonic_rate_error: Annotated[float, msgspec.Meta(ge=0, lt=1)] = 0.0
    nemeses: tuple[str, ...] = ()
    expect: Literal["declared", "strict"] = "declared"
    guards: GuardBounds = GuardBounds()


class Node(msgspec.Struct, frozen=True):
    """A node of the cluster."""

    id: _NodeId
    name: str = ""
    roles: Annotated[tuple[str, ...], msgspec.Meta(min_length=1)] = ("node",)


class RunDescription(msgspec.Struct, frozen=True):
    """The content of run.json, without the fields that only a repetition of the run needs.

    Attributes:
        workload: the workload.
        schema_version: the form of the file.
        kraftproof: the version of Kraftproof that made the run; empty for the run of another
            harness.
        python: the version of Python.
        started: when the run started, in ISO 8601.
        system: the system under test.
        options: the options.
        guarantees: the guarantee that the system declares for each function.
        nodes: the nodes; empty if they are not described.
        mutant: the planted bug.
        mutant_hash: the hash of the bug's edits.
        schedule: a line for each fault; None if the seed draws the faults.
        versions: the version of each library.
        host: the properties of the machine.
    """

    workload: Workload
    schema_version: int = RUN_VERSION
    kraftproof: str = ""
    python: str = ""
    started: str | None = None
    system: str = ""
    options: Options = Options()
    guarantees: dict[str, str] = {}
    nodes: tuple[Node, ...] = ()
    mutant: str | None = None
    mutant_hash: str | None = None
    schedule: tuple[str, ...] | None = None
    versions: dict[str, str] = {}
    host: dict[str, str | int] = {}


def read_description(directory: Path) -> RunDescription:
    """Return the description of the run in a directory.

    Raises:
        CheckerInputError: the file can't be read, is of another form, or has a value out of range.
    """
    path = directory / RUN_FILE
    try:
        run = msgspec.json.decode(path.read_bytes(), type=RunDescription)
    except OSError as error:
        raise CheckerInputError(f"{path}: can't be read: {error.strerror}") from error
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise CheckerInputError(f"{path}: {error}") from error
    if run.schema_version != RUN_VERSION:
        raise CheckerInputError(
            f"{path}: schema_version is {run.schema_version}, not {RUN_VERSION}"
        )
    try:
        parse_initial(run.workload.initial)
    except CheckerInputError as error:
        said = str(error).removeprefix("--initial ")
        raise CheckerInputError(f"{path}: workload.initial: {said}") from error
    return run
