"""A failing case becomes smaller, as long as the replay of the smaller case fails too."""

import pytest

from kraftproof.cluster.systems.reference.requests.case import Case, Expects, Send
from kraftproof.fuzz.campaign import Finding, joined
from kraftproof.fuzz.shrink import shrink

TRIES = 1_000


def send(connection: int, frame: bytes, **fields) -> Send:
    return Send(
        connection=connection, frame=frame, expects=Expects.EITHER, about="a frame", **fields
    )


def case_of(count: int) -> Case:
    sends = (send(i % 3, bytes([i]) * 4, cuts=(1,), after_ms=5) for i in range(count))
    return Case(nodes=(4, 5, 6), sends=tuple(sends))


def has(case: Case, *marks: int) -> bool:
    return {bytes([mark]) * 4 for mark in marks} <= {one.frame for one in case.sends}


@pytest.mark.parametrize("marks", [(7,), (0, 39), (5, 6, 30)])
def test_only_the_needed_frames_stay(marks: tuple[int, ...]) -> None:
    smallest = shrink(case_of(40), lambda case: has(case, *marks), TRIES)
    assert [one.frame[0] for one in smallest.sends] == sorted(marks)
    assert not any(one.cuts or one.after_ms for one in smallest.sends)
    assert len(smallest.nodes) == len({mark % 3 for mark in marks})
    for one, mark in zip(smallest.sends, sorted(marks), strict=True):
        assert smallest.nodes[one.connection] == 4 + mark % 3


def test_a_case_that_fails_as_a_whole_only_stays() -> None:
    whole = case_of(6)
    assert shrink(whole, lambda case: case == whole, TRIES) == whole


def test_the_number_of_replays_is_bounded() -> None:
    replayed: list[Case] = []

    def fails(case: Case) -> bool:
        replayed.append(case)
        return True

    smaller = shrink(case_of(64), fails, 3)
    assert len(replayed) == 3
    assert smaller == replayed[-1]


def test_joined_cases_keep_their_connections() -> None:
    one = joined([case_of(3), case_of(2)])
    assert one.nodes == (4, 5, 6, 4, 5, 6)
    assert [each.connection for each in one.sends] == [0, 1, 2, 3, 4]
    assert [each.cuts for each in one.sends] == [(1,)] * 5


def test_the_kind_of_a_finding_is_equal_in_every_replay() -> None:
    reasons = (
        "the answer has correlation id 5, the request -6: Vote v1",
        "the answer has correlation id -70, the request 8: Metadata v3",
        "the node has died",
    )
    first, second, third = (
        Finding(node_id=1, reason=reason, case=case_of(1)).kind for reason in reasons
    )
    assert first == second != third
