"""Bring one run to its end on a cluster, and keep the results and the mishaps.

Order: start the cluster, prepare the system, interpret, stop, collect. See
runner.py for the verdict.
"""

from collections.abc import Callable, Coroutine, Mapping
from functools import partial
from typing import Any

from kraftproof import interrupts
from kraftproof.checkers.run_outcome import CONTAMINATED, Mishap, ViolatedInvariant
from kraftproof.cluster.plugin import HarnessError, PluginError, blamed, plugin
from kraftproof.cluster.profiles import PROFILES
from kraftproof.cluster.protocol import Cluster, ClusterError
from kraftproof.cluster.systems.calls import guarantees_of
from kraftproof.cluster.systems.identities import several_clusters
from kraftproof.cluster.systems.registry import make_system
from kraftproof.cluster.systems.system import System, SystemUnavailableError
from kraftproof.nemesis.schedule import Schedule
from kraftproof.options import RunOptions
from kraftproof.run.backends import ViolationError, make_backend, quiesce
from kraftproof.run.directory import RunDirectory
from kraftproof.run.display.progress import Progress
from kraftproof.run.health.health import Health
from kraftproof.run.history import FaultRecorder, HistoryRecorder
from kraftproof.run.interpreter.interpreter import Interpreted, Interpreter
from kraftproof.run.mishaps import INTERRUPTED, mishap_of, writing
from kraftproof.run.node_tables import collect
from kraftproof.run.planning import cluster_options
from kraftproof.workloads.catalogue import make_workload
from kraftproof.workloads.workload import Load

Awaited = Coroutine[Any, Any, None]
PREPARE_NS = 120 * 1_000_000_000
"""Time in which a system must prepare the settings of its clients."""
Watch = Callable[[Cluster, FaultRecorder], None]
"""Receives the cluster and the log of its faults before the start."""


