"""Run a workload and a schedule of faults against a cluster, and record the history.

The caller starts the cluster and judges the history. A process of the history lives as long as
its connection: after a lost connection or an indeterminate operation, the next operation comes
from a new process over a new connection.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from kraftproof.cluster.plugin import blamed, plugin, returned
from kraftproof.cluster.protocol import Cluster, ClusterError
from kraftproof.cluster.systems.system import System, SystemUnavailableError
from kraftproof.nemesis.fault import Roles
from kraftproof.nemesis.injector import Injector
from kraftproof.nemesis.schedule import Schedule
from kraftproof.run.backends import supervise
from kraftproof.run.health.health import Health
from kraftproof.run.history import FaultEvent, FaultRecorder, HistoryRecorder
from kraftproof.run.interpreter.culprits import LONG_NS
from kraftproof.run.interpreter.session import ENDING_NS, RunSession
from kraftproof.run.operations import DoneOperations
from kraftproof.workloads.workload import Load, Workload

ROLES_NS = 60_000_000_000
"""Time in which a system must report the roles of its nodes."""
FINAL_READS_NS = 900_000_000_000
"""Time in which the final reads must end."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Interpreted:
    """Result of the interpreter in memory; the history itself is in the files."""

    started_ns: int
    ended_ns: int
    """Between these, operations were invoked and faults injected."""
    unread_keys: int
    operations: DoneOperations
    """Completed operations, in the order of their completion."""
    faults: tuple[FaultEvent, ...]


class Interpreter:
    """One run on a cluster that is up."""

    __slots__ = (
        "_cluster",
        "_ended",
        "_injector",
        "_schedule",
        "_session",
        "_started_ns",
        "_stopped",
        "_system",
        "_tell",
        "failures",
        "faults",
        "health",
        "history",
    )

    def __init__(
        self,
        cluster: Cluster,
        system: System,
        schedule: Schedule,
        history: HistoryRecorder,
        faults: FaultRecorder,
        health: Callable[[Callable[[Exception], None]], Health] | None = None,
        tell: Callable[[str], None] | None = None,
    ) -> None:
        """Prepare a run.

        Args:
            cluster: The cluster, which is up when `run` is called.
            system: The system of its nodes.
            schedule: The faults.
            history: The log of the operations.
            faults: The log of the faults.
            health: Makes the watches of live nodes; None for simulated nodes.
            tell: Takes the reason why a run outlasts its time limit; None for simulated nodes.
        """
        self._cluster = cluster
        self._system = system
        self._schedule = schedule
        self.history = history
        self.faults = faults
        self.failures: list[Exception] = []
        """The errors that end the run, in the order in which they came."""
        self._started_ns: int | None = None
        self._session: RunSession | None = None
        self._tell = tell
        self._stopped = cluster.scope.promise()
        self._ended = cluster.scope.promise()
        self._injector = Injector(cluster, self._roles, faults, self.fail)
        self.health = None if health is None else health(self.fail)

    async def run(
        self,
        workload: Workload,
        load: Load,
        *,
        seed: int,
        time_limit_ns: int,
        operations: tuple[int, ...] | None = None,
        run_id: str = "0",
    ) -> Interpreted:
        """Run the workload under the schedule, then read every key with all healed.

        Raises:
            PluginError: a plug-in has made a mistake, which ends the run at once.
        """
        scope = self._cluster.scope
        started_ns = self._started_ns = scope.now()
        session = self._session = RunSession(
            cluster=self._cluster,
            system=self._system,
            workload=workload,
            load=load,
            recorder=self.history,
            seed=seed,
            run_id=run_id,
            operations=operations,
            report=self.fail,
            observe=None if self.health is None else self.health.observe,
        )
        if self.health is not None:
            self.health.start()
        running = scope.spawn(self._run_workload(workload, session))
        self._injector.start(self._schedule)
        await scope.wait(self._stopped, time_limit_ns)
        self._raise_failure()
        session.is_ending = True
        await self._end_of_workload()
        self._raise_failure()
        if not running.done:
            raise session.late("run, whose session has ended,", ENDING_NS)
        ended_ns = scope.now()
        await self._injector.finish()
        supervise(self._cluster)
        if self.health is not None:
            await self.health.recover()
        self._raise_failure()
        session.is_reading = True
        unread = await self._final_reads(workload, session)
        await self._injector.end()
        self._raise_failure()
        return self._interpreted(started_ns, ended_ns, unread)

    async def _end_of_workload(self) -> None:
        scope = self._cluster.scope
        hint = None if self._tell is None else scope.spawn(self._tell_why_late(self._tell))
        await scope.wait(self._ended, ENDING_NS)
        if hint is not None:
            hint.cancel()

    async def _tell_why_late(self, tell: Callable[[str], None]) -> None:
        await self._cluster.scope.sleep(LONG_NS)
        late = self.unreturned()
        if late is not None:
            tell(f"waiting for at most {ENDING_NS // 1_000_000_000} s: {late}")

    def unreturned(self) -> str | None:
        """Return which calls of clients have not returned for a long time; None without any."""
        return None if self._session is None else self._session.unreturned()

    def fail(self, error: Exception) -> None:
        """End the run at once because of an error; of several with one text the first is kept."""
        if str(error) not in map(str, self.failures):
            self.failures.append(error)
        self._stopped.set(None)
        self._ended.set(None)

    async def _run_workload(self, workload: Workload, session: RunSession) -> None:
        try:
            with blamed(session.culprits.workload, "run", ClusterError, SystemUnavailableError):
                await workload.run(session)
        except Exception as error:  # noqa: BLE001 - `run` raises it
            self.fail(error)
        self._ended.set(None)

    async def _final_reads(self, workload: Workload, session: RunSession) -> int:
        culprit = session.culprits.workload
        with blamed(culprit, "final_reads", ClusterError, SystemUnavailableError):
            reading = workload.final_reads(session)
            unread: object = await self._cluster.scope.within(reading, FINAL_READS_NS)
        if not isinstance(unread, int):
            raise returned(culprit, "final_reads", unread, "a whole number")
        return unread

    async def _roles(self) -> Roles:
        culprit = plugin("system", self._system.name, self._system)
        with blamed(culprit, "roles", ClusterError):
            asking = self._system.roles(self._cluster)
            roles: object = await self._cluster.scope.within(asking, ROLES_NS)
        nodes = {node.node_id for node in self._cluster.nodes}
        if not isinstance(roles, Mapping) or not all(
            isinstance(ids, tuple | list) and nodes.issuperset(ids) for ids in roles.values()
        ):
            raise returned(culprit, "roles", roles, "a tuple of the cluster's node ids for a role")
        return roles

    def _raise_failure(self) -> None:
        if self.failures:
            raise self.failures[0]

    def so_far(self) -> Interpreted | None:
        """Return what there is of a run that was broken off; None if it was not begun."""
        if self._started_ns is None:
            return None
        return self._interpreted(self._started_ns, self._cluster.scope.now(), 0)

    def _interpreted(self, started_ns: int, ended_ns: int, unread_keys: int) -> Interpreted:
        return Interpreted(
            started_ns=started_ns,
            ended_ns=ended_ns,
            unread_keys=unread_keys,
            operations=self.history.done,
            faults=tuple(self.faults.events),
        )

    async def heal_all(self) -> None:
        """Stop injecting, and heal what is applied."""
        await self._injector.heal_all()
