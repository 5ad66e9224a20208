"""Signs that a run met another run: foreign values, and taken ports.

Two harnesses on the same ports or in one network look like a bug of the system under test. Any
sign makes the run unknown, since the history mixes two runs. See cluster/systems/identities.py for
nodes of several clusters.
"""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from kraftproof.checkers.history.faults import read_faults
from kraftproof.checkers.run_outcome import CONTAMINATED, Mishap

FAULTS_FILE: Final = "faults.jsonl"
TAKEN_PORT: Final = "taken-port"
"""The kind of fault that takes the port of a node."""
OUTPUT_FILE: Final = "output.log"
"""The file in a node's directory with all that the node printed."""
_ANSWERED: Final = re.compile(rb'"type":"ok"')
_VALUE: Final = re.compile(rb'"[0-9]+(?:\.[0-9]+)?@([0-9a-f]{5}|s[0-9]+)"')
"""A value of a workload for any system (keyed.py, log.py); the group is the id of a run."""
_TAKEN: Final = re.compile(rb"address already in use", re.IGNORECASE)


def signs(history: Path, nodes: Path, run_id: str) -> Iterator[Mishap]:
    """Yield the signs in the files of a run.

    Args:
        history: history.jsonl; faults.jsonl beside it has the faults, which may take ports.
        nodes: The folder with a directory for each node.
        run_id: The id that the values of the run carry.
    """
    faults = read_faults(history.with_name(FAULTS_FILE))
    ours = {one for event in faults if event.kind == TAKEN_PORT for one in _nodes(event.targets)}
    found = foreign_value(history, run_id) if history.is_file() else None
    if found is not None:
        value, line = found
        yield _sign(f"line {line} of {history.name} has the value {value} of another run")
    for output in sorted(nodes.glob(f"*/{OUTPUT_FILE}")):
        if output.parent.name not in ours and _TAKEN.search(output.read_bytes()):
            yield _sign(
                f"node {output.parent.name} found its address in use, by another program or by "
                "another node with the same address"
            )


def foreign_value(history: Path, run_id: str) -> tuple[str, int] | None:
    """Return the first answered value with the id of another run, and its line from 1 on."""
    own = run_id.encode()
    with history.open("rb") as lines:
        for number, line in enumerate(lines, start=1):
            if _ANSWERED.search(line) is None:
                continue
            for value in _VALUE.finditer(line):
                if value[1] != own:
                    return value[0].decode().strip('"'), number
    return None


def _nodes(targets: object) -> list[str]:
    return list(map(str, targets)) if isinstance(targets, list | tuple) else []


def _sign(sentence: str) -> Mishap:
    return Mishap(kind=CONTAMINATED, sentence=f"contaminated: {sentence}")
