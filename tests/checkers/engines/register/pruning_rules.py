"""The rules by which the search for registers leaves work out, and what each of them needs.

A rule has a condition without which it would lose legal orders. Here each condition is told with
how its source reads without it, and the smallest history found that then gets a wrong verdict.
`python -m tests.checkers.engines.register.pruning_rules`, with NUMBA_DISABLE_JIT=1, takes them away
one at a time and prints those whose history is still judged right: none.

Not here, as they can't change a verdict: which of equal writes and compare-and-sets is left out
(register_steps), the dominance of paths within one step, and what no later call asks for. Without
them there are more successors, each of them legal, as the proof of soundness there asks nothing of
these rules.
"""

import importlib
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from types import FunctionType
from typing import Any

from kraftproof.checkers.options import Limits
from kraftproof.checkers.verdict import Verdict
from tests.support.checkers.engines import by_frontier
from tests.support.checkers.register_calls import OPEN, Call, cas, read, register_calls, write

A, B, C, D = 1, 2, 3, 4
LIMITS = Limits(seconds=60)


@dataclass(frozen=True)
class Condition:
    """What a rule needs.

    Attributes:
        name: the condition in words.
        module: where it stands, in checkers.engines.
        text: how it reads there, once.
        without: how that reads without it.
        key: a valid history that is said to be invalid without it.
    """

    name: str
    module: str
    text: str
    without: str
    key: tuple[Call, ...]


DOMINANCE = (
    Condition(
        "one that covers another has an equal or later start of its block",
        "register.search.dominance",
        "rows[i, SCOPE] >= others[j, SCOPE]",
        "True",
        (
            *(write(D, 0, OPEN), write(D, 1, OPEN), read(D, 2, 3), write(B, 4, 7)),
            *(cas(D, A, 5, 6), read(A, 8, 9)),
        ),
    ),
    Condition(
        "one that covers another has placed the compare-and-sets that the other has",
        "register.search.dominance",
        "reads[word] | updates[word] |",
        "reads[word] |",
        (cas(B, A, 0, OPEN), write(B, 1, OPEN), cas(A, B, 2, 5), cas(B, C, 3, 4)),
    ),
    Condition(
        "one that covers another has the compare-and-sets left that the other has",
        "register.search.dominance",
        "(writes[word] | updates[word] | indeterminate[word])",
        "(writes[word] | indeterminate[word])",
        (
            *(write(A, 0, OPEN), cas(A, B, 1, 10), cas(B, C, 2, 11), cas(A, D, 3, OPEN)),
            *(cas(D, C, 4, OPEN), read(C, 5, 6), write(A, 7, OPEN), read(B, 8, 9)),
        ),
    ),
    Condition(
        "one that covers another has the writes left that the other has",
        "register.search.dominance",
        "(writes[word] | updates[word] | indeterminate[word])",
        "(updates[word] | indeterminate[word])",
        (write(B, 0, 4), cas(0, B, 1, OPEN), cas(B, A, 2, 3), cas(B, A, 5, 6)),
    ),
    Condition(
        "one that covers another has the open indeterminate calls left that the other has",
        "register.search.dominance",
        "(writes[word] | updates[word] | indeterminate[word])",
        "(writes[word] | updates[word])",
        (
            *(read(B, 0, 9), cas(0, B, 1, OPEN), write(B, 2, OPEN), cas(B, C, 3, OPEN)),
            *(cas(C, A, 4, 5), cas(B, C, 6, OPEN), cas(C, A, 7, 8)),
        ),
    ),
    Condition(
        "one that covers another has as many calls left in the pool",
        "register.search.dominance",
        "and _covers_pool(key, rows, i, others, j)",
        "",
        (write(A, 0, OPEN), cas(0, A, 1, OPEN), cas(A, B, 2, 4), write(B, 3, 5), read(A, 6, 7)),
    ),
    Condition(
        "one that covers another has answered the reads that the other has",
        "register.search.dominance",
        "reads[word] | updates[word] |",
        "updates[word] |",
        (write(A, 0, OPEN), write(B, 1, 3), read(A, 2, 4), write(A, 5, 7), read(B, 6, 8)),
    ),
    Condition(
        "in one that covers another, a write that only the other has placed is free",
        "register.search.dominance",
        "(writes[word] & ~scope)",
        "0",
        (cas(C, B, 0, 4), write(C, 1, 2), write(C, 3, 5), read(B, 6, 7)),
    ),
    Condition(
        "one that covers another has the loose ends that the other has",
        "register.search.dominance",
        "and _covers_ends(key, rows, i, others, j)",
        "",
        (write(A, 0, 2), write(B, 1, 3), write(A, 4, 7), read(A, 5, 9), cas(B, A, 6, 8)),
    ),
)
CHOICES = (
    Condition(
        "of equal writes the one that returns soonest starts the block",
        "register.search.steps",
        "key.calls[rival, POSITION] < key.calls[call, POSITION]",
        "key.calls[rival, POSITION] > key.calls[call, POSITION]",
        (write(B, 0, 4), write(B, 1, 7), read(B, 2, 3), cas(B, A, 5, 6), read(B, 8, 9)),
    ),
    Condition(
        "a compare-and-set waits for an equal one only if it returns no sooner",
        "register.search.cas_paths",
        "if key.calls[rival, POSITION] <= key.calls[call, POSITION]:",
        "if True:",
        (
            *(cas(0, A, 0, OPEN), cas(A, B, 1, 2), cas(B, A, 3, 7), cas(A, A, 4, 6)),
            cas(B, A, 5, OPEN),
        ),
    ),
    Condition(
        "a compare-and-set waits for an equal one only if it was invoked before",
        "register.search.cas_paths",
        "for other in range(rank + 1, scope):",
        "for other in [*range(rank), *range(rank + 1, scope)]:",
        (
            *(cas(B, A, 0, 7), write(A, 1, 2), cas(A, B, 3, 8), write(A, 4, 5)),
            *(cas(A, B, 6, 11), cas(A, B, 9, 10)),
        ),
    ),
    Condition(
        "of equal indeterminate compare-and-sets the last invoked goes first",
        "register.search.cas_paths",
        "for other in range(rank + 1, scope):",
        "for other in range(rank):",
        (
            *(write(A, 0, 1), cas(B, C, 2, 10), cas(A, B, 3, OPEN), write(C, 4, 5)),
            *(cas(A, B, 6, OPEN), write(A, 7, OPEN), read(B, 8, 9), read(B, 11, 12)),
        ),
    ),
    Condition(
        "a write that may stay before the current block may start one too",
        "register.search.steps",
        "if key.wanted[new] <= position:",
        "if True:",
        (write(B, 0, 2), write(A, 1, 3), read(A, 4, 5), write(B, 6, 7), read(B, 8, 9)),
    ),
)
LOOSE_ENDS = (
    Condition(
        "a loose end may go on by a call of the pool",
        "register.search.open_blocks",
        "if pool_left(key, rows, i, field) > 0:\n                return smallest",
        "if False:\n                return smallest",
        (
            *(write(A, 0, OPEN), cas(A, B, 1, OPEN), read(B, 2, 3), cas(B, A, 4, OPEN)),
            *(read(A, 5, 8), write(C, 6, 7)),
        ),
    ),
    Condition(
        "a loose end is of use for a read",
        "register.search.open_blocks",
        "has_due |= kind != INDETERMINATE_CAS",
        "has_due |= kind not in (READ, INDETERMINATE_CAS)",
        (
            *(write(A, 0, OPEN), cas(A, B, 1, OPEN), read(B, 2, 3), cas(B, A, 4, OPEN)),
            *(read(A, 5, 8), write(C, 6, 7)),
        ),
    ),
    Condition(
        "a write that stays before the current block leaves its end loose",
        "register.search.steps",
        "leave_end(key, here, workspace.rows, place, new, scope, workspace)",
        "pass",
        (write(B, 0, 4), cas(B, A, 1, 5), write(C, 2, 3), read(C, 6, 7)),
    ),
    Condition(
        "the current block leaves its end loose when another begins",
        "register.search.steps",
        "leave_end(key, here, rows, i, rows[i, VALUE], everything, workspace)",
        "pass",
        (write(A, 0, 3), cas(0, B, 1, OPEN), cas(B, A, 2, 4)),
    ),
    Condition(
        "of the loose ends with one value as many are kept as compare-and-sets go on from it",
        "register.search.open_blocks",
        "limit = np.int64(start)",
        "limit = np.int64(0)",
        (
            *(write(B, 0, 1), cas(B, D, 2, 8), write(B, 3, 4), cas(B, C, 5, 10)),
            *(write(B, 6, 7), cas(B, D, 9, 11)),
        ),
    ),
    Condition(
        "a loose end goes on by the last compare-and-set that it can, and leaves others the rest",
        "register.search.open_blocks",
        "for rank in range(limit - 1, -1, -1):",
        "for rank in range(limit):",
        (
            *(write(B, 0, 1), cas(B, D, 2, 8), write(B, 3, 4), cas(B, C, 5, 10)),
            *(write(B, 6, 7), cas(B, D, 9, 11)),
        ),
    ),
    Condition(
        "a loose end is kept for an open indeterminate compare-and-set",
        "register.search.open_blocks",
        "kind in (CAS, INDETERMINATE_CAS)",
        "kind == CAS",
        (read(B, 0, 4), cas(0, B, 1, OPEN), write(A, 2, 3)),
    ),
    Condition(
        "a loose end is kept for a compare-and-set of the pool",
        "register.search.open_blocks",
        "elif spare > 0:",
        "elif False:",
        (cas(0, C, 0, OPEN), read(C, 1, 4), write(D, 2, 3)),
    ),
)
CONDITIONS = (*DOMINANCE, *CHOICES, *LOOSE_ENDS)


