"""Final reads repeat what fails, and end soon where nothing answers."""

import asyncio

import pytest

from kraftproof.cluster.systems.system import Completion, Outcome
from kraftproof.workloads.endings.final_reads import ATTEMPTS, PAUSE_NS, read_each
from kraftproof.workloads.keys import Key
from kraftproof.workloads.log import FINAL_ATTEMPTS, Log, read_whole

OK, FAILED = Completion(outcome=Outcome.OK), Completion(outcome=Outcome.FAIL)


class Session:
    """A session whose reads fail a given number of times for each key, then succeed."""

    def __init__(self, failures):
        self.failures, self.reads, self.slept_ns, self.is_closed = failures, [], 0, False
        self.scope = self

    def process(self):
        return self

    def close(self):
        self.is_closed = True

    async def sleep(self, duration_ns):
        self.slept_ns += duration_ns

    async def invoke(self, f, key, value):
        assert (f, value) == ("final", {"position": None})
        self.reads.append(key)
        self.failures[key] -= 1
        value = {"records": [[0, "0.0@1"]], "log_start": 0, "end": 1}
        return Completion(outcome=Outcome.OK, value=value) if self.failures[key] < 0 else FAILED

    async def read(self, process, key):
        assert process is self
        self.reads.append(key.name)
        self.failures[key.name] -= 1
        return OK if self.failures[key.name] < 0 else FAILED


@pytest.mark.parametrize(
    ("failures", "unread", "reads"),
    [
        ((0, 0, 0), 0, (1, 1, 1)),
        ((3, ATTEMPTS - 1, 1), 0, (4, ATTEMPTS, 2)),
        ((ATTEMPTS, 99, 99), 3, (ATTEMPTS, 1, 1)),
        ((ATTEMPTS, 0, 5), 1, (ATTEMPTS, 1, 6)),
    ],
)
def test_a_failed_read_is_repeated_as_long_as_the_system_answers(failures, unread, reads):
    names = ("a", "b", "c")
    session = Session(dict(zip(names, failures, strict=True)))
    found = asyncio.run(read_each(session, [Key(name, None) for name in names], session.read))
    assert found == unread
    assert tuple(map(session.reads.count, names)) == reads
    assert session.slept_ns == (sum(reads) - 3 + unread) * PAUSE_NS
    assert session.is_closed


@pytest.mark.parametrize(
    ("failures", "attempts", "is_read"),
    [
        (ATTEMPTS - 1, ATTEMPTS, True),
        (ATTEMPTS, ATTEMPTS, False),
        (FINAL_ATTEMPTS - 1, FINAL_ATTEMPTS, True),
        (FINAL_ATTEMPTS, FINAL_ATTEMPTS, False),
    ],
)
def test_a_log_is_read_after_as_many_failures_as_there_is_time_for(failures, attempts, is_read):
    session = Session({"a-0": failures})
    assert asyncio.run(read_whole(session, session, "a-0", attempts)) is is_read
    assert session.slept_ns == failures * PAUSE_NS


@pytest.mark.parametrize(
    ("failures", "unread", "reads"),
    [
        ((FINAL_ATTEMPTS - 1, 5), 0, (FINAL_ATTEMPTS, 6)),
        ((FINAL_ATTEMPTS, 999), 2, (FINAL_ATTEMPTS, ATTEMPTS)),
        ((FINAL_ATTEMPTS, 3), 1, (FINAL_ATTEMPTS, 4)),
    ],
)
def test_the_final_phase_waits_a_minute_for_the_first_log_that_is_not_readable(
    failures, unread, reads
):
    names = ("a-0", "a-1")
    session, workload = Session(dict(zip(names, failures, strict=True))), Log()
    partitions = workload._partitions
    partitions.keys, partitions.is_created, partitions.acknowledged = names, True, set(names)
    assert asyncio.run(workload.final_reads(session)) == unread
    assert tuple(map(session.reads.count, names)) == reads
    assert FINAL_ATTEMPTS * PAUSE_NS == 60_000_000_000
