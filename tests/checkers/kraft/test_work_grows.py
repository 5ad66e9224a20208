"""How the work of the checks of brokers and topics grows: as the operations do, by instructions."""

import sys

import pytest

from kraftproof.checkers.history.operations import Operation
from kraftproof.checkers.kraft.describe import lags
from kraftproof.checkers.kraft.registrations import Registrations
from kraftproof.checkers.kraft.sessions.expiry import check_expiry
from kraftproof.checkers.kraft.sessions.leases import check_leases
from kraftproof.checkers.options import LeaseBounds
from tests.checkers.kraft.recorder import BOUNDS, MS, Recorder


def instructions_of(work):
    """How many instructions Python executes for some work."""
    count = 0

    def note(frame, event, _argument):
        nonlocal count
        frame.f_trace_opcodes = True
        count += event == "opcode"
        return note

    before = sys.gettrace()
    sys.settrace(note)
    try:
        work()
    finally:
        sys.settrace(before)
    return count


def registrations(record):
    return Registrations.of("1000", record.operations)


def early_take_overs(size):
    """A lease that ends by an unregistration each time, and long before its session does."""
    record = Recorder()
    for number in range(size):
        record.register(f"i{number}", number + 1, 10 * number)
        record.unregister(10 * number + 5)
    found = registrations(record)
    return lambda: check_leases(found, BOUNDS)


def refusals_of_a_live_broker(size):
    record = Recorder()
    record.register("a", 1, 0)
    for number in range(size):
        record.heartbeat(1, 10 * number + 5)
        record.register("b", None, 10 * number + 10)
    found = registrations(record)
    return lambda: check_leases(found, BOUNDS)


def refusals_among_many_grants(size):
    """Each refusal finds the last holder among those before."""
    record = Recorder()
    for number in range(size):
        record.register("a", number + 1, 10 * number)
        record.register("a", None, 10 * number + 5)
    found = registrations(record)
    return lambda: check_leases(found, BOUNDS)


def bounds_with_faults(size):
    faults = tuple((10 * MS * number, (10 * number + 4) * MS) for number in range(size))
    return LeaseBounds(session_ns=MS, failover_ns=10 * MS, measurement_ns=0, disturbed=faults)


def refusals_between_faults(size):
    record = Recorder()
    record.register("a", 1, 0)
    for number in range(size):
        record.register("b", None, 10 * number + 5)
    found, bounds = registrations(record), bounds_with_faults(size)
    return lambda: check_expiry(found, bounds)


def late_describes_between_faults(size):
    def topic(number, f, answer):
        return Operation(
            index=number,
            process=0,
            f=f,
            key="t",
            input={"id": "T"} if f == "describe" else None,
            output={"outcome": answer, "id": "T"},
            status="ok",
            invoke_index=2 * number,
            complete_index=2 * number + 1,
            invoke_time=10 * MS * number,
            complete_time=(10 * number + 2) * MS,
        )

    describes = [topic(number, "describe", "absent") for number in range(1, size)]
    operations, bounds = [topic(0, "create", "created"), *describes], bounds_with_faults(size)
    return lambda: lags(operations, bounds)


@pytest.mark.parametrize(
    "make",
    [
        early_take_overs,
        refusals_of_a_live_broker,
        refusals_among_many_grants,
        refusals_between_faults,
        late_describes_between_faults,
    ],
)
def test_four_times_the_operations_take_four_times_the_work(make):
    few, many = (instructions_of(make(size)) for size in (100, 400))
    assert few > 1_000, "it looks at each operation"
    assert many < 4.5 * few