@contextmanager
def without(condition: Condition) -> Iterator[None]:
    """Takes a condition away; only where kernels are not compiled.

    Functions keep their identity, whoever has imported them, and get other code.
    """
    module = importlib.import_module(f"kraftproof.checkers.engines.{condition.module}")
    source = Path(module.__file__ or "").read_text()
    assert source.count(condition.text) == 1, f"{condition.module}: {condition.text}"
    made: dict[str, Any] = {"__name__": module.__name__}
    exec(compile(source.replace(condition.text, condition.without), "without", "exec"), made)
    own = [
        function
        for function in vars(module).values()
        if isinstance(function, FunctionType) and function.__module__ == module.__name__
    ]
    kept = [function.__code__ for function in own]
    for function in own:
        function.__code__ = made[function.__name__].__code__
    try:
        yield
    finally:
        for function, code in zip(own, kept, strict=True):
            function.__code__ = code


def is_judged_right(condition: Condition) -> bool:
    """Says whether the frontier finds the condition's history valid."""
    (outcome,) = by_frontier(register_calls(list(condition.key)), LIMITS)
    return outcome.verdict is Verdict.VALID


def main() -> int:
    told = []
    for condition in CONDITIONS:
        if not is_judged_right(condition):
            told.append(f"wrong as it is: {condition.name}")
        with without(condition):
            if is_judged_right(condition):
                told.append(f"right without: {condition.name}")
    print(*told, sep="\n")
    return 1 if told else 0


if __name__ == "__main__":
    sys.exit(main())
