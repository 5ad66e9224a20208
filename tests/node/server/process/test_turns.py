"""The turns of the shell in the event loop, the timer of the deadline, and the threads."""

import asyncio
import time

import pytest

from kraftproof.node.core.effects import Exit
from kraftproof.node.server.clocks import LoopClock
from kraftproof.node.server.turns import EVENTS_PER_TURN, Turns
from kraftproof.node.server.workers import ThreadWorkers

MS = 1_000_000
PATIENCE_S = 20


class Shell:
    """A shell with a number of events; each step notes what runs."""

    is_held = False

    def __init__(self, events=0, error=None):
        self.events, self.error, self.ran = events, error, []

    @property
    def has_work(self):
        return self.events > 0 and not self.is_held

    def run(self, most_steps):
        if self.error is not None:
            raise self.error
        done = 0 if self.is_held else min(self.events, most_steps)
        self.events -= done
        self.ran.append(done)


def test_sockets_have_their_turn_between_many_events():
    async def main():
        shell = Shell(events=2 * EVENTS_PER_TURN + 1)
        turns, seen = Turns(shell, None), []

        def socket():
            seen.append(shell.events)
            if shell.events:
                loop.call_soon(socket)
            else:
                turns.leave(Exit(status=0, reason="done"))

        loop = asyncio.get_running_loop()
        loop.call_soon(socket)
        ended = await asyncio.wait_for(turns.run(), PATIENCE_S)
        return ended.reason, shell.ran, seen

    reason, ran, seen = asyncio.run(main())
    assert (reason, ran[:3]) == ("done", [EVENTS_PER_TURN, EVENTS_PER_TURN, 1])
    assert {EVENTS_PER_TURN + 1, 1, 0} <= set(seen)


def test_a_failed_step_ends_the_turns():
    async def main():
        await asyncio.wait_for(Turns(Shell(error=KeyError("step")), None).run(), PATIENCE_S)

    with pytest.raises(KeyError, match="step"):
        asyncio.run(main())


def test_the_first_reason_counts_and_no_step_follows():
    async def main():
        shell = Shell(events=5)
        turns = Turns(shell, None)
        turns.leave(Exit(status=1, reason="first"))
        turns.leave(Exit(status=0, reason="second"))
        return (await turns.run()).reason, shell.ran

    assert asyncio.run(main()) == ("first", [])


@pytest.mark.parametrize("is_held", [False, True])
def test_a_time_without_events_is_told_but_no_wait_for_the_disk(is_held):
    async def main():
        shell, idle = Shell(), []
        shell.is_held = is_held
        turns = Turns(shell, idle.append)
        loop = asyncio.get_running_loop()
        before = time.monotonic_ns()
        loop.call_later(0.02, turns.wake)
        loop.call_later(0.04, turns.leave, Exit(status=0, reason="done"))
        await turns.run()
        return len(idle), all(before <= begun <= time.monotonic_ns() for begun in idle)

    assert asyncio.run(main()) == (0 if is_held else 2, True)


def rung(*deadlines_ms, last):
    """Return the times of the ticks, in ms from the start, after these deadlines in turn."""

    async def main():
        begun, ticks = time.monotonic_ns(), []
        clock = LoopClock(lambda: ticks.append((time.monotonic_ns() - begun) // MS))
        for each in deadlines_ms:
            clock.set_deadline(None if each is None else begun + each * MS)
        await asyncio.sleep(last / 1000)
        return ticks

    return asyncio.run(main())


def test_the_deadline_that_was_set_last_rings_once_and_never_early():
    for deadlines in ((60,), (20, 60), (200, 60), (20, 200, 60), (None, 60)):
        ticks = rung(*deadlines, last=300)
        assert len(ticks) == 1, deadlines
        assert ticks[0] >= 60, deadlines
    assert rung(20, None, last=80) == []


def test_threads_tell_results_errors_of_the_disk_and_defects_in_the_loop():
    def full():
        raise OSError(28, "no space left")

    def defect():
        raise KeyError("defect")

    async def main():
        told, flushed = [], []
        workers = ThreadWorkers(flushed.append)
        ended = [asyncio.Event() for _ in range(3)]

        def note(which, what):
            asyncio.get_running_loop()  # raises outside of the loop
            told.append((which, what))
            ended[which].set()

        for which, work in enumerate((lambda: None, full, defect)):
            workers.fsync(
                work,
                lambda which=which: note(which, "done"),
                lambda error, which=which: note(which, str(error)),
            )
        await asyncio.wait_for(asyncio.gather(*(each.wait() for each in ended)), PATIENCE_S)
        workers.close()
        return sorted(told), len(flushed)

    told, flushed = asyncio.run(main())
    assert told == [(0, "done"), (1, "[Errno 28] no space left"), (2, "KeyError: 'defect'")]
    assert flushed == 1
