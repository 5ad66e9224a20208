"""Hosts of the ssh backend: machines of a file, each locked for the run and watched by a keeper.

While the run lives, the harness touches a lease on each host. Whatever the run leaves there is
undone at its end, or by the keeper, the next run, a sweep, or `kraftproof heal`.
"""

import asyncio
import getpass
import socket
from collections.abc import Awaitable, Callable, Mapping
from pathlib import Path
from typing import Final, TypeVar

import msgspec
from typing_extensions import override

from kraftproof.cluster import temporary
from kraftproof.cluster.owner import this_owner
from kraftproof.cluster.protocol import (
    Address,
    Capability,
    ClusterOptions,
    NodeInfo,
)
from kraftproof.cluster.remote.host import Host, Hosts, Ports, Progress
from kraftproof.cluster.remote.run_name import run_name
from kraftproof.cluster.ssh import records
from kraftproof.cluster.ssh.capabilities import CAPABILITIES
from kraftproof.cluster.ssh.facts import (
    EXPIRE_S,
    SILENT_S,
    Holder,
    HostFacts,
    RunOwner,
    facts_of,
    node_address,
    refuse_held,
    undo,
    undo_dead,
)
from kraftproof.cluster.ssh.host import Place, SshHost
from kraftproof.cluster.ssh.hosts_file import HostEntry
from kraftproof.cluster.ssh.install import Archives
from kraftproof.cluster.ssh.login import SshError
from kraftproof.cluster.ssh.machine import Machine
from kraftproof.cluster.ssh.together import together

T = TypeVar("T")
BEAT_S: Final = 5.0
BEAT_DEADLINE_S: Final = 10.0
COLLECT_S: Final = 300.0


class SshHosts(Hosts):
    """The machines of one run."""

    def __init__(
        self, options: ClusterOptions, entries: tuple[HostEntry, ...], progress: Progress
    ) -> None:
        self._directory = options.directory.absolute()
        self._nodes = options.nodes
        self._progress = progress
        self._entries = entries[: len(options.nodes)]
        self._run = run_name(options.directory)
        self._begun: dict[int, SshHost] = {}
        self._machines: dict[int, Machine] = {}
        self._archives: Archives | None = None
        self._beats: list[asyncio.Task[None]] = []

    @property
    @override
    def backend(self) -> str:
        return "ssh"

    @property
    @override
    def capabilities(self) -> frozenset[Capability]:
        return CAPABILITIES

    @override
    def directory(self, node: NodeInfo) -> Path:
        return self._directory / "nodes" / str(node.node_id)

    @override
    async def provision(self, ports: Ports) -> Mapping[int, Host]:
        for line in await asyncio.to_thread(temporary.sweep):
            self._progress(line)
        self._archives = Archives(self._progress)
        owner = this_owner()
        record = records.HostsRecord(run=self._run, owner=owner, hosts=self._entries)
        await asyncio.to_thread(records.write_record, self._directory, record)
        told = RunOwner(owner=owner, user=getpass.getuser(), machine=socket.gethostname())
        self._machines = {
            node.node_id: Machine(entry)
            for node, entry in zip(self._nodes, self._entries, strict=True)
        }
        facts = await _each(self._machines, lambda n: self._freed(self._machines[n]))
        await _each(self._machines, lambda n: self._begin(n, facts[n], ports[n], told))
        self._beats = [
            asyncio.create_task(self._beat(host.machine, host.directory.parent / "lease"))
            for host in self._begun.values()
        ]
        return dict(self._begun)

    async def _freed(self, machine: Machine) -> HostFacts:
        """Remove what dead harnesses left, and return the facts of the host."""
        facts = await facts_of(machine)
        for line in await undo_dead(machine, facts):
            self._progress(line)
        return facts

    async def _begin(
        self, node_id: int, facts: HostFacts, ports: Mapping[str, int], owner: RunOwner
    ) -> None:
        machine = self._machines[node_id]
        address, harness = await _addresses(machine)
        directory = facts.directory_of(self._run)
        assert self._archives is not None, "provision made them"
        builtins = msgspec.to_builtins(owner)
        await machine.agent("prepare", {"directory": directory, "owner": builtins})
        offset_ns = await machine.monotonic_offset_ns()
        # From here on there is something to give back.
        self._begun[node_id] = SshHost(
            machine,
            facts,
            Place(
                run_directory=directory,
                files=self._directory / "nodes" / str(node_id),
                harness=harness,
            ),
            {
                name: Address(host=address, port=number, peer_host=address)
                for name, number in ports.items()
            },
            self._archives,
            offset_ns,
        )
        await lock(machine, directory, builtins)

    async def _beat(self, machine: Machine, lease: Path) -> None:
        """Touch the lease of a host every few seconds; a lost connection comes back by itself."""
        while True:
            await asyncio.sleep(BEAT_S)
            try:
                await machine.run(
                    ("touch", "-c", str(lease)), is_repeatable=True, deadline_s=BEAT_DEADLINE_S
                )
            except SshError as error:
                self._progress(f"no sign of life to the keeper: {error}")

    @override
    async def started(self) -> None:
        """The record was written before anything was done."""

    @override
    async def remove(self) -> None:
        for beat in self._beats:
            beat.cancel()
        try:
            await _each(self._begun, self._give_back)
            records.forget(self._run)
        finally:
            for machine in self._machines.values():
                machine.close()
            if self._archives is not None:
                self._archives.remove()

    async def _give_back(self, node_id: int) -> None:
        """End a node, fetch its files, and undo the rest."""
        host = self._begun[node_id]
        try:
            await host.kill()
            files = self._directory / "nodes" / str(node_id)
            await host.machine.download(str(host.directory), files, deadline_s=COLLECT_S)
        finally:
            await undo(host.machine, str(host.directory.parent))


async def lock(machine: Machine, directory: str, owner: Mapping[str, object]) -> None:
    """Take the lock of a host for a run whose directory is prepared.

    Raises:
        ContaminatedError: another harness was first.
        SshError: the host can't be used.
    """
    arguments = {
        "directory": directory,
        "owner": owner,
        "silent_s": SILENT_S,
        "expire_s": EXPIRE_S,
    }
    try:
        told = await machine.agent("begin", arguments, as_root=True, is_repeatable=False)
    except SshError:  # without sudo there are no firewall rules that a keeper has to remove
        told = await machine.agent("begin", arguments, is_repeatable=False)
    if told.get("held") is not None:
        holder = msgspec.convert(told["held"], Holder)
        refuse_held(machine, holder)
        raise SshError(machine.name, f"run {holder.run} took the lock meanwhile: start again")


async def _addresses(machine: Machine) -> tuple[str, str]:
    """Return the IP address of the node, and that of the harness as the host sees it.

    Raises:
        SshError: the name of the host has no IPv4 address.
    """
    address = await node_address(machine)
    done = await machine.run(("sh", "-c", 'echo "${SSH_CONNECTION%% *}"'), is_repeatable=True)
    return address, done.output.decode(errors="replace").strip()


async def _each(keys: Mapping[int, object], work: Callable[[int], Awaitable[T]]) -> dict[int, T]:
    """Do the work for all nodes side by side; return the results by node."""
    return dict(zip(keys, await together(map(work, keys)), strict=True))
