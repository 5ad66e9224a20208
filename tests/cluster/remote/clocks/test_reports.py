"""A rounded clock is evidence of no more than what rounding and the time of an answer leave."""

import asyncio
import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kraftproof.cluster.remote.clocks import reports
from kraftproof.cluster.remote.clocks.reports import AskedReport

SECOND_NS = 1_000_000_000
NOW_NS = 1_790_000_000 * SECOND_NS


class Machine:
    """A machine whose clock moves by questions and sleeps only."""

    def __init__(self, now_ns, offset_ns, answer_ns, step_ns):
        self.now_ns, self.offset_ns, self.answer_ns = now_ns, offset_ns, answer_ns
        self.step_ns = step_ns

    async def ask(self):
        self.now_ns += self.answer_ns
        wall_ns = self.now_ns + self.offset_ns
        self.now_ns += self.answer_ns
        return wall_ns - wall_ns % self.step_ns

    async def sleep(self, seconds):
        self.now_ns += int(seconds * SECOND_NS)

    def offset(self, monkeypatch):
        with monkeypatch.context() as patch:
            patch.setattr(time, "time_ns", lambda: self.now_ns)
            patch.setattr(reports.asyncio, "sleep", self.sleep)
            step_s = self.step_ns / SECOND_NS if self.step_ns > 1 else 0
            return asyncio.run(AskedReport(self.ask, step_s).offset())


@settings(max_examples=300, database=None)
@given(
    past_ns=st.integers(0, SECOND_NS),
    offset_ns=st.integers(-3 * SECOND_NS, 3 * SECOND_NS),
    answer_ns=st.integers(0, SECOND_NS // 4),
)
def test_the_reported_offset_is_never_larger_than_the_true_one(past_ns, offset_ns, answer_ns):
    machine = Machine(NOW_NS + past_ns, offset_ns, answer_ns, SECOND_NS)
    found_ns = machine.offset(pytest.MonkeyPatch())
    assert abs(found_ns) <= abs(offset_ns)
    assert found_ns * offset_ns >= 0
    assert abs(offset_ns - found_ns) <= SECOND_NS + 2 * answer_ns


@pytest.mark.parametrize("offset_ns", [200_000_000, -200_000_000])
def test_a_fifth_of_a_second_shows_by_the_moment_of_the_question(offset_ns, monkeypatch):
    found_ns = Machine(NOW_NS, offset_ns, 30_000_000, SECOND_NS).offset(monkeypatch)
    assert found_ns / offset_ns >= 0.5


def test_a_clock_without_steps_is_asked_once(monkeypatch):
    machine = Machine(NOW_NS, 77_000_000, 1_000_000, 1)
    assert abs(machine.offset(monkeypatch) - 77_000_000) <= 1_000_000
    assert machine.now_ns == NOW_NS + 2_000_000


def test_a_node_without_an_answer_has_no_offset(monkeypatch):
    async def ask():
        return None

    async def sleep(_):
        return

    monkeypatch.setattr(reports.asyncio, "sleep", sleep)
    assert asyncio.run(AskedReport(ask, 1.0).offset()) is None
