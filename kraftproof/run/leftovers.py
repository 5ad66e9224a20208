"""Leftovers of a dead run: nodes, containers, leases, and faults that were not healed.

A fault ends with the cluster of the run. Local nodes die with the process of the run, and a sweep
removes the containers. Healing a dead run therefore means a sweep, and a list of the faults that
were still in force.
"""

import json
from pathlib import Path

import msgspec

from kraftproof.cluster.docker.capabilities import is_extra_installed
from kraftproof.cluster.local import ownership
from kraftproof.cluster.processes import Identity, is_alive
from kraftproof.cluster.remote.disk import mounts
from kraftproof.errors import UsageError
from kraftproof.run.directory import RunDirectory


def sweep_all() -> list[str]:
    """Remove the leftovers of dead runs on all available backends; return a line per removal."""
    lines = ownership.sweep()
    if is_extra_installed():  # otherwise this installation has made no containers
        from kraftproof.cluster.docker.engine import engine_is_named

        if engine_is_named():
            from kraftproof.cluster.docker.sweep import sweep

            lines += sweep()
    return lines + mounts.sweep()


def unhealed(directory: RunDirectory) -> list[str]:
    """Return a line for each fault that started and was never healed.

    Raises:
        UsageError: the directory is no run directory, or the process of the run is alive.
    """
    owner = _owner(directory)
    if is_alive(owner):
        raise UsageError(f"{directory.path}: its harness runs (process {owner.pid}); end it first")
    begun: dict[str, str] = {}
    for event in _events(directory.faults):
        name = str(event["fault"])
        if event["phase"] == "intent":
            begun[name] = f"{name} {event['kind']} {event['targets']}: {event['detail']}"
        elif event["phase"] in {"healed", "moot"}:
            begun.pop(name, None)
    return list(begun.values())


def _owner(directory: RunDirectory) -> Identity:
    try:
        return msgspec.convert(directory.read_run().get("harness"), Identity)
    except msgspec.ValidationError as error:
        raise UsageError(f"{directory.path}/run.json: harness: {error}") from error


def _events(path: Path) -> list[dict[str, object]]:
    """Return the fault events without an incomplete last line."""
    if not path.exists():
        return []
    events = []
    for line in path.read_text(encoding="utf-8").splitlines():
        try:
            events.append(json.loads(line))
        except ValueError:
            break
    return events
