"""The injector writes its intent first, shows evidence, and heals whatever happens."""

from dataclasses import dataclass, field
from pathlib import Path
from random import Random

import pytest

from kraftproof.cluster.plugin import PluginError
from kraftproof.cluster.protocol import Capability, ClusterError, ClusterOptions, Link, nodes_of
from kraftproof.cluster.simulated.kernel.scheduler import Scheduler
from kraftproof.cluster.simulated.kernel.scope import SimulatedScope
from kraftproof.nemesis.injector import Injector
from kraftproof.nemesis.kill import Kill, KillAll, plan_kill_all
from kraftproof.nemesis.lose_unsynced import LoseUnsynced
from kraftproof.nemesis.partition import Cut
from kraftproof.nemesis.pause import Pause
from kraftproof.nemesis.restart import Restart
from kraftproof.nemesis.schedule import SECOND_NS, Scheduled

NODES = ClusterOptions(nodes=nodes_of(controller=3, broker=0), seed=0, directory=Path()).nodes


@dataclass
class Log:
    rows: list[tuple[str, str, str]] = field(default_factory=list)
    targets: set[tuple[object, ...]] = field(default_factory=set)

    def write(self, phase, name, kind, targets, detail):
        self.rows.append((phase, name, detail))
        self.targets.add(targets)

    @property
    def phases(self):
        return [phase for phase, _, _ in self.rows]


class FakeCluster:
    """Nodes as sets; what is done to them is visible at once."""

    backend = "fake"
    nodes = NODES
    capabilities = frozenset(Capability)

    def __init__(self):
        self.scheduler = Scheduler()
        self.scope = SimulatedScope(self.scheduler)
        self.pids = {1: 101, 2: 102, 3: 103}
        self.paused = set()
        self.cuts = set()
        self.lossy = True
        self.log_at_kill = None
        self.log = Log()

    async def process_id(self, node_id):
        return self.pids.get(node_id)

    async def kill(self, node_id):
        self.log_at_kill = list(self.log.phases)
        self.pids.pop(node_id, None)

    async def stop_node(self, node_id):
        self.pids.pop(node_id, None)

    async def lose_unsynced(self, node_id):
        del self.pids[node_id]

    async def start_node(self, node_id):
        self.pids[node_id] = 200 + node_id

    async def pause(self, node_id):
        self.paused.add(node_id)

    async def resume(self, node_id):
        self.paused.discard(node_id)

    async def is_paused(self, node_id):
        return node_id in self.paused

    async def cut(self, links):
        self.cuts |= links

    async def heal(self, links):
        self.cuts -= links

    async def withheld(self, links):
        return len(self.cuts & links) if self.lossy else 0

    async def round_trip(self, link):
        return link not in self.cuts


def raise_error(error):
    raise error


def run(cluster, *faults, heal_at_s=None):
    async def roles():
        return {}

    async def main():
        injector = Injector(cluster, roles, cluster.log, raise_error)
        injector.start(
            tuple(
                Scheduled(
                    name=f"f{number}",
                    kind=fault.kind,
                    at_ns=at * SECOND_NS,
                    until_ns=until * SECOND_NS,
                    fault=fault,
                )
                for number, (at, until, fault) in enumerate(faults)
            )
        )
        if heal_at_s is None:
            await injector.finish()
        else:
            await cluster.scope.sleep(heal_at_s * SECOND_NS)
            await injector.heal_all()

    task = cluster.scope.spawn(main())
    cluster.scheduler.run_until(task.finished, until_ns=100 * SECOND_NS, maximum_events=100_000)
    cluster.scope.raise_lost_errors()
    return cluster.log


def test_the_intent_is_written_before_the_fault_is_applied():
    cluster = FakeCluster()
    log = run(cluster, (1, 2, Kill(target=1)))
    assert cluster.log_at_kill == ["intent"]
    assert log.phases == ["intent", "applied", "bitten", "healed"]
    assert log.rows[0][2] == "heal: start node 1"
    assert cluster.pids[1] == 201


class OfRacks(Pause):
    """A fault that names more than nodes."""

    @property
    def targets(self):
        return (self.target, Path("rack-b"))


class Nameless(Pause):
    """A fault with a mistake in it."""

    def describe(self):
        raise KeyError("name")


def test_a_mistake_of_a_fault_names_its_kind_and_class_and_the_call():
    said = (
        r"fault 'pause' \(tests\.nemesis\.test_injector\.Nameless in .*: describe raised KeyError"
    )
    with pytest.raises(PluginError, match=said):
        run(FakeCluster(), (1, 2, Nameless(target=3)))


def test_the_targets_are_written_as_ids_and_texts_in_every_phase():
    log = run(FakeCluster(), (1, 2, OfRacks(target=3)))
    assert log.phases == ["intent", "applied", "bitten", "healed"]
    assert log.targets == {(3, "rack-b")}


