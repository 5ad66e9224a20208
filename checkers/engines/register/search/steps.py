"""What a configuration of one register's search may become when the next call returns.

The search is just-in-time (Lowe, "Testing for linearizability", 2017): nothing is placed before
some call has to return. It differs from his, and from Wing and Gong's, in what a configuration
fixes. A legal order is a row of *blocks* (`checkers.engines.register.search.configurations`); a
configuration fixes only the last block of which some call has returned, the *current* one, and no
order of the others.

Where a block that is not the last may lie: anywhere its calls are open, not inside another block.
Hence a plain write that nobody has used and that was open when the current block began is *free*: a
block that starts with it can be put just before the current one. When a write returns, it either
starts the current block now, or has had its place before it; then its end, and likewise the end of
the old block when a new one begins, stays *loose*: what compare-and-sets in scope make of it is
decided when one of them, or a read that needs it, returns. So at a return there are four ways:

1. the current block goes on, by compare-and-sets, to what returns;
2. a loose end does, by calls that were open when it was passed;
3. a free write starts a block before the current one, which goes on to what returns;
4. any write not yet placed starts a new current block, which goes on to what returns.

Sound: in each way the calls are placed in an order that is legal at an instant at which all are
open. Complete: take any legal order and cut it into blocks. When a call returns that is not yet
placed, place its block up to it. If the block is the current one, this is way 1; if it has a placed
beginning, way 2; if it comes before the current one in the order, all of it was invoked before the
current one began, so way 3; else way 4, and everything placed so far comes before it. A read is
answered as soon as a block in scope passes its value: it changes nothing.

Two more rules lose nothing, since the calls can change places in any legal order:

- Of free or unplaced writes of one value, the one that returns soonest starts the block, an
  indeterminate one only if there is no other. If another block starts with it, the two swap.
- Of equal compare-and-sets in scope, one that was open all the time that another was is kept: the
  other goes first. The same holds of indeterminate ones, of which the last invoked goes first.

They only save work: without them there are more successors, all of them legal by the argument for
soundness above, which does not ask which call was chosen; so no verdict changes.
"""

from kraftproof.checkers.calls.register import WRITE
from kraftproof.checkers.engines.kernels.arrays import Integer
from kraftproof.checkers.engines.register.search.cas_paths import (
    COUNT,
    CURRENT,
    EARLIER,
    LACKING,
    NOTHING,
    STAMP,
    TRIED,
    Space,
    copy_out,
    explore,
    find_leads,
    leave_end,
)
from kraftproof.checkers.engines.register.search.configurations import (
    SCOPE,
    SCOPE_BITS,
    SCOPE_MASK,
    VALUE,
    Key,
    Rows,
    Window,
    answer_reads,
    copy_row,
    first_end,
    is_done,
    mark_done,
    pool_left,
    pool_take,
    width,
)
from kraftproof.checkers.engines.register.search.layout import (
    CALL,
    KIND,
    LOST_WRITE,
    NEW,
    POSITION,
    RANK,
    SET,
)
from kraftproof.checkers.engines.register.search.open_blocks import remove_end
from kraftproof.checkers.engines.register.search.window import advance
from kraftproof.checkers.kernels import bare_kernel


@bare_kernel
def successors(key: Key, here: Window, there: Window, rows: Rows, i: Integer, space: Space) -> None:
    """Works out what a row may become by the next position; `space.at` says how it went."""
    position = here.at[0]
    call, rank = key.returning[position, CALL], key.returning[position, RANK]
    space.at[COUNT], space.at[LACKING], space.at[TRIED] = 0, NOTHING, 0
    if is_done(rows, i, rank):
        copy_out(key, rows, i, space)
        advance(key, here, there, space.rows, 0)
    elif key.calls[call, KIND] == WRITE:
        _write_returns(key, here, there, rows, i, space)
    else:
        find_leads(key, here, space)
        _go_on(key, here, there, rows, i, space)
        scope = rows[i, SCOPE]
        if rank < scope:
            _start_blocks(key, here, there, rows, i, space, scope, EARLIER)
        _start_blocks(key, here, there, rows, i, space, here.at[1], CURRENT)


@bare_kernel
def _write_returns(
    key: Key, here: Window, there: Window, rows: Rows, i: Integer, space: Space
) -> None:
    """A write that was not placed returns: it stays before the current block, or starts one."""
    position = here.at[0]
    new, rank = key.calls[key.returning[position, CALL], NEW], key.returning[position, RANK]
    value, scope = rows[i, VALUE], rows[i, SCOPE]
    is_free = rank < scope
    if is_free and value != new and value >= 0 and key.wanted[value] > position:
        place = copy_out(key, rows, i, space)
        mark_done(space.rows, place, rank)
        answer_reads(key, here, space.rows, place, new, scope)
        leave_end(key, here, space.rows, place, new, scope, space)
        advance(key, here, there, space.rows, place)
        if key.wanted[new] <= position:
            return
    place = copy_out(key, rows, i, space)
    _begin_block(key, here, space.rows, place, rank, new, space)
    space.rows[place, VALUE] = new
    advance(key, here, there, space.rows, place)


