"""A workload of replicas ends with looks at each partition, until its replicas are in sync."""

import asyncio
from types import SimpleNamespace

import pytest

from kraftproof.cluster.systems.system import Completion, Outcome
from kraftproof.workloads.replicas.states import LATER_LOOKS, SETTLE_LOOKS, settle

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
        ((0, 0), (2, 2)),
        ((SETTLE_LOOKS - 1, 3), (SETTLE_LOOKS + 1, 5)),
        ((9_999, 9_999), (SETTLE_LOOKS + 1, LATER_LOOKS + 1)),
        ((9_999, 4), (SETTLE_LOOKS + 1, 6)),
    ],
)
def test_a_slow_copy_has_time_and_a_broken_cluster_takes_it_once(lagging, looks):
    session = Session(dict(zip(("a-0", "a-1"), lagging, strict=True)))
    assert asyncio.run(settle(session, tuple(session.lagging))) == 0
    assert tuple(session.looks.values()) == looks
    assert session.last == ["a-0", "a-1"]