class Attempt:
    """The steps of a run on its cluster, and the results of the steps."""

    def __init__(
        self,
        options: RunOptions,
        directory: RunDirectory,
        schedule: Schedule,
        progress: Progress,
        watch: Watch | None,
        is_collected: bool,  # noqa: FBT001 - private
    ) -> None:
        self.options = options
        self.directory = directory
        self.schedule = schedule
        self.progress = progress
        self.watch = watch
        self.interpreted: Interpreted | None = None
        self.cluster: Cluster | None = None
        self.mishaps: list[Mishap] = []
        self._interpreter: Interpreter | None = None
        self.system: System = make_system(options.system)
        self.asked = cluster_options(options, directory, self.system, schedule, is_collected)

    def guarantees(self) -> Mapping[str, str]:
        """Return the guarantees that the system declares; none, and a mishap, if it fails to."""
        try:
            return guarantees_of(self.system, self.asked)
        except PluginError as error:
            self.note(*mishap_of(error, self.directory.path))
            return {}

    def drive(self) -> None:
        """Bring the run to its end, or note what ended it.

        Raises:
            HarnessError: a file of the run can't be written.
            SystemUnavailableError: the system has no clients for the workload.
        """
        try:
            with writing(self.directory.path):
                backend = make_backend(self.options.backend)
                backend.run(self.asked, self.system, self.main, self.progress.phase)
        except KeyboardInterrupt:
            interrupts.settle()
            self.note(INTERRUPTED, "interrupted: all faults were healed, the history is partial")
            late = None if self._interpreter is None else self._interpreter.unreturned()
            if late is not None:
                self.note(INTERRUPTED, late)
        except ViolationError:
            pass  # the cluster's violations say what it was
        except (HarnessError, SystemUnavailableError):
            self.close()
            raise
        except Exception as error:  # noqa: BLE001 - theirs or ours, the run has a report
            for one in self._errors(error):
                self.note(*mishap_of(one, self.directory.path))

    def _errors(self, raised: Exception) -> list[Exception]:
        """The error that ended the run, then the others that came up, such as in a heal."""
        others = [] if self._interpreter is None else self._interpreter.failures
        return [raised, *(one for one in others if one is not raised)]

    @property
    def is_interrupted(self) -> bool:
        """Return whether Ctrl-C or SIGTERM ended the run."""
        return any(one.kind == INTERRUPTED for one in self.mishaps)

    def note(self, kind: str, sentence: str) -> None:
        """Keep a mishap."""
        self.mishaps.append(Mishap(kind=kind, sentence=sentence))

    async def main(self, cluster: Cluster) -> None:
        """Bring the cluster up, interpret, take it down, collect."""
        scope = cluster.scope
        history = HistoryRecorder(self.directory.history, scope.now)
        faults = FaultRecorder(self.directory.faults, scope.now)
        interpreter = Interpreter(
            cluster,
            self.system,
            self.schedule,
            history,
            faults,
            None if self.options.is_virtual else partial(Health, cluster, self.system, self.asked),
            None if self.options.is_virtual else self.progress.phase,
        )
        self._interpreter = interpreter
        self.cluster = cluster
        if self.watch is not None:
            self.watch(cluster, faults)
        try:
            self.progress.phase(f"starting {len(cluster.nodes)} nodes ({cluster.backend})")
            await cluster.start()
            await self._ask(cluster, self.system.prepare)
            await self._compare_identities(cluster)
            self.progress.phase(f"{self.options.workload} for {self.options.time_limit_s:g} s")
            watching = self.progress.watch(scope, history, faults, self.options.time_limit_ns)
            self.interpreted = await self._interpret(interpreter)
            watching.cancel()
            await quiesce(cluster)
            if not self.options.is_virtual:
                await self._ask(cluster, self.system.finish)
                await self._compare_identities(cluster)
        except BaseException:
            if not self.options.is_virtual:  # a simulated world simply ends
                try:
                    await interpreter.heal_all()
                finally:
                    await self._stop(cluster, interpreter.health)
            raise
        self.progress.phase("stopping the nodes")
        await self._stop(cluster, interpreter.health)

    async def _stop(self, cluster: Cluster, health: Health | None) -> None:
        """End the watches, then the nodes."""
        if health is not None:
            await health.stop()
        await cluster.stop()

    def broken_promises(self) -> tuple[ViolatedInvariant, ...]:
        """Return what the nodes of a live run did that no node may do."""
        health = None if self._interpreter is None else self._interpreter.health
        return () if health is None else health.violations(self.directory.faults)

    def leader_changes(self) -> tuple[tuple[int, int], ...]:
        """Return when another node of a live run began to lead."""
        health = None if self._interpreter is None else self._interpreter.health
        return () if health is None else health.leader_changes()

    async def _ask(self, cluster: Cluster, call: Callable[[Cluster], Awaited]) -> None:
        """Await a call of the system for at most PREPARE_NS."""
        with blamed(plugin("system", self.system.name, self.system), call.__name__, ClusterError):
            await cluster.scope.within(call(cluster), PREPARE_NS)

    async def _compare_identities(self, cluster: Cluster) -> None:
        """Note if a node belongs to another cluster; a simulated node can't."""
        if not self.options.is_virtual:
            sentence = await several_clusters(cluster, self.system)
            if sentence is not None and sentence not in {one.sentence for one in self.mishaps}:
                self.note(CONTAMINATED, sentence)

    def so_far(self) -> Interpreted | None:
        """Return what was interpreted, also if the run was broken off."""
        if self.interpreted is None and self._interpreter is not None:
            return self._interpreter.so_far()
        return self.interpreted

    def events(self) -> int | None:
        """Return the number of events in the history; None without a history."""
        return None if self._interpreter is None else self._interpreter.history.events

    def close(self) -> None:
        """End the files of the history and the faults."""
        if self._interpreter is not None:
            self._interpreter.history.close()
            self._interpreter.faults.close()

    def collect(self, *, with_tables: bool) -> None:
        """End the files, and make tables of what the nodes wrote, however the run ended."""
        self.close()
        if self.cluster is not None and with_tables:
            self.progress.phase("collecting the nodes' files")
            try:
                collect(self.cluster, self.system, self.directory)
                if self._interpreter is not None and self._interpreter.health is not None:
                    self._interpreter.health.read_registrations()
            except (HarnessError, OSError):
                raise
            except Exception as error:  # noqa: BLE001 - theirs or ours, the run has a report
                self.note(*mishap_of(error, self.directory.path))

    async def _interpret(self, interpreter: Interpreter) -> Interpreted:
        options = self.options
        load = Load(
            rate=options.rate,
            concurrency=options.concurrency,
            session_ns=PROFILES[options.timeouts].session_ns,
        )
        workload = make_workload(options.workload)
        return await interpreter.run(
            workload,
            load,
            seed=options.seed,
            time_limit_ns=options.time_limit_ns,
            operations=options.operations,
            run_id=self.directory.run_id(options),
        )
