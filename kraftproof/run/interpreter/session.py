"""A workload's view of a run: processes whose operations are recorded, time, chance, the load.

A mistake of the workload, of the system or of a client is reported to the run at once, since the
workload may catch the exception. See interpreter.py for the run.
"""

from collections.abc import Callable, Coroutine
from random import Random
from typing import Any, TypeVar

from typing_extensions import override

from kraftproof.cluster.connection import ConnectionFailed, OutcomeUnknown
from kraftproof.cluster.plugin import (
    BlockedError,
    HarnessError,
    Plugin,
    PluginError,
    blamed,
    described,
    plugin,
    returned,
    shown,
)
from kraftproof.cluster.protocol import Cluster, ClusterError
from kraftproof.cluster.scope import Scope
from kraftproof.cluster.systems.outcome import is_json
from kraftproof.cluster.systems.system import (
    Client,
    Completion,
    Outcome,
    System,
    SystemUnavailableError,
    Value,
)
from kraftproof.run.history import HistoryRecorder
from kraftproof.run.interpreter.culprits import OpenCall, culprits_of, silent, unreturned
from kraftproof.run.interpreter.session_scope import SessionScope
from kraftproof.workloads.workload import Load, Session, Workload

T = TypeVar("T")
ENDING_NS = 300_000_000_000
"""Time in which a workload must end after its session began to end, and a call of a client after
the final reads have begun."""
LEFT_OUT_NS = 1_000_000
"""An operation that does not take place takes some time, since its client may try for ever."""
Report = Callable[[Exception], None]
"""Takes an error that ends the run."""
Observe = Callable[[int | None, str, str, Completion], None]
"""Takes the node, the function, the key and the completion of each operation."""


class RecordedProcess:
    """One client whose operations are written down."""

    __slots__ = ("_client", "_culprit", "_number", "_session")

    def __init__(self, session: "RunSession", client: Client, culprit: Plugin) -> None:
        self._session = session
        self._client = client
        self._culprit = culprit
        self._number = session.next_process()

    async def invoke(self, f: str, key: str, value: Value = None) -> Completion:
        """Invoke an operation and return its completion; after an error of the run, raise it."""
        if self._session.failure is not None:
            raise self._session.failure
        if not self._session.is_invoked():
            await self._session.scope.sleep(LEFT_OUT_NS)
            return Completion(outcome=Outcome.FAIL, error="left out of this run")
        try:
            return await self._invoke(f, key, value)
        except Exception as error:
            self._session.report(error)
            raise

    async def _invoke(self, f: str, key: str, value: Value) -> Completion:
        recorder = self._session.recorder
        with blamed(self._culprit, "node"):
            node: object = self._client.node
        if node is not None and not isinstance(node, int):
            raise returned(self._culprit, "node", node, "the id of a node or None")
        with blamed(self._session.culprits.workload, "run"):
            invoked = recorder.invoke(self._number, f, key, value, node)
        completion = await self._completion(f, key, value)
        self._session.called.pop(self, None)
        with blamed(self._culprit, "invoke"):
            recorder.complete(invoked, completion)
        if self._session.observe is not None:
            self._session.observe(node, f, key, completion)
        if completion.outcome is Outcome.INFO or not completion.connected:
            self._close()
            self._number = self._session.next_process()
        return completion

    async def _completion(self, f: str, key: str, value: Value) -> Completion:
        try:
            with blamed(self._culprit, "open", ConnectionFailed, ClusterError):
                await self._called("open", self._client.open)
        except ConnectionFailed as error:
            return Completion(outcome=Outcome.FAIL, error=str(error), connected=False)
        try:
            with blamed(self._culprit, "invoke", ConnectionFailed, OutcomeUnknown, ClusterError):
                completion = await self._called(
                    f"invoke of {f}", lambda: self._client.invoke(f, key, value)
                )
        except ConnectionFailed as error:
            return Completion(outcome=Outcome.FAIL, error=str(error), connected=False)
        except OutcomeUnknown as error:
            outcome = self._session.errors.of_silence(f)
            return Completion(outcome=outcome, error=str(error), connected=False)
        return self._checked(completion)

    async def _called(self, call: str, begin: Callable[[], Coroutine[Any, Any, T]]) -> T:
        """Return the answer of a call of the client; the final reads wait for none for ever."""
        session = self._session
        session.called[self] = OpenCall(self._culprit, call, session.scope.now())
        if not session.is_reading:
            return await begin()
        begun_ns = session.scope.now()
        answer = await session.scope.race(begin(), ENDING_NS)
        if answer is None and session.scope.now() - begun_ns >= ENDING_NS:
            raise silent(self._culprit, call, ENDING_NS)
        return answer  # type: ignore[return-value] # None of `open` in time

    def _checked(self, completion: object) -> Completion:
        if not isinstance(completion, Completion):
            raise returned(self._culprit, "invoke", completion, "a Completion")
        outcome: object = completion.outcome
        if not isinstance(outcome, Outcome):
            wrong = f"invoke returned a Completion whose outcome is {shown(outcome)}"
            raise PluginError(self._culprit, f"{wrong}; Outcome.OK, FAIL or INFO is expected")
        error: object = completion.error
        if error is not None and not isinstance(error, str):
            wrong = f"invoke returned a Completion whose error is {shown(error)}"
            raise PluginError(self._culprit, f"{wrong}; a text or None is expected")
        if not is_json(completion.value):
            wrong = f"invoke returned a Completion whose value is {shown(completion.value)}"
            wanted = "texts, finite numbers, true, false, None, lists and dicts are expected"
            raise PluginError(self._culprit, f"{wrong}; {wanted}")
        return completion

    def close(self) -> None:
        """Drop the connection."""
        try:
            self._close()
        except Exception as error:
            self._session.report(error)
            raise

    def _close(self) -> None:
        with blamed(self._culprit, "close"):
            answer: object = self._client.close()  # type: ignore[func-returns-value]
        if answer is not None:
            raise returned(self._culprit, "close", answer, "None")


