"""The simulated backend: complete nodes on virtual time, one run per seed; see world.py."""

from collections.abc import Coroutine
from dataclasses import replace
from pathlib import Path
from random import Random
from typing import Any, TypeVar

from typing_extensions import override

from kraftproof.cluster.connection import Connection
from kraftproof.cluster.protocol import (
    LIVE_ONLY,
    Address,
    Capability,
    Cluster,
    ClusterError,
    ClusterOptions,
    Link,
    NodeInfo,
)
from kraftproof.cluster.simulated.background import background_load
from kraftproof.cluster.simulated.convergence import final_checks
from kraftproof.cluster.simulated.convergence.final_phase import FinalPhase, converge
from kraftproof.cluster.simulated.convergence.unregistered_broker import draw_broker
from kraftproof.cluster.simulated.differential.comparison import compare_with_references
from kraftproof.cluster.simulated.faults import fault_timing, stop_watch
from kraftproof.cluster.simulated.faults.crash_points import crash_at_random_point
from kraftproof.cluster.simulated.faults.simulated_faults import SimulatedFaults
from kraftproof.cluster.simulated.invariants.conformance import MakeSpecification
from kraftproof.cluster.simulated.kernel.garbage_collection import seldom_collected
from kraftproof.cluster.simulated.kernel.scheduler import SimulationLimitError
from kraftproof.cluster.simulated.kernel.scope import SimulatedScope, SimulatedTask
from kraftproof.cluster.simulated.network import connection as connections
from kraftproof.cluster.simulated.network.byte_stream import SimulatedStream
from kraftproof.cluster.simulated.network.links import HARNESS
from kraftproof.cluster.simulated.node.mutation import refuse_unmutated
from kraftproof.cluster.simulated.node.process import NodeProcess
from kraftproof.cluster.simulated.violation import Violation
from kraftproof.cluster.simulated.world import World
from kraftproof.node.core.base.types import milliseconds
from kraftproof.node.wire.messages import Message

T = TypeVar("T")
READY_WITHIN_NS = milliseconds(60_000)
STOP_WITHIN_NS = milliseconds(10_000)
POLL_NS = milliseconds(50)
MAXIMUM_NS, MAXIMUM_EVENTS = milliseconds(172_800_000), 50_000_000
CRASH_FILE = "crash.txt"  # in the run directory: tracebacks of crashed node code


class InvariantViolatedError(RuntimeError):
    """The run ended at its first violation, which `violations` has."""


