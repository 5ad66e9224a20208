"""Leftovers of a dead run: nodes, containers, leases, and faults that were not healed.

A fault ends with the cluster of the run. Local nodes die with the process of the run, and a sweep
removes the containers, and what is on hosts behind ssh. Healing a dead run therefore means a sweep,
and a list of the faults that were still in force.
"""

import json
from pathlib import Path

import msgspec

from kraftproof.cluster import temporary
from kraftproof.cluster.docker.capabilities import is_extra_installed
from kraftproof.cluster.local import ownership
from kraftproof.cluster.processes import Identity, is_alive
from kraftproof.cluster.remote.disk import mounts
from kraftproof.cluster.ssh.capabilities import is_extra_installed as is_ssh_installed
from kraftproof.cluster.ssh.capabilities import require_extra as require_ssh
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
    if is_ssh_installed():
        from kraftproof.cluster.ssh.leftovers import sweep as sweep_hosts

        lines += sweep_hosts()
    return lines + mounts.sweep() + temporary.sweep()


def heal_hosts(hosts: Path) -> list[str]:
    """Remove the leftovers of dead runs from the hosts of a file; return a line for each.

    Raises:
        HostsFileError: the file can't be used.
        ClusterError: a host can't be used, or a live run uses the host.
    """
    require_ssh()
    from kraftproof.cluster.ssh.hosts_file import read_hosts
    from kraftproof.cluster.ssh.leftovers import heal_hosts as heal

    return heal(read_hosts(hosts))


def heal_recorded_hosts(directory: RunDirectory) -> list[str]:
    """Do the same with the hosts of a run; a run without hosts has none.

    Raises:
        ClusterError: a host can't be used, or a live run uses the host.
    """
    if not (directory.path / "hosts.json").is_file():
        return []
    require_ssh()
    from kraftproof.cluster.ssh.leftovers import heal_hosts as heal
    from kraftproof.cluster.ssh.records import read_record

    record = read_record(directory.path)
    return [] if record is None else heal(record.hosts)


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
