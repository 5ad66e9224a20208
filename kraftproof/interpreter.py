"""The one interpreter: a workload and a schedule of faults against any cluster, all recorded.

It starts nothing and judges nothing; it knows neither Kafka nor backends. A process of the
history lives as long as its connection: when that is lost, or an operation stays indeterminate,
the next operation comes from a new process over a new connection.
"""

from dataclasses import dataclass
from random import Random

from typing_extensions import override

from cluster.connection import ConnectionFailed
from cluster.protocol import Cluster
from cluster.scope import Scope
from cluster.systems.system import Client, Completion, Outcome, System, Value
from kraftproof.history import FaultEvent, FaultRecorder, HistoryRecorder
from kraftproof.operations import DoneOperations
from nemesis.injector import Injector
from nemesis.schedule import Schedule
from workloads.workload import Load, Session, Workload

LEFT_OUT_NS = 1_000_000
"""An operation that does not take place takes some time, since its client may try for ever."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Interpreted:
    """What a run of the interpreter leaves in memory; the rest is in the files."""

    started_ns: int
    ended_ns: int
    """Between these, operations were invoked and faults injected."""
    unread_keys: int
    operations: DoneOperations
    """Those that have ended, in that order."""
    faults: tuple[FaultEvent, ...]


class RecordedProcess:
    """One client whose operations are written down."""

    __slots__ = ("_client", "_number", "_session")

    def __init__(self, session: "RunSession", client: Client) -> None:
        self._session = session
        self._client = client
        self._number = session.next_process()

    async def invoke(self, f: str, key: str, value: Value = None) -> Completion:
        """Do one operation and return what became of it."""
        if not self._session.is_invoked():
            await self._session.scope.sleep(LEFT_OUT_NS)
            return Completion(outcome=Outcome.FAIL, error="left out of this run")
        recorder = self._session.recorder
        invoked = recorder.invoke(self._number, f, key, value, self._client.node)
        try:
            await self._client.open()
        except ConnectionFailed as error:
            completion = Completion(outcome=Outcome.FAIL, error=str(error), connected=False)
        else:
            completion = await self._client.invoke(f, key, value)
        recorder.complete(invoked, completion)
        if completion.outcome is Outcome.INFO or not completion.connected:
            self._client.close()
            self._number = self._session.next_process()
        return completion

    def close(self) -> None:
        """Drop the connection."""
        self._client.close()


class RunSession(Session):
    """What the workload is handed."""

    def __init__(
        self,
        *,
        cluster: Cluster,
        system: System,
        workload: str,
        load: Load,
        recorder: HistoryRecorder,
        seed: int,
        operations: tuple[int, ...] | None,
    ) -> None:
        self.recorder = recorder
        self.is_ending = False
        self.is_reading = False
        """Whether these are the final reads."""
        self._cluster = cluster
        self._system = system
        self._workload = workload
        self._load = load
        self._random = Random(f"workload {seed}")
        self._client_random = Random(f"clients {seed}")
        self._processes = 0
        self._turns = 0
        self._operations = None if operations is None else frozenset(operations)

    @property
    @override
    def scope(self) -> Scope:
        """Time and tasks."""
        return self._cluster.scope

    @property
    @override
    def random(self) -> Random:
        """The workload's own chance."""
        return self._random

    @property
    @override
    def load(self) -> Load:
        """How much to do."""
        return self._load

    @property
    @override
    def ending(self) -> bool:
        """Whether the time for new operations is over."""
        return self.is_ending

    def next_process(self) -> int:
        """Return a number that no process had before."""
        self._processes += 1
        return self._processes - 1

    def is_invoked(self) -> bool:
        """Whether the operation whose turn it is takes place; final reads always do."""
        self._turns += 1
        return self.is_reading or self._operations is None or self._turns - 1 in self._operations

    @override
    def process(self) -> RecordedProcess:
        """Return a new client process."""
        client = self._system.client(self._cluster, self._workload, self._client_random)
        return RecordedProcess(self, client)


class Interpreter:
    """One run on a cluster that is up."""

    __slots__ = (
        "_cluster",
        "_injector",
        "_schedule",
        "_started_ns",
        "_system",
        "faults",
        "history",
    )

    def __init__(
        self,
        cluster: Cluster,
        system: System,
        schedule: Schedule,
        history: HistoryRecorder,
        faults: FaultRecorder,
    ) -> None:
        self._cluster = cluster
        self._system = system
        self._schedule = schedule
        self.history = history
        self.faults = faults
        self._started_ns: int | None = None
        self._injector = Injector(cluster, lambda: system.roles(cluster), faults)

    async def run(
        self,
        workload: Workload,
        load: Load,
        *,
        seed: int,
        time_limit_ns: int,
        operations: tuple[int, ...] | None = None,
    ) -> Interpreted:
        """Run the workload under the schedule, then read every key with all healed."""
        scope = self._cluster.scope
        self._started_ns = scope.now()
        session = RunSession(
            cluster=self._cluster,
            system=self._system,
            workload=workload.name,
            load=load,
            recorder=self.history,
            seed=seed,
            operations=operations,
        )
        running = scope.spawn(workload.run(session))
        self._injector.start(self._schedule)
        await scope.sleep(time_limit_ns)
        session.is_ending = True
        await running
        ended_ns = scope.now()
        await self._injector.finish()
        session.is_reading = True
        unread = await workload.final_reads(session)
        return self._interpreted(self._started_ns, ended_ns, unread)

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
