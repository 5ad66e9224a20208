"""What a dead harness leaves: nodes, containers, leases, and faults without a heal.

A fault lives in the cluster that it was made in, and that goes with its owner: a local node dies
with the harness, a container is removed by the sweep. So healing a dead run is sweeping, and
telling which of its faults were still in force.
"""

import json
from pathlib import Path

import msgspec

from kraftproof.cluster.docker.capabilities import is_extra_installed
from kraftproof.cluster.local import ownership
from kraftproof.errors import UsageError
from kraftproof.run.directory import RunDirectory


def sweep_all() -> list[str]:
    """Remove what dead owners left, on every backend that is there; return what was done."""
    lines = ownership.sweep()
    if not is_extra_installed():  # this installation has made no containers
        return lines
    from kraftproof.cluster.docker.engine import engine_is_named

    if engine_is_named():
        from kraftproof.cluster.docker.sweep import sweep

        lines += sweep()
    return lines


def unhealed(directory: RunDirectory) -> list[str]:
    """Return a line for each fault that was begun and never healed.

    Raises:
        UsageError: this is no run directory, or its harness is alive.
    """
    owner = _owner(directory)
    if ownership.is_alive(owner):
        raise UsageError(f"{directory.path}: its harness runs (process {owner.pid}); end it first")
    begun: dict[str, str] = {}
    for event in _events(directory.faults):
        name = str(event["fault"])
        if event["phase"] == "intent":
            begun[name] = f"{name} {event['kind']} {event['targets']}: {event['detail']}"
        elif event["phase"] in {"healed", "moot"}:
            begun.pop(name, None)
    return list(begun.values())


def _owner(directory: RunDirectory) -> ownership.Identity:
    try:
        return msgspec.convert(directory.read_run().get("harness"), ownership.Identity)
    except msgspec.ValidationError as error:
        raise UsageError(f"{directory.path}/run.json: harness: {error}") from error


def _events(path: Path) -> list[dict[str, object]]:
    """The fault events; a last line that a kill cut short does not count."""
    if not path.exists():
        return []
    events = []
    for line in path.read_text(encoding="utf-8").splitlines():
        try:
            events.append(json.loads(line))
        except ValueError:
            break
    return events
