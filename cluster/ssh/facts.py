"""Facts of a host, as its agent tells them, and the question whether another run holds the host."""

import asyncio
import socket
from typing import Final

import msgspec

from kraftproof.cluster.owner import Life, Owner
from kraftproof.cluster.protocol import ContaminatedError
from kraftproof.cluster.ssh.login import SshError
from kraftproof.cluster.ssh.machine import Machine

SILENT_S: Final = 30.0
"""Silence of a harness after which the keeper of a host removes firewall rules, in seconds."""
EXPIRE_S: Final = 300.0
"""Silence after which the keeper ends the nodes and gives the lock of the host back, in seconds."""


class RunOwner(msgspec.Struct, frozen=True, kw_only=True):
    """The harness that uses a host."""

    owner: Owner
    user: str
    machine: str
    """Name of the harness's machine, for readers."""


class Holder(msgspec.Struct, frozen=True, kw_only=True):
    """The run that holds the lock of a host, as its keeper tells it."""

    run: str
    directory: str
    owner: RunOwner
    silent_s: float
    """Time since the last sign of life of the harness, in seconds."""
    pid: int
    """The process of the keeper, on the host."""

    @property
    def is_dead(self) -> bool:
        """Return whether the harness has died; of another machine, whether it fell silent."""
        match self.owner.owner.life:
            case Life.ALIVE:
                return False
            case Life.DEAD:
                return True
            case _:
                return self.silent_s > SILENT_S


class RunOnHost(msgspec.Struct, frozen=True, kw_only=True):
    """A run whose directory is on a host."""

    run: str
    owner: RunOwner | None
    processes: int

    @property
    def is_alive(self) -> bool:
        """Return whether its harness is known to run, although no keeper does."""
        return self.owner is not None and self.owner.owner.life is Life.ALIVE


class HostFacts(msgspec.Struct, frozen=True, kw_only=True):
    """Tools of a host, and the runs found there.

    Attributes:
        base: The directory for runs, absolute.
        python: Version of its Python 3.
        machine: Its processor, as uname has it.
        libfaketime: Path of the library for clock faults, if it is there.
        java: Path of Java, if it is there.
        holder: The run that holds the lock of the host.
        lack: Why no run can start there; None if one can.
        runs: The runs with a directory on the host.
    """

    base: str
    python: tuple[int, int]
    machine: str
    libfaketime: str | None
    java: str | None
    holder: Holder | None
    lack: str | None = None
    runs: tuple[RunOnHost, ...]

    def directory_of(self, run: str) -> str:
        """Return the directory of a run on the host."""
        return f"{self.base}/runs/{run}"


async def facts_of(machine: Machine, address: str = "") -> HostFacts:
    """Return the facts of a host.

    Args:
        machine: The host.
        address: The address of its node, if a node is to start there.

    Raises:
        SshError: the host can't be used.
    """
    arguments = {"base": machine.entry.directory, "address": address}
    told = await machine.agent("probe", arguments)
    try:
        return msgspec.convert(told, HostFacts)
    except msgspec.ValidationError as error:
        raise SshError(machine.name, f"probe: {error}: another version was here") from error


def refuse_held(machine: Machine, holder: Holder | None) -> None:
    """Refuse a host that a live harness uses: two runs on one host would mix.

    Raises:
        ContaminatedError: one line with the holder.
    """
    if holder is None or holder.is_dead:
        return
    owner = holder.owner
    raise ContaminatedError(
        f"host {machine.name}: is used by another harness: run {holder.run} of {owner.user} on "
        f"{owner.machine}, process {owner.owner.process.pid}, heard {holder.silent_s:.0f} s ago"
    )


async def node_address(machine: Machine) -> str:
    """Return the IPv4 address of the node of a host.

    Raises:
        SshError: the name of the host has no IPv4 address.
    """
    wanted = machine.entry.node_address or machine.entry.address
    loop = asyncio.get_running_loop()
    try:
        found = await loop.getaddrinfo(wanted, None, family=socket.AF_INET)
    except OSError as error:
        raise SshError(
            machine.name,
            f"{wanted} has no IPv4 address ({error.strerror}): give one by node_address",
        ) from error
    return str(found[0][4][0])


async def undo_dead(machine: Machine, facts: HostFacts) -> list[str]:
    """Remove what dead harnesses left on a host; return a line for each run.

    Raises:
        ContaminatedError: a live harness uses the host.
        SshError: the host can't be used.
    """
    refuse_held(machine, facts.holder)
    holder = facts.holder
    found = [facts.directory_of(one.run) for one in facts.runs if not one.is_alive]
    if holder is not None and holder.directory not in found:
        found.append(holder.directory)
    return [await undo(machine, directory) for directory in found]


async def undo(machine: Machine, directory: str) -> str:
    """End the nodes of a run on a host, and remove rules, keeper and files; return a line.

    Raises:
        SshError: the host can't be used, or a process does not end.
    """
    rules = await released(machine, directory)
    cleaned = await machine.agent("clean", {"directory": directory})
    run = directory.rpartition("/")[2]
    return (
        f"host {machine.name}, run {run}: {cleaned['ended']} processes ended, {rules} firewall "
        "rules and the files removed"
    )


async def released(machine: Machine, directory: str) -> int:
    """End the keeper of a run and remove firewall rules; return the number of rules.

    Without the right to be root there are no rules, and the keeper is the login's own process.
    """
    try:
        told = await machine.agent("release", {"directory": directory}, as_root=True)
    except SshError:
        told = await machine.agent("release", {"directory": directory})
    return int(told["rules"])
