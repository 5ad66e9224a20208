"""Timers run in the order of their times and of their making, whatever is cancelled between."""

from random import Random
from types import SimpleNamespace

from kraftproof.cluster.simulated.kernel.scheduler import FEWEST_SIFTED, Scheduler

HOUR_NS = 3_600_000_000_000


def test_order_is_kept_while_most_timers_are_cancelled():
    scheduler, random = Scheduler(), Random(1)
    done, due = [], []
    for number in range(20 * FEWEST_SIFTED):
        time_ns = random.randrange(1000)
        timer = scheduler.at(time_ns, lambda number=number: done.append(number))
        if random.random() < 0.9:
            timer.cancel()
        else:
            due.append((time_ns, number))
    assert due
    last = SimpleNamespace(is_set=False)
    scheduler.at(max(due)[0], lambda: setattr(last, "is_set", True))
    scheduler.run_until(last, until_ns=1000, maximum_events=len(due) + 1)
    assert done == [number for _, number in sorted(due)]
    assert scheduler.events == len(due) + 1


def test_timers_that_are_set_far_ahead_and_cancelled_leave_no_trace():
    scheduler = Scheduler()
    for _ in range(10 * FEWEST_SIFTED):
        scheduler.after(HOUR_NS, lambda: None).cancel()
    assert len(scheduler._heap) <= FEWEST_SIFTED
