"""A workload of replicas ends with looks at each partition, until its replicas are in sync."""

import asyncio
from types import SimpleNamespace

import pytest

from kraftproof.cluster.systems.system import Completion, Outcome
from kraftproof.workloads.replicas.states import (
    LATER_LOOKS,
    SETTLE_LOOKS,
    WHOLE_LOOKS,
    settle,
)

WHOLE = {"leader": 1, "isr": [1, 2], "replicas": [1, 2]}
LAGGING = {**WHOLE, "isr": [1]}


class Session:
    """A session in which each partition is whole after a number of looks."""

    def __init__(self, lagging):
        self.lagging, self.looks, self.last = lagging, dict.fromkeys(lagging, 0), []
        self.scope = self
        self.load = SimpleNamespace(session_ns=1)

    def process(self):
        return self

    def close(self):
        pass

    async def sleep(self, duration_ns):
        pass

    async def invoke(self, f, key, value):
        assert f == "state"
        if "is_last" in value:
            self.last.append(key)
        self.looks[key] += 1
        state = LAGGING if self.looks[key] <= self.lagging[key] else WHOLE
        return Completion(outcome=Outcome.OK, value=state)


@pytest.mark.parametrize(
    ("lagging", "looks"),
    [
        ((0, 0), (WHOLE_LOOKS + 1, WHOLE_LOOKS + 1)),
        ((SETTLE_LOOKS - WHOLE_LOOKS, 3), (SETTLE_LOOKS + 1, WHOLE_LOOKS + 4)),
        ((9_999, 9_999), (SETTLE_LOOKS + 1, LATER_LOOKS + 1)),
        ((9_999, 4), (SETTLE_LOOKS + 1, WHOLE_LOOKS + 5)),
    ],
)
def test_a_slow_copy_has_time_and_a_broken_cluster_takes_it_once(lagging, looks):
    session = Session(dict(zip(("a-0", "a-1"), lagging, strict=True)))
    assert asyncio.run(settle(session, tuple(session.lagging))) == 0
    assert tuple(session.looks.values()) == looks
    assert session.last == ["a-0", "a-1"]


class Moving(Session):
    """A session whose broker has not read the last move at the first look."""

    async def invoke(self, f, key, value):
        await super().invoke(f, key, value)
        is_moving = 1 < self.looks[key] < 20
        return Completion(outcome=Outcome.OK, value={**WHOLE, "is_moving": is_moving})


def test_a_broker_that_has_not_read_a_move_does_not_end_the_looks():
    session = Moving({"a-0": 0})
    assert asyncio.run(settle(session, ("a-0",))) == 0
    assert session.looks["a-0"] == 20 + WHOLE_LOOKS