class SimulatedCluster(SimulatedFaults, Cluster):
    """A cluster in one process, on virtual time."""

    def __init__(self, options: ClusterOptions, specify: MakeSpecification | None = None) -> None:
        refuse_unmutated(options.mutant)
        self.options = options
        self.is_stopped = False
        self.world = World(options, specify)
        self.aimed_crashes = {}
        self._scope = SimulatedScope(self.world.scheduler)
        self._background: list[SimulatedTask[None]] = []

    def run(self, main: Coroutine[Any, Any, T]) -> T:
        """Run simulated time until `main` ends, and return the result of `main`.

        Raises:
            InvariantViolatedError: an invariant was violated; see `violations`.
            SimulationLimitError: `main` did not end within the limits of a run.
        """
        scheduler, violations = self.world.scheduler, self.world.monitor.violations
        task = self._scope.spawn(main)
        with seldom_collected():
            try:
                scheduler.run_until(
                    task.finished, violations, until_ns=MAXIMUM_NS, maximum_events=MAXIMUM_EVENTS
                )
            except SimulationLimitError:
                self._scope.raise_lost_errors()
                raise
            except Exception as error:  # noqa: BLE001 - a scheduled action outside of processes
                self.world.crashed(HARNESS, error)
            finally:
                self.world.rest()
        if violations:
            raise InvariantViolatedError(str(violations[0]))
        return self._result(task)

    def abandon(self) -> None:
        """End the simulation at once; the cluster cannot run afterwards."""
        self._scope.abandon_all()

    def _result(self, task: SimulatedTask[T]) -> T:
        task.observed = True
        if task.error is not None:
            raise task.error
        self._scope.raise_lost_errors()
        return task.result

    @property
    def violations(self) -> list[Violation]:
        """The violations so far, or else the crashes that the run has outlived."""
        return self.world.monitor.violations or self.world.crashes

    @property
    def events(self) -> int:
        """Number of events so far."""
        return self.world.scheduler.events

    @property
    def simulated_ns(self) -> int:
        """Simulated time since the start of the run, in nanoseconds."""
        return self.world.scheduler.now_ns

    @property
    def bytes_passed(self) -> int:
        """Number of bytes encoded by the codec; 0 if messages pass as objects."""
        return self.world.transport.bytes_passed

    async def quiesce(self) -> None:
        """Run the final phase: heal a majority, wait for convergence, and check the result."""
        phase = FinalPhase.draw(Random(f"{self.options.seed}/ending"), self.nodes)
        try:
            random = Random(f"{self.options.seed}/unregistered")
            phase = replace(phase, unregistered=draw_broker(self.world, phase.core, random))
            await converge(self._scope, self.world, phase)
            compare_with_references(self.world, self.options, is_end=True)
        except Exception as error:  # noqa: BLE001 - the checks run code of the node
            self.world.crashed(HARNESS, error)

    def write_files(self) -> None:
        """Write the present disk and trace of each node to the run directory."""
        for info in self.nodes:
            self._machine(info.node_id).write_files(self.node_files(info.node_id))
        traces = [violation.traceback for violation in self.violations if violation.traceback]
        if traces:
            (self.options.directory / CRASH_FILE).write_text("\n".join(traces), encoding="utf-8")

    @property
    @override
    def backend(self) -> str:
        return "simulated"

    @property
    @override
    def nodes(self) -> tuple[NodeInfo, ...]:
        return self.options.nodes

    @property
    @override
    def capabilities(self) -> frozenset[Capability]:
        return frozenset(Capability) - LIVE_ONLY

    @property
    @override
    def scope(self) -> SimulatedScope:
        return self._scope

    @override
    async def start(self) -> None:
        compare_with_references(self.world, self.options)
        for info in self.nodes:
            self._machine(info.node_id).start()
        deadline_ns = self._scope.now() + READY_WITHIN_NS
        while not final_checks.has_started(self.world):
            if self._scope.now() >= deadline_ns:
                final_checks.report_not_ready(self.world, READY_WITHIN_NS // 1_000_000_000)
                raise ClusterError(f"not ready within {READY_WITHIN_NS // 1_000_000_000} s")
            await self._scope.sleep(POLL_NS)
        self._background = background_load.start(self._scope, self.world, self.options)

    @override
    async def lacks(self) -> str | None:
        return None if final_checks.is_ready(self.world) else "a leader, or a broker that runs"

    @override
    async def stop(self) -> None:
        self.is_stopped = True
        if self.options.is_collected:
            self.write_files()
        for info in self.nodes:
            self._machine(info.node_id).kill()

    @override
    async def kill(self, node_id: int) -> None:
        machine = self._machine(node_id)
        await crash_at_random_point(self._scope, machine, machine.kill)

    @override
    async def start_node(self, node_id: int) -> None:
        self._machine(node_id).start()

    @override
    async def stop_node(self, node_id: int) -> None:
        machine = self._machine(node_id)
        machine.stop()
        await stop_watch.wait_for_exit(self._scope, self.world, machine, STOP_WITHIN_NS)
        machine.kill()

    @override
    async def pause(self, node_id: int) -> None:
        self._process(node_id)
        await fault_timing.wait_for_write(self._scope, self._machine(node_id))
        process = self._machine(node_id).process
        if process is not None:
            process.pause()

    @override
    async def resume(self, node_id: int) -> None:
        machines = self.world.machines
        await fault_timing.wait_until_superseded(
            self._scope, self._machine(node_id), machines.values()
        )
        process = self._machine(node_id).process
        if process is not None:
            process.resume()

    @override
    async def process_id(self, node_id: int) -> int | None:
        machine = self._machine(node_id)
        return None if machine.process is None else node_id * 1000 + machine.restart_count

    @override
    async def is_paused(self, node_id: int) -> bool:
        process = self._machine(node_id).process
        return process is not None and process.is_paused

    @override
    async def cut(self, links: frozenset[Link]) -> None:
        ends = sorted({node_id for link in links for node_id in link})
        targets = {link.target for link in links}
        if len(targets) == 1 < len(links):
            await fault_timing.wait_for_write(self._scope, self._machine(targets.pop()))
        else:
            await fault_timing.wait_for_leader_write(self._scope, map(self._machine, ends))
        for link in sorted(links):
            self.world.links.cut(link)

    @override
    async def heal(self, links: frozenset[Link]) -> None:
        for link in sorted(links):
            self.world.links.heal(link)

    @override
    async def withheld(self, links: frozenset[Link]) -> int:
        return sum(self.world.links.withheld(link) for link in sorted(links))

    @override
    async def round_trip(self, link: Link) -> bool:
        ends = [self._machine(node_id).process for node_id in link]
        is_running = all(process and not process.is_paused for process in ends)
        return is_running and await connections.is_reached(self._scope, self.world.links, link)

    @override
    async def shift_clock(self, node_id: int, offset_ns: int) -> None:
        self._machine(node_id).env.clock.wall_offset_ns = offset_ns

    @override
    async def wall_clock_offset(self, node_id: int) -> int | None:
        machine = self._machine(node_id)
        return None if machine.process is None else machine.env.clock.injected_ns

    @override
    async def lose_unsynced(self, node_id: int) -> int:
        machine = self._machine(node_id)
        return await crash_at_random_point(self._scope, machine, machine.lose_power)

    @override
    def address(self, node_id: int, port: str) -> Address:
        raise ClusterError("the simulated backend has no addresses")

    async def connect(
        self, node_id: int, timeout_ns: int, *, port: str = "", client_id: str = ""
    ) -> Connection[Message]:
        """Open a connection that takes messages as objects."""
        network, sender = self.world.network, connections.sender_of(port, client_id)
        return await connections.connect(self._scope, network, node_id, timeout_ns, sender)

    async def open_stream(self, node_id: int, timeout_ns: int) -> SimulatedStream:
        """Open a connection that carries bytes."""
        return await connections.open_stream(self._scope, self.world.network, node_id, timeout_ns)

    @override
    def bootstrap(self) -> str:
        return ""

    @override
    def node_files(self, node_id: int) -> Path:
        return self.options.directory / "nodes" / str(node_id)

    def _process(self, node_id: int) -> NodeProcess:
        if (process := self._machine(node_id).process) is None:
            raise ClusterError(f"node {node_id} is down")
        return process
