"""Apply and heal the faults of a schedule, and record each phase of each fault.

The injector records phases in this order: `intent` with the heal's description before the fault
starts; `applied`; `bitten` when an effect was observed; `healed`, a second time after a late end. A
fault that can't have an effect gets `moot` and is skipped; an error or a missing effect gets
`failed`. An exception of a fault is reported, and every other fault still heals.
"""

from collections.abc import Awaitable, Callable, Coroutine, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Any, Protocol, TypeVar

from kraftproof.cluster.plugin import Plugin, PluginError, blamed, plugin, returned
from kraftproof.cluster.protocol import Cluster, ClusterError
from kraftproof.cluster.scope import Task
from kraftproof.nemesis.fault import Baseline, EndsLate, Fault, FaultContext, Roles
from kraftproof.nemesis.schedule import Schedule, Scheduled

T = TypeVar("T")
CALL_NS = 120_000_000_000
"""Time limit of a single call of a fault, in nanoseconds.

A fault changes its own limit by an attribute `call_limit_ns`.
"""
CANCEL_NS = 1_000_000
"""Interval between checks whether cancelled tasks have ended, in nanoseconds."""
POLL_NS = 200_000_000
"""Interval between checks for an observed effect, in nanoseconds."""


class FaultLog(Protocol):
    """Record of fault phases; a line is on disk when `write` returns."""

    def write(
        self, phase: str, name: str, kind: str, targets: tuple[object, ...], detail: str
    ) -> None:
        """Write a phase of a fault."""
        ...


@dataclass(slots=True, kw_only=True)
class _Running:
    scheduled: Scheduled
    fault: Fault
    """The fault with node ids in place of roles."""
    baseline: Baseline
    has_effect: bool = False


