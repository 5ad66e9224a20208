"""Rules about the states of partitions: leaderless too long, and not whole at the end."""

import pytest

from kraftproof.checkers.history.operations import Operation
from kraftproof.checkers.logs.states import require_state, state_findings

S = 1_000_000_000


def look(index, at, leader, isr=(1, 2), *, is_last=False, is_moving=False):
    return Operation(
        index=index,
        process=0,
        f="state",
        key="log-0",
        input={"limit_ms": 5000, "is_last": is_last},
        output={"leader": leader, "isr": list(isr), "replicas": [1, 2], "is_moving": is_moving},
        status="ok",
        invoke_time=at * S,
        complete_time=at * S,
        invoke_index=index,
    )


@pytest.mark.parametrize(
    ("looks", "checks"),
    [
        ((look(0, 1, -1), look(1, 5, -1), look(2, 6, 1)), []),
        ((look(0, 1, -1), look(1, 7, -1), look(2, 8, -1)), ["log/leaderless"]),
        ((look(0, 1, -1), look(1, 4, 1), look(2, 8, -1), look(3, 12, -1)), []),
        ((look(0, 1, -1, (1,)), look(1, 9, -1, (1,))), []),
        ((look(0, 1, 1, is_last=True),), []),
        ((look(0, 1, 1, (1,), is_last=True),), ["log/settled"]),
        ((look(0, 1, -1, is_last=True),), ["log/settled"]),
        ((look(0, 1, 1, is_moving=True, is_last=True),), ["log/settled"]),
    ],
)
def test_the_states_of_a_partition(looks, checks):
    for one in looks:
        require_state(one)
    assert [finding.check for finding in state_findings("log-0", looks)] == checks
