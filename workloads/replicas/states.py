"""Look at the state of partitions: during a run, and until all replicas are in sync at the end.

A look is the operation `state`, whose answer has leader, ISR and replicas. Its input has the
declared time without a leader. See checkers/logs/states.py for the rules.
"""

from collections.abc import Mapping, Sequence

from kraftproof.workloads.workload import Outcome, Session

LOOK_NS = 200_000_000
"""Time between two looks."""
SETTLE_LOOKS = 600
"""The most looks at a partition at the end, 500 ms apart.

A follower on a slow link may copy a log one batch at a time, with a round trip for each.
"""
LATER_LOOKS = 60
"""The most looks at each further partition after one that did not settle."""
SETTLE_NS = 500_000_000
WHOLE_LOOKS = 4
"""Whole states in a row before the last look: a broker may not have read a new move yet."""
SLACK_MS = 3_000
"""Time for an election and its way to the brokers, beside the sessions that must end first."""
NS_PER_MS = 1_000_000


def limit_ms(session: Session) -> int:
    """Return the declared time without a leader: a broker's session may begin anew once."""
    return 2 * session.load.session_ns // NS_PER_MS + SLACK_MS


async def watch(session: Session, keys: Sequence[str]) -> None:
    """Look at the partitions in turn until the session is ending."""
    value = {"limit_ms": limit_ms(session)}
    number = 0
    while not session.ending:
        process = session.process()
        while not session.ending:
            await session.scope.sleep(LOOK_NS // len(keys))
            completion = await process.invoke("state", keys[number % len(keys)], value)
            number += 1
            if completion.outcome is not Outcome.OK:
                break
        process.close()


async def settle(session: Session, keys: Sequence[str]) -> int:
    """Look at each partition until it is whole; return the number of partitions without a look."""
    process, unseen, looks = session.process(), 0, SETTLE_LOOKS
    limit = limit_ms(session)
    for key in keys:
        whole = 0
        for _ in range(looks):
            look = {"limit_ms": limit}
            completion = await process.invoke("state", key, look)
            is_good = completion.outcome is Outcome.OK and is_whole(completion.value)
            whole = whole + 1 if is_good else 0
            if whole == WHOLE_LOOKS:
                break
            await session.scope.sleep(SETTLE_NS)
        else:
            looks = LATER_LOOKS
        completion = await process.invoke("state", key, {"limit_ms": limit, "is_last": True})
        unseen += completion.outcome is not Outcome.OK
    process.close()
    return unseen


def is_whole(state: Mapping[str, object]) -> bool:
    """Return whether every replica of an answer is in sync, with a leader and without a move."""
    replicas, isr = state["replicas"], state["isr"]
    assert isinstance(replicas, list | tuple), "the answer has lists of brokers"
    assert isinstance(isr, list | tuple), "the answer has lists of brokers"
    is_moving = bool(state.get("is_moving"))
    return state["leader"] != -1 and set(replicas) == set(isr) and not is_moving