class Injector:
    """Apply a schedule to a cluster, and heal every applied fault."""

    __slots__ = (
        "_cluster",
        "_context",
        "_late",
        "_log",
        "_origin_ns",
        "_report",
        "_roles",
        "_running",
        "_tasks",
    )

    def __init__(
        self,
        cluster: Cluster,
        roles: Callable[[], Awaitable[Roles]],
        log: FaultLog,
        report: Callable[[Exception], None],
    ) -> None:
        self._cluster = cluster
        self._roles = roles
        self._log = log
        self._report = report
        self._context = FaultContext(cluster)
        self._running: dict[str, _Running] = {}
        self._tasks: list[Task[None]] = []
        self._late: list[Task[None]] = []
        """The tasks that watch nodes after a heal."""
        self._origin_ns = 0

    def start(self, schedule: Schedule) -> None:
        """Start a schedule; the times of the schedule count from now."""
        scope = self._cluster.scope
        self._origin_ns = scope.now()
        self._tasks = [scope.spawn(self._one(scheduled)) for scheduled in schedule]

    async def finish(self) -> None:
        """Wait until every fault of the schedule is healed."""
        for task in self._tasks:
            await task

    async def heal_all(self) -> None:
        """Cancel the rest of the schedule and heal all applied faults."""
        await self._cancel(self._tasks)
        await self.end()
        for running in list(self._running.values()):
            try:
                await self._heal(running)
            except Exception as error:  # noqa: BLE001 - reported; the other faults are healed
                self._report(error)

    async def end(self) -> None:
        """Cease to watch nodes that may end late, before the nodes are stopped."""
        await self._cancel(self._late)

    async def _cancel(self, tasks: Sequence[Task[None]]) -> None:
        for task in tasks:
            task.cancel()
        while not all(task.done for task in tasks):
            await self._cluster.scope.sleep(CANCEL_NS)

    async def _one(self, scheduled: Scheduled) -> None:
        try:
            await self._carry_out(scheduled)
        except Exception as error:  # noqa: BLE001 - reported; the other faults go on
            self._report(error)

    async def _carry_out(self, scheduled: Scheduled) -> None:
        await self._sleep_until(scheduled.at_ns)
        running = await self._apply(scheduled)
        if running is None:
            return
        if self._now() >= scheduled.until_ns and not running.has_effect:
            await self._look(running)  # the fault took longer to apply than it lasts
        while not running.has_effect and self._now() < scheduled.until_ns:
            await self._look(running)
            if not running.has_effect:
                left_ns = scheduled.until_ns - self._now()
                await self._cluster.scope.sleep(max(1, min(POLL_NS, left_ns)))
        await self._sleep_until(scheduled.until_ns)
        await self._heal(running)

    async def _apply(self, scheduled: Scheduled) -> _Running | None:
        fault = await self._resolved(scheduled.fault)
        with _blames(fault, "describe_heal"):
            heal = fault.describe_heal()
        self._write("intent", scheduled, fault, f"heal: {heal}")
        skipped = await self._call(fault, "skipped", lambda: fault.skipped(self._context))
        if skipped is not None:
            self._write("moot", scheduled, fault, skipped)
            return None
        baseline = await self._call(fault, "baseline", lambda: fault.baseline(self._context))
        running = _Running(scheduled=scheduled, fault=fault, baseline=baseline)
        self._running[scheduled.name] = running
        try:
            await self._call(fault, "apply", lambda: fault.apply(self._context))
        except ClusterError as error:
            self._write("failed", scheduled, fault, str(error))
            running.has_effect = True
        else:
            with _blames(fault, "describe"):
                what = fault.describe()
            self._write("applied", scheduled, fault, what)
        return running

    async def _resolved(self, fault: Fault) -> Fault:
        roles = await self._roles()
        with _blames(fault, "resolved"):
            resolved = fault.resolved(roles, self._cluster.nodes)
        if not callable(getattr(resolved, "apply", None)):
            raise returned(_name(fault), "resolved", resolved, "a Fault")
        return resolved

    async def _look(self, running: _Running) -> None:
        fault = running.fault
        evidence = await self._call(
            fault, "observed_effect", lambda: fault.observed_effect(self._context, running.baseline)
        )
        if evidence is not None:
            running.has_effect = True
            self._write("bitten", running.scheduled, fault, evidence)

    async def _heal(self, running: _Running) -> None:
        """Heal a fault and record a failure; report an exception that is no ClusterError."""
        scheduled, fault = running.scheduled, running.fault
        try:
            await self._call(fault, "heal", lambda: fault.heal(self._context))
            self._write_healed(running)
            self._watch_late_end(running)
        except ClusterError as error:
            self._write("failed", scheduled, fault, f"heal: {error}")
        except PluginError as error:
            self._report(error)
            self._write("failed", scheduled, fault, f"heal: {error}")
        finally:
            self._running.pop(scheduled.name, None)

    def _watch_late_end(self, running: _Running) -> None:
        """Watch a node that the healed fault may still end; a fault without effect ends none."""
        fault = running.fault
        if running.has_effect and isinstance(fault, EndsLate) and fault.may_end_late(self._context):
            watching = self._heal_late_end(running.scheduled, fault)
            self._late.append(self._cluster.scope.spawn(watching))

    async def _heal_late_end(self, scheduled: Scheduled, fault: Fault) -> None:
        """Heal the fault again if its node ends late, unless another fault has the node now."""
        assert isinstance(fault, EndsLate)
        try:
            how = await self._call(fault, "ended_late", lambda: fault.ended_late(self._context))
            targets = set(fault.targets)
            is_held = any(targets & set(one.fault.targets) for one in self._running.values())
            if how is not None and not is_held:
                await self._call(fault, "heal", lambda: fault.heal(self._context))
                self._write("healed", scheduled, fault, f"{fault.describe_heal()}: {how}")
        except (ClusterError, PluginError) as error:
            self._report(error)

    def _write_healed(self, running: _Running) -> None:
        scheduled, fault = running.scheduled, running.fault
        if not running.has_effect:
            self._write("failed", scheduled, fault, "no evidence of an effect")
        with _blames(fault, "describe_heal"):
            heal = fault.describe_heal()
        self._write("healed", scheduled, fault, heal)

    async def _call(
        self, fault: Fault, call: str, start: Callable[[], Coroutine[Any, Any, T]]
    ) -> T:
        with _blames(fault, call):
            limit_ns = getattr(fault, "call_limit_ns", CALL_NS)
            return await self._cluster.scope.within(start(), limit_ns)

    def _write(self, phase: str, scheduled: Scheduled, fault: Fault, detail: str) -> None:
        with _blames(fault, "targets"):
            targets = tuple(map(_plain, fault.targets))
        self._log.write(phase, scheduled.name, scheduled.kind, targets, detail)

    def _now(self) -> int:
        return self._cluster.scope.now() - self._origin_ns

    async def _sleep_until(self, at_ns: int) -> None:
        left_ns = at_ns - self._now()
        if left_ns > 0:
            await self._cluster.scope.sleep(left_ns)


def _plain(target: object) -> object:
    return target if isinstance(target, int) else str(target)


def _name(fault: Fault) -> Plugin:
    return plugin("fault", getattr(fault, "kind", "?"), fault)


def _blames(fault: Fault, call: str) -> AbstractContextManager[None]:
    return blamed(_name(fault), call, ClusterError)
