"""Look at hosts before a run: can each be used, is it free, and which faults does it allow?"""

from collections.abc import Awaitable, Callable
from typing import TypeVar

from kraftproof.cluster.protocol import CLOCKS, Capability
from kraftproof.cluster.ssh.facts import facts_of, node_address, refuse_held
from kraftproof.cluster.ssh.hosts_file import HostEntry
from kraftproof.cluster.ssh.login import SshError
from kraftproof.cluster.ssh.machine import Machine
from kraftproof.cluster.ssh.together import together

T = TypeVar("T")
FIREWALL = frozenset({Capability.PARTITION, Capability.LOSS})


async def check_hosts(entries: tuple[HostEntry, ...]) -> None:
    """Log in to each host, and refuse a host that another harness uses or that has no room.

    Raises:
        SshError: a host can't be used; one line.
        ContaminatedError: a live harness uses a host.
    """

    async def check(machine: Machine) -> None:
        await machine.run(("true",), is_repeatable=True)  # a failed login is named before others
        facts = await facts_of(machine, await node_address(machine))
        refuse_held(machine, facts.holder)
        if facts.lack is not None and not facts.runs:
            raise SshError(machine.name, facts.lack)

    await _for_each(entries, check)


async def lacking(entries: tuple[HostEntry, ...], capability: Capability) -> str | None:
    """Return why a host does not allow the faults of a capability; None if all allow them.

    Raises:
        SshError: a host can't be used; one line.
    """

    async def reason(machine: Machine) -> str | None:
        if capability in FIREWALL:
            return await _no_firewall(machine)
        if capability in CLOCKS and (await facts_of(machine)).libfaketime is None:
            return f"host {machine.name}: there is no libfaketime (Debian's package libfaketime)"
        return None

    reasons = await _for_each(entries, reason)
    return next((one for one in reasons if one is not None), None)


async def _no_firewall(machine: Machine) -> str | None:
    await facts_of(machine)  # another error than that of sudo is not a lack
    try:
        told = await machine.agent("firewall", {}, as_root=True)
    except SshError as error:
        return f"host {machine.name}: '{machine.entry.sudo}' is refused: {error.reason}"
    unusable = told.get("unusable")
    return None if unusable is None else f"host {machine.name}: {unusable}"


async def _for_each(
    entries: tuple[HostEntry, ...], work: Callable[[Machine], Awaitable[T]]
) -> list[T]:
    machines = [Machine(entry) for entry in entries]
    try:
        return await together(map(work, machines))
    finally:
        for machine in machines:
            machine.close()
