"""Make a failing case smaller: fewer connections, fewer frames, no cuts and no pauses.

Delta debugging (Zeller and Hildebrandt, 2002): a smaller case is kept if the replay on a fresh
cluster ends with a finding of the same kind.
"""

from collections.abc import Callable, Iterator

from msgspec.structs import replace

from kraftproof.cluster.systems.reference.requests.case import Case

Fails = Callable[[Case], bool]
"""Replays a case; returns whether the case fails with the same kind of finding."""


def shrink(case: Case, fails: Fails, tries: int) -> Case:
    """Return a smaller failing case, after at most `tries` replays."""
    left = tries
    while True:
        for smaller in candidates(case):
            if left == 0:
                return case
            left -= 1
            if fails(smaller):
                case = smaller
                break
        else:
            return case


def candidates(case: Case) -> Iterator[Case]:
    """Yield smaller cases, the smallest first."""
    count = len(case.sends)
    part = count // 2
    while part:
        for start in range(0, count, part):
            yield _without_unused(
                replace(case, sends=case.sends[:start] + case.sends[start + part :])
            )
        part //= 2
    for index, send in enumerate(case.sends):
        if send.cuts or send.after_ms:
            plain = replace(send, cuts=(), after_ms=0)
            yield replace(case, sends=(*case.sends[:index], plain, *case.sends[index + 1 :]))


def _without_unused(case: Case) -> Case:
    """Return the case without unused connections."""
    used = sorted({send.connection for send in case.sends})
    places = {connection: place for place, connection in enumerate(used)}
    return Case(
        nodes=tuple(case.nodes[connection] for connection in used),
        sends=tuple(replace(send, connection=places[send.connection]) for send in case.sends),
    )