class RunSession(Session):
    """Interface of a run to its workload."""

    def __init__(
        self,
        *,
        cluster: Cluster,
        system: System,
        workload: Workload,
        load: Load,
        recorder: HistoryRecorder,
        seed: int,
        run_id: str,
        operations: tuple[int, ...] | None,
        report: Report,
        observe: Observe | None = None,
    ) -> None:
        self.observe = observe
        self.recorder = recorder
        self.failure: Exception | None = None
        """The error that ended the run, so that no client is called any more."""
        self._report = report
        self.culprits = culprits_of(system, workload)
        self.errors = system.errors
        self.is_ending = False
        self.is_reading = False
        """Whether these are the final reads."""
        self.called: dict[RecordedProcess, OpenCall] = {}
        """The call of the client in each open operation."""
        self._cluster = cluster
        self._system = system
        self._workload = workload
        self._load = load
        self._run_id = run_id
        self._scope = SessionScope(cluster.scope, self._report_task)
        self._random = Random(f"workload {seed}")
        self._client_random = Random(f"clients {seed}")
        self._processes = 0
        self._turns = 0
        self._operations = None if operations is None else frozenset(operations)

    @property
    @override
    def scope(self) -> Scope:
        """Time and tasks."""
        return self._scope

    @property
    @override
    def random(self) -> Random:
        """The workload's own chance."""
        return self._random

    @property
    @override
    def load(self) -> Load:
        """Return the number of operations to invoke."""
        return self._load

    @property
    @override
    def run_id(self) -> str:
        """Return the id that values of the run carry."""
        return self._run_id

    @property
    @override
    def ending(self) -> bool:
        """Return whether the time for new operations is over."""
        return self.is_ending

    def next_process(self) -> int:
        """Return a number that no process had before."""
        self._processes += 1
        return self._processes - 1

    def late(self, call: str, limit_ns: int) -> PluginError:
        """Return the error of a call of the workload that took too long, or of a silent client."""
        workload = OpenCall(self.culprits.workload, call, 0)
        first = next(iter(self.called.values()), workload)
        return silent(first.culprit, first.call, limit_ns)

    def unreturned(self) -> str | None:
        """Return which calls of clients have not returned for a long time; None without any."""
        return unreturned(self.called.values(), self._scope.now())

    def is_invoked(self) -> bool:
        """Return whether the operation whose turn it is takes place; final reads always do."""
        self._turns += 1
        return self.is_reading or self._operations is None or self._turns - 1 in self._operations

    def report(self, error: Exception) -> None:
        """End the run because of an error."""
        self.failure = self.failure or error
        self._report(error)

    @override
    def process(self) -> RecordedProcess:
        """Return a new client process."""
        try:
            client = self._client()
        except Exception as error:
            self.report(error)
            raise
        return RecordedProcess(self, client, plugin("client", self.culprits.system.name, client))

    def _client(self) -> Client:
        culprit, name = self.culprits.system, self._workload.name
        with blamed(culprit, "client", SystemUnavailableError):
            client = self._system.client(self._cluster, name, self._client_random)
        has_calls = all(callable(getattr(client, call, None)) for call in ("open", "invoke"))
        if isinstance(client, type) or not has_calls:
            raise returned(culprit, "client", client, "a Client")
        return client

    def _report_task(self, error: BaseException) -> None:
        if isinstance(error, PluginError | HarnessError | ClusterError | SystemUnavailableError):
            self.report(error)
            return
        mistake = str(error) if isinstance(error, BlockedError) else f"raised {described(error)}"
        named = PluginError(self.culprits.workload, f"a task of run {mistake}")
        named.__cause__ = error
        self.report(named)
