"""Operations that wait for a log, and their deadlines."""

import random

from kraftproof.node.core.base.log_id import LogId
from kraftproof.node.core.base.types import Instant
from kraftproof.node.core.partition.purgatory import Purgatory
from kraftproof.node.wire.types import Uuid

LOGS = [LogId(Uuid(b"t" * 16), number) for number in range(4)]


def at(time):
    return Instant(time, 0)


class Operation:
    """Finishes once it is allowed to."""

    def __init__(self, name, ended):
        self.name, self.ended, self.is_ready, self.tries = name, ended, False, 0
        self.changed = []

    def try_complete(self, now, changed=()):
        self.tries += 1
        self.changed.append(list(changed))
        if self.is_ready:
            self.ended.append(self.name)
        return self.is_ready

    def expire(self, now):
        self.ended.append(f"{self.name} expired")


def test_an_operation_is_tried_at_each_change_of_its_logs_and_ends_once():
    purgatory, ended = Purgatory(), []
    operation = Operation("a", ended)
    purgatory.add(operation, [LOGS[0], LOGS[1], LOGS[0]], 100)
    purgatory.check([LOGS[0]], at(1))
    purgatory.check([LOGS[2]], at(1))
    operation.is_ready = True
    purgatory.check([LOGS[2]], at(1))
    assert ended == []
    purgatory.check([LOGS[1]], at(1))
    purgatory.check([LOGS[0]], at(1))
    purgatory.tick(at(100))
    assert ended == ["a"]
    assert len(purgatory) == 0
    assert purgatory.deadline() is None


def test_an_operation_of_many_changed_logs_is_tried_once_in_the_order_of_arrival():
    purgatory, ended = Purgatory(), []
    first, second = Operation("first", ended), Operation("second", ended)
    purgatory.add(first, LOGS, 100)
    purgatory.add(second, LOGS[:1], 100)
    purgatory.check(LOGS, at(1))
    assert (first.tries, second.tries) == (1, 1)
    first.is_ready = second.is_ready = True
    purgatory.check([LOGS[0], LOGS[0], LOGS[3]], at(1))
    assert ended == ["first", "second"]
    assert (first.tries, second.tries) == (2, 2)


def test_operations_expire_in_the_order_of_their_deadlines():
    purgatory, ended = Purgatory(), []
    for name, deadline in (("late", 30), ("early", 10), ("middle", 20)):
        purgatory.add(Operation(name, ended), [LOGS[0]], deadline)
    assert purgatory.deadline() == 10
    purgatory.tick(at(20))
    assert ended == ["early expired", "middle expired"]
    assert purgatory.deadline() == 30


def test_finished_operations_leave_no_memory():
    purgatory, ended = Purgatory(), []
    chance = random.Random(2)
    for number in range(2000):
        operation = Operation(number, ended)
        operation.is_ready = True
        purgatory.add(operation, chance.sample(LOGS, 2), 10_000)
        for log in LOGS:
            purgatory.check([log], at(number))
        assert len(purgatory) == 0
    assert len(ended) == 2000
    assert len(purgatory._deadlines) < 200
    assert not purgatory._by_log


def test_an_operation_learns_which_of_its_logs_have_changed():
    purgatory = Purgatory()
    operation = Operation("a", [])
    purgatory.add(operation, LOGS[:3], 100)
    purgatory.check([LOGS[2], LOGS[3], LOGS[0]], at(1))
    purgatory.check([LOGS[1]], at(1))
    assert operation.changed == [[LOGS[2], LOGS[0]], [LOGS[1]]]
