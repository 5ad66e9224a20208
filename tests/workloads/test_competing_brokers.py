"""Competing and stale brokers against a correct controller without faults."""

from collections import Counter
from random import Random

import pytest

from kraftproof.cluster.simulated.kernel.scheduler import Scheduler
from kraftproof.cluster.simulated.kernel.scope import SimulatedScope
from kraftproof.cluster.systems.system import Completion, Outcome
from kraftproof.workloads.competing_brokers import ANOTHER_CLUSTER
from kraftproof.workloads.registration import Registration
from kraftproof.workloads.workload import Load

SECOND_NS = 1_000_000_000
SESSION_NS = 2 * SECOND_NS


def told(outcome, **fields):
    return Completion(outcome=Outcome.OK, value={"outcome": outcome, **fields})


class Controller:
    """Registrations and their leases, and what it was asked."""

    def __init__(self, scope):
        self.scope = scope
        self.epochs = 0
        self.brokers = {}
        self.asked = []

    async def invoke(self, f, key, value=None):
        await self.scope.sleep(SECOND_NS // 1000)
        outcome = getattr(self, f)(key, value)
        self.asked.append((f, key, value, outcome.value))
        return outcome

    def close(self):
        pass

    def register(self, key, value):
        if "cluster" in value:
            return Completion(outcome=Outcome.FAIL, error="INCONSISTENT_CLUSTER_ID")
        known = self.brokers.get(key)
        if known is None or known["incarnation"] != value["incarnation"]:
            if known is not None and self.scope.now() < known["until"]:
                return told("duplicate")
            self.epochs += 1
            known = {"incarnation": value["incarnation"], "epoch": self.epochs}
            self.brokers[key] = known
        known["until"] = self.scope.now() + SESSION_NS
        return told("registered", epoch=known["epoch"])

    def heartbeat(self, key, value):
        known = self.brokers.get(key)
        if known is None or known["epoch"] != value["epoch"]:
            return told("stale")
        granted = value["want_shut_down"]
        known["until"] = self.scope.now() + (0 if granted else SESSION_NS)
        return told("alive", fenced=True, should_shut_down=granted)

    def unregister(self, key, _value):
        return told("absent" if self.brokers.pop(key, None) is None else "unregistered")


class Session:
    """A run of some minutes with one controller."""

    def __init__(self, scope, seed):
        self.scope = scope
        self.random = Random(seed)
        self.load = Load(rate=20.0, concurrency=4, session_ns=SESSION_NS)
        self.ending = False
        self.controller = Controller(scope)

    def process(self):
        return self.controller


@pytest.fixture(scope="module")
def session():
    scheduler = Scheduler()
    scope = SimulatedScope(scheduler)
    session = Session(scope, 1)
    workload = Registration()

    async def main():
        running = scope.spawn(workload.run(session))
        await scope.sleep(400 * SECOND_NS)
        session.ending = True
        await running
        assert await workload.final_reads(session) == 0

    task = scope.spawn(main())
    scheduler.run_until(task.finished, until_ns=1000 * SECOND_NS, maximum_events=10_000_000)
    assert task.error is None
    return session


def asked(session, f):
    return [(value, answer) for of, _, value, answer in session.controller.asked if of == f]


def test_every_operation_has_every_outcome(session):
    outcomes = Counter(
        (f, "refused" if answer is None else answer["outcome"])
        for f, _, _, answer in session.controller.asked
    )
    assert {
        ("register", "registered"),
        ("register", "duplicate"),
        ("register", "refused"),
        ("heartbeat", "alive"),
        ("heartbeat", "stale"),
        ("unregister", "unregistered"),
    } <= outcomes.keys()
    assert min(outcomes.values()) >= 1
    assert outcomes["heartbeat", "alive"] > 200


def test_some_name_another_cluster(session):
    foreign = [value for value, _ in asked(session, "register") if "cluster" in value]
    assert {value["cluster"] for value in foreign} == {ANOTHER_CLUSTER}
    assert 0.01 < len(foreign) / len(asked(session, "register")) < 0.1


def test_some_heartbeats_lag_behind_the_registration(session):
    behind = [value for value, _ in asked(session, "heartbeat") if "caught_up" in value]
    assert len(behind) > 20
    assert not any(value["caught_up"] for value in behind)


def test_ghosts_go_on_while_another_holds_or_wants_the_id(session):
    stale = Counter(
        (value["incarnation"], value["epoch"])
        for value, answer in asked(session, "heartbeat")
        if answer["outcome"] == "stale"
    )
    assert sum(times > 3 for times in stale.values()) > 10


def test_incarnations_come_back(session):
    epochs = {}
    for value, answer in asked(session, "register"):
        if answer is not None and answer["outcome"] == "registered":
            epochs.setdefault(value["incarnation"], []).append(answer["epoch"])
    assert any(len(set(given)) > 1 for given in epochs.values()), "after another has had the id"
    assert any(len(given) > len(set(given)) for given in epochs.values()), "while it has it"