def test_a_fault_without_an_effect_has_failed():
    cluster = FakeCluster()
    cluster.lossy = False
    log = run(cluster, (1, 2, Cut(shape="x", links=(Link(1, 2),))))
    assert log.phases == ["intent", "applied", "failed", "healed"]
    assert cluster.cuts == set()


def test_a_fault_on_a_node_that_is_down_is_moot():
    log = run(FakeCluster(), (1, 5, Kill(target=1)), (2, 3, Pause(target=1)))
    moot = [row for row in log.rows if row[0] == "moot"]
    assert moot == [("moot", "f1", "node 1 is down already")]


@pytest.mark.parametrize(
    ("fault", "said"),
    [
        (LoseUnsynced(victims=(1, 2)), "the nodes are down already"),
        (LoseUnsynced(victims=(1, 3)), None),
        (KillAll(node_ids=(1, 2)), "every node is down already"),
        (Kill(target=2), "node 2 is down already"),
        (Cut(shape="x", links=(Link(1, 3), Link(3, 2))), "no link has both ends up"),
        (KillAll(node_ids=(1, 2, 3)), None),
    ],
)
def test_a_fault_of_several_nodes_is_moot_if_all_of_them_are_down(fault, said):
    log = run(FakeCluster(), (1, 5, Kill(target=1)), (1, 5, Kill(target=2)), (2, 3, fault))
    moot = [row for row in log.rows if row[0] == "moot"]
    assert moot == ([] if said is None else [("moot", "f2", said)])


def test_a_paused_node_does_not_hear_that_it_shall_restart():
    cluster = FakeCluster()
    log = run(cluster, (1, 5, Pause(target=2)), (2, 3, Restart(target=2)))
    assert ("moot", "f1", "node 2 is paused") in log.rows
    assert cluster.pids[2] == 102


@pytest.mark.parametrize(
    ("fault", "ended"),
    [
        (Kill(target=2), [2]),
        (Restart(target=3), [3]),
        (LoseUnsynced(victims=(1, 3)), [1, 3]),
        (KillAll(node_ids=(1, 2, 3)), [1, 2, 3]),
    ],
    ids=lambda value: getattr(value, "kind", ""),
)
def test_evidence_names_the_processes_that_ended(fault, ended):
    log = run(FakeCluster(), (1, 2, fault))
    evidence = ", ".join(f"node {node}: process {100 + node} ended" for node in ended)
    assert [row for row in log.rows if row[0] == "bitten"] == [("bitten", "f0", evidence)]


def test_a_node_that_a_restart_could_not_start_is_started_by_the_heal():
    cluster, attempts = FakeCluster(), []
    start = cluster.start_node

    async def start_node(node_id):
        attempts.append(node_id)
        if len(attempts) == 1:
            raise ClusterError(f"node {node_id} did not start")
        await start(node_id)

    cluster.start_node = start_node
    log = run(cluster, (1, 2, Restart(target=2)))
    assert log.phases == ["intent", "failed", "healed"]
    assert cluster.pids == {1: 101, 2: 202, 3: 103}


def test_links_that_two_cuts_hold_heal_with_the_last():
    cluster = FakeCluster()
    both = Link(1, 2)
    run(
        cluster,
        (1, 3, Cut(shape="x", links=(both,))),
        (2, 9, Cut(shape="y", links=(both, Link(2, 1)))),
        heal_at_s=5,
    )
    assert cluster.cuts == set()
    again = FakeCluster()
    seen = []

    async def heal(links):
        seen.append(links)
        again.cuts -= links

    again.heal = heal
    run(
        again,
        (1, 3, Cut(shape="x", links=(both,))),
        (2, 5, Cut(shape="y", links=(both, Link(2, 1)))),
    )
    assert seen == [frozenset({both, Link(2, 1)})]


def test_heal_all_in_the_middle_leaves_nothing_broken():
    cluster = FakeCluster()
    log = run(
        cluster,
        (1, 50, Pause(target=2)),
        (1, 50, Cut(shape="x", links=(Link(1, 2),))),
        (2, 50, plan_kill_all(Random(0), NODES)),
        (40, 50, Kill(target=1)),
        heal_at_s=5,
    )
    assert cluster.paused <= {2}
    assert cluster.cuts == set()
    assert sorted(cluster.pids) == [1, 2, 3]
    assert log.phases.count("healed") == 3


def test_a_backend_that_refuses_makes_the_fault_failed():
    cluster = FakeCluster()

    async def refuse(node_id):
        raise ClusterError(f"no signal for {node_id}")

    cluster.pause = refuse
    log = run(cluster, (1, 2, Pause(target=3)))
    assert ("failed", "f0", "no signal for 3") in log.rows
    assert "bitten" not in log.phases


@pytest.mark.parametrize("target", [1, 2, 3])
def test_pause_is_bitten_by_what_the_system_says(target):
    log = run(FakeCluster(), (1, 2, Pause(target=target)))
    assert ("bitten", "f0", f"node {target} is stopped") in log.rows
