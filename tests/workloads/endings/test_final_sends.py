"""Partitions that the faults left empty get an acknowledged record, and then the final read."""

import asyncio
from itertools import count

import pytest

from kraftproof.cluster.systems.system import Completion, Outcome
from kraftproof.workloads.endings.final_reads import ATTEMPTS
from kraftproof.workloads.endings.final_sends import MOVE, MOVE_AFTER, send_until_acknowledged
from kraftproof.workloads.log import FINAL_ATTEMPTS, Log
from kraftproof.workloads.log_topics import LogTopics, _Topic


def ok(value):
    return Completion(outcome=Outcome.OK, value=value)


FAILED = Completion(outcome=Outcome.FAIL)
UNANSWERED = Completion(outcome=Outcome.INFO, connected=False)


class Session:
    """A session whose operations fail as often as `failures` says, and then succeed."""

    run_id = "r"

    def __init__(self, failures=(), failed=FAILED, offset=0):
        self.failures, self.failed, self.offset = dict(failures), failed, offset
        self.invoked = []
        self.scope = self

    def process(self):
        return self

    def close(self):
        pass

    async def sleep(self, duration_ns):
        pass

    async def invoke(self, f, key, value):
        self.invoked.append((f, key, value))
        self.failures[f] = self.failures.get(f, 0) - 1
        if self.failures[f] >= 0:
            return self.failed
        answers = {
            "create": {"outcome": "created"},
            "move": {"replicas": [1]},
            "send": {"offset": self.offset},
            "final": {"records": [[0, "0.0@r"]], "log_start": 0, "end": 1},
        }
        return ok(answers[f])

    def functions(self, key):
        return [f for f, at, _ in self.invoked if at == key]

    def sent(self):
        return [value["value"] for f, _, value in self.invoked if f == "send"]


def sending(session, attempts, sends=None):
    sends = count() if sends is None else sends
    return asyncio.run(send_until_acknowledged(session, "a-0", sends, str, attempts))


@pytest.mark.parametrize(("failures", "is_sent"), [(0, True), (2, True), (3, False)])
def test_sends_are_repeated_until_one_has_an_offset(failures, is_sent):
    session = Session({"send": failures})
    assert sending(session, 3) is is_sent
    assert session.functions("a-0") == ["send"] * min(failures + 1, 3)


def test_a_send_without_an_offset_is_not_acknowledged():
    assert not sending(Session(offset=None), 3)


def test_a_partition_that_accepts_nothing_moves_to_brokers_of_the_cluster():
    session = Session({"send": MOVE_AFTER + 1})
    assert sending(session, FINAL_ATTEMPTS)
    assert session.functions("a-0") == ["send"] * MOVE_AFTER + ["move"] + ["send"] * 2
    assert ("move", "a-0", MOVE) in session.invoked


def test_sends_in_several_calls_are_counted_together():
    session, sends = Session({"send": MOVE_AFTER}), count()
    assert [sending(session, 1, sends) for _ in range(MOVE_AFTER + 1)][-2:] == [False, True]
    assert session.functions("a-0")[-2:] == ["move", "send"]


def log_of(session, acknowledged=(), *, is_created=True):
    workload = Log()
    partitions = workload._partitions
    partitions.keys, partitions.is_created = ("a-0", "a-1"), is_created
    partitions.acknowledged = set(acknowledged)
    partitions.sessions = 7
    return asyncio.run(workload.final_reads(session))


def test_only_partitions_without_an_acknowledged_send_are_sent_to_before_the_final_read():
    session = Session()
    assert log_of(session, ["a-0"]) == 0
    assert session.functions("a-0") == ["final"]
    assert session.functions("a-1") == ["send", "final"]


def test_each_last_send_is_the_first_of_a_new_producer_session():
    session = Session({"send": 2}, failed=UNANSWERED)
    assert log_of(session) == 0
    assert session.sent() == ["7.0@r", "8.0@r", "9.0@r", "10.0@r"]


def test_a_topic_that_the_run_could_not_create_is_created_at_the_end():
    session = Session({"create": 1})
    assert log_of(session, is_created=False) == 0
    assert [f for f, _, _ in session.invoked] == [
        *("create", "create"),
        *("send", "send"),
        *("final", "final"),
    ]


def test_a_log_without_a_topic_does_nothing_at_the_end():
    session = Session()
    assert asyncio.run(Log().final_reads(session)) == 0
    assert session.invoked == []


def test_sends_that_no_broker_accepts_end():
    session = Session({"send": 10_000})
    assert log_of(session) == 0
    assert session.functions("a-0").count("send") == FINAL_ATTEMPTS
    assert session.functions("a-1").count("send") == ATTEMPTS


def topics_of(session, **state):
    workload = LogTopics()
    workload._begun = [_Topic(keys=("t-0", "t-1"), **state)]
    return asyncio.run(workload.final_reads(session))


@pytest.mark.parametrize(
    ("state", "first", "second"),
    [
        ({}, ["create", "send", "final"], ["send", "final"]),
        ({"is_created": True, "acknowledged": {"t-1"}}, ["send", "final"], ["final"]),
        (
            {"is_created": True, "acknowledged": {"t-0", "t-1"}, "read": {"t-0"}},
            *([], ["final"]),
        ),
        (
            {"is_created": True, "acknowledged": {"t-1"}, "read": {"t-0"}},
            ["send", "final"],
            ["final"],
        ),
    ],
)
def test_a_short_lived_topic_gets_at_the_end_what_it_lacks(state, first, second):
    session = Session()
    assert topics_of(session, **state) == 0
    assert (session.functions("t-0"), session.functions("t-1")) == (first, second)


def test_a_short_lived_topic_that_is_never_created_counts_as_unread():
    session = Session({"create": 10_000})
    assert topics_of(session) == 2
    assert session.functions("t-0") == ["create"] * (FINAL_ATTEMPTS + ATTEMPTS)


class Run(Session):
    """A session that ends after a number of sleeps."""

    def __init__(self, sleeps, failures):
        super().__init__(failures)
        self.left = sleeps
        self.random = self

    def randrange(self, *_):
        return 1

    def spawn(self, coroutine):
        return asyncio.ensure_future(coroutine)

    @property
    def ending(self):
        return self.left <= 0

    async def sleep(self, duration_ns):
        self.left -= 1

    async def turn(self):
        pass


@pytest.mark.parametrize(
    ("failures", "is_deleted"),
    [({"create": 5}, True), ({"final": 30}, True), ({"final": 90}, False)],
)
def test_a_short_lived_topic_is_deleted_after_its_whole_read_only(failures, is_deleted):
    """A topic whose read fails for a time is kept, and read once the system answers."""
    run = Run(60, failures)

    async def invoke(f, key, value=None):
        if f == "delete":
            run.left = 0
            run.invoked.append((f, key, value))
            return ok({"outcome": "deleted"})
        return await Session.invoke(run, f, key, value)

    run.invoke = invoke
    workload = LogTopics()
    asyncio.run(workload._client(run, run))
    names = [f for f, _, _ in run.invoked]
    assert ("delete" in names) is is_deleted
    assert len(workload._begun) == (not is_deleted)
    assert {key.rsplit("-", 1)[0] for _, key, _ in run.invoked} == {"short-r-0"}