@bare_kernel
def _begin_block(
    key: Key, here: Window, rows: Rows, i: Integer, rank: Integer, new: Integer, space: Space
) -> None:
    """Ends the current block and begins another with the write at a rank; -1 for none."""
    everything = here.at[1]
    if rank >= 0:
        mark_done(rows, i, rank)
    leave_end(key, here, rows, i, rows[i, VALUE], everything, space)
    rows[i, SCOPE] = everything
    answer_reads(key, here, rows, i, new, everything)


@bare_kernel
def _go_on(key: Key, here: Window, there: Window, rows: Rows, i: Integer, space: Space) -> None:
    """Lets the current block, or a loose end, go on to what returns."""
    stamp, rank = space.at[STAMP], key.returning[here.at[0], RANK]
    value = rows[i, VALUE]
    if value >= 0 and space.leads[value] == stamp:
        copy_row(key, rows, i, space.paths, 0)
        explore(key, here, there, space, value, here.at[1], CURRENT)
    for column in range(first_end(key), width(key)):
        end = rows[i, column]
        if end == 0:
            return
        value, scope = (end >> SCOPE_BITS) - 1, end & SCOPE_MASK
        is_again = column > first_end(key) and rows[i, column - 1] == end
        if rank < scope and space.leads[value] == stamp and not is_again:
            copy_row(key, rows, i, space.paths, 0)
            remove_end(key, space.paths, 0, column)
            explore(key, here, there, space, value, scope, EARLIER)


@bare_kernel
def _start_blocks(
    key: Key,
    here: Window,
    there: Window,
    rows: Rows,
    i: Integer,
    space: Space,
    scope: Integer,
    way: Integer,
) -> None:
    """Lets each write in scope start a block that leads to what returns."""
    stamp = space.at[STAMP]
    for rank in range(scope):
        call = here.opened[rank]
        kind = key.calls[call, KIND]
        if kind not in (WRITE, LOST_WRITE):
            continue
        new = key.calls[call, NEW]
        if space.leads[new] != stamp or is_done(rows, i, rank):
            continue
        if _is_best_write(key, here, rows, i, rank, scope):
            copy_row(key, rows, i, space.paths, 0)
            _start(key, here, there, space, rank, new, scope, way)
    for field in range(key.pool_writes):
        new = key.pool[field, SET]
        if space.leads[new] != stamp or pool_left(key, rows, i, field) == 0:
            continue
        if not _has_write(key, here, rows, i, new, scope):
            copy_row(key, rows, i, space.paths, 0)
            pool_take(key, space.paths, 0, field)
            _start(key, here, there, space, -1, new, scope, way)


@bare_kernel
def _start(
    key: Key,
    here: Window,
    there: Window,
    space: Space,
    rank: Integer,
    new: Integer,
    scope: Integer,
    way: Integer,
) -> None:
    if way == CURRENT:
        _begin_block(key, here, space.paths, 0, rank, new, space)
    else:
        if rank >= 0:
            mark_done(space.paths, 0, rank)
        answer_reads(key, here, space.paths, 0, new, scope)
    explore(key, here, there, space, new, scope, way)


@bare_kernel
def _is_best_write(
    key: Key, here: Window, rows: Rows, i: Integer, rank: Integer, scope: Integer
) -> bool:
    """Says whether no other write in scope, of the same value and not placed, goes first."""
    call = here.opened[rank]
    for other in range(scope):
        rival = here.opened[other]
        if (
            other == rank
            or key.calls[rival, NEW] != key.calls[call, NEW]
            or is_done(rows, i, other)
        ):
            continue
        if (
            key.calls[rival, KIND] == WRITE
            and key.calls[rival, POSITION] < key.calls[call, POSITION]
        ):
            return False
        both_lost = key.calls[rival, KIND] == LOST_WRITE and key.calls[call, KIND] == LOST_WRITE
        if both_lost and other > rank:
            return False
    return True


@bare_kernel
def _has_write(
    key: Key, here: Window, rows: Rows, i: Integer, new: Integer, scope: Integer
) -> bool:
    for rank in range(scope):
        call = here.opened[rank]
        is_write = key.calls[call, KIND] == WRITE or key.calls[call, KIND] == LOST_WRITE
        if is_write and key.calls[call, NEW] == new and not is_done(rows, i, rank):
            return True
    return False
