"""Final reads repeat what fails, and end soon where nothing answers."""

import asyncio

import pytest

from kraftproof.cluster.systems.system import Completion, Outcome
from kraftproof.workloads.final_reads import ATTEMPTS, PAUSE_NS, read_each
from kraftproof.workloads.keys import Key

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
