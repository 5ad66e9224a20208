"""Where a search stands that fills the gaps between a counter's answers, and one step of it.

Kernels for `checkers.engines.repeated.counter.growing`.
"""

from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from kraftproof.checkers.engines.kernels.chains import Ints
from kraftproof.checkers.engines.repeated.counter.gaps import Gaps
from kraftproof.checkers.kernels import kernel

LOOKAHEAD: Final = 64
"""The number of required additions checked before an addition that may come later is chosen."""


class Search(NamedTuple):
    """Where a search stands.

    Attributes:
        done: int32[k], how many adds of each line are done.
        trail: int64[n], the lines of what is done, in order.
        is_done: bool[n].
        slack: int64[AHEAD], what is left over, at each of the sure adds whose last gaps come next,
            of what the answer wants that it must come before.
        key: int32[sure lines + add-and-gets + 2], capacity for `_key`.
        now: int64[8], the numbers below.
    """

    done: NDArray[np.int32]
    trail: Ints
    is_done: NDArray[np.bool_]
    slack: Ints
    key: NDArray[np.int32]
    now: Ints


LENGTH: Final = 0
"""How many adds are done."""
SUM: Final = 1
"""The sum of the finished additions."""
LENT: Final = 2
"""The sum of the finished optional additions."""
GAP: Final = 3
"""The answer that comes next."""
FIRST: Final = 4
"""The first sure add, by completion, that is not done."""
DUE: Final = 5
"""The first sure add, by last gap, that is not done."""
SCARCE: Final = 6
"""How often an optional add of some size would have done, but there was none."""
WORK: Final = 7
"""How many lines and adds may still be looked at."""


def begin(gaps: Gaps, work: int) -> Search:
    """Return a search that has done nothing and may look at so many lines and adds."""
    lines = len(gaps.line_starts) - 1
    return Search(
        done=np.zeros(lines, dtype=np.int32),
        trail=np.empty(len(gaps.size), dtype=np.int64),
        is_done=np.zeros(len(gaps.size), dtype=np.bool_),
        slack=np.empty(LOOKAHEAD, dtype=np.int64),
        key=np.empty(2 + gaps.sure_lines + lines - gaps.get_lines, dtype=np.int32),
        now=np.array([0, 0, 0, 0, 0, 0, 0, work], dtype=np.int64),
    )


@kernel
def key(gaps: Gaps, search: Search) -> NDArray[np.int32]:
    """Return what is done, whatever the sizes of the optional adds among it were."""
    lent, sure = search.now[LENT], gaps.sure_lines
    search.key[0], search.key[1] = lent & 0x7FFFFFFF, lent >> 31
    search.key[2 : 2 + sure] = search.done[:sure]
    search.key[2 + sure :] = search.done[gaps.get_lines :]
    return search.key


@kernel
def answer(gaps: Gaps, search: Search) -> bool:
    """Pass the answers that tell the present sum; return whether any add may follow."""
    now = search.now
    while now[GAP] < len(gaps.wanted) and gaps.wanted[now[GAP]] == now[SUM]:
        if now[DUE] < len(gaps.by_gap) and gaps.last_gap[now[DUE]] <= now[GAP]:
            return False
        now[GAP] += 1
    return True


@kernel
def do(gaps: Gaps, search: Search, line: int) -> None:
    """Do the next add of a line."""
    now = search.now
    add = gaps.line_starts[line] + search.done[line]
    search.trail[now[LENGTH]] = line
    search.done[line] += 1
    now[LENGTH] += 1
    now[SUM] += gaps.size[add]
    if line >= gaps.sure_lines:
        now[LENT] += gaps.size[add]
        return
    search.is_done[add] = True
    while now[FIRST] < len(gaps.by_completion) and search.is_done[gaps.by_completion[now[FIRST]]]:
        now[FIRST] += 1
    while now[DUE] < len(gaps.by_gap) and search.is_done[gaps.by_gap[now[DUE]]]:
        now[DUE] += 1


@kernel
def undo(gaps: Gaps, search: Search) -> None:
    """Take back the last add done."""
    now = search.now
    now[LENGTH] -= 1
    line = search.trail[now[LENGTH]]
    search.done[line] -= 1
    add = gaps.line_starts[line] + search.done[line]
    now[SUM] -= gaps.size[add]
    if line >= gaps.sure_lines:
        now[LENT] -= gaps.size[add]
        return
    search.is_done[add] = False
    now[DUE] = min(now[DUE], gaps.rank[add])
    place = np.searchsorted(gaps.completions, gaps.complete[add])
    now[FIRST] = min(now[FIRST], place)
