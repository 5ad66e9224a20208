"""Undo what dead harnesses left on hosts: for `kraftproof heal`, and for sweeps."""

import asyncio
from typing import Final

import msgspec

from kraftproof.cluster.protocol import ClusterError
from kraftproof.cluster.ssh import records
from kraftproof.cluster.ssh.facts import facts_of, undo_dead
from kraftproof.cluster.ssh.hosts_file import HostEntry
from kraftproof.cluster.ssh.machine import Machine
from kraftproof.cluster.temporary import DEAD

MOST_TRIES: Final = 3
"""Number of sweeps that try to heal the hosts of a run, some of which may exist no more."""


def heal_hosts(entries: tuple[HostEntry, ...]) -> list[str]:
    """Remove what dead harnesses left on hosts; return a line for each run, and each clean host.

    Raises:
        ClusterError: hosts that can't be used, or that a live harness uses, after all others were
            healed; one line.
    """
    lines, errors = asyncio.run(_heal(entries, or_else="host {}: nothing to remove"))
    if errors:
        raise ClusterError("; ".join([*lines, *errors.values()]))
    return lines


def sweep() -> list[str]:
    """Heal the hosts of this user's dead runs; return a line for each run and host.

    A run stays registered as long as one of its hosts can't be healed, for some sweeps.
    """
    lines: list[str] = []
    for record in records.registered():
        if record.owner.life not in DEAD:
            continue
        healed, errors = asyncio.run(_heal(record.hosts))
        lines += [f"ssh run {record.run}: {line}" for line in (*healed, *errors.values())]
        tries = record.tries + 1
        if not errors:
            records.forget(record.run)
        elif tries < MOST_TRIES:
            left = tuple(host for host in record.hosts if host.name in errors)
            records.update(msgspec.structs.replace(record, hosts=left, tries=tries))
        else:
            records.forget(record.run)
            lines.append(
                f"ssh run {record.run}: given up after {tries} sweeps: {', '.join(errors)}; the "
                "keeper of a host ends the nodes by itself, and the next run there, or "
                "'kraftproof heal --hosts FILE', removes the files"
            )
    return lines


async def _heal(
    entries: tuple[HostEntry, ...], or_else: str | None = None
) -> tuple[list[str], dict[str, str]]:
    """Return the lines of healed hosts, and the errors of the others by the name of the host.

    Args:
        entries: The hosts.
        or_else: The line for a clean host, with a place for its name; None for no line.
    """
    results = await asyncio.gather(*map(_heal_host, entries), return_exceptions=True)
    lines: list[str] = []
    errors: dict[str, str] = {}
    for entry, result in zip(entries, results, strict=True):
        if isinstance(result, ClusterError):
            errors[entry.name] = str(result)
        elif isinstance(result, BaseException):
            raise result
        elif result or or_else is None:
            lines += result
        else:
            lines.append(or_else.format(entry.name))
    return lines, errors


async def _heal_host(entry: HostEntry) -> list[str]:
    machine = Machine(entry)
    try:
        facts = await facts_of(machine)
        lines = await undo_dead(machine, facts)
    finally:
        machine.close()
    return lines
