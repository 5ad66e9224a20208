"""The successors of a configuration of a register when the next call returns.

The search is just-in-time (Lowe, "Testing for linearizability", 2017): a call is placed only when
some call has to return. Unlike Lowe's search, and Wing and Gong's, a configuration fixes little. A
legal order is a row of *blocks* (`checkers.engines.register.search.configurations`); a
configuration fixes only the *current* block, the last block of which a call has returned, and
leaves the order of all other blocks open.

A block before the last one may lie anywhere its calls are open, outside of other blocks. Hence a
plain write that is unused and was open when the current block began is *free*: a block that starts
with the write can be put just before the current block. A write that returns either starts the
current block now, or had its place before it. In the second case the end of its block, and likewise
the end of the old block when a new one begins, stays *open*: compare-and-sets in scope may continue
it when a compare-and-set, or a read that needs its value, returns. So a return has four ways:

1. the current block continues, by compare-and-sets, to the returning call;
2. an open block continues to it, by calls that were open when the block was passed;
3. a free write starts a block before the current one, which continues to it;
4. an unplaced write starts a new current block, which continues to it.

Sound: each way places calls in a legal order at an instant at which all of them are open. Complete:
take any legal order and cut it into blocks. When an unplaced call returns, place its block up to
the call. If the block is the current one, this is way 1; if its beginning is placed, way 2; if it
precedes the current block, all its calls were invoked before the current block began, so way 3;
otherwise way 4, and all placed calls precede it. A read is answered as soon as a block in scope
passes its value: it changes nothing.

Two more rules lose nothing, since the calls can change places in any legal order:

- Of free or unplaced writes of equal value, the first to return starts the block, an indeterminate
  write only without any other. If another block starts with it, the two writes swap.
- Of equal compare-and-sets in scope, the one with the shorter interval goes first. Of equal
  indeterminate ones, the last invoked goes first.

These rules only save work: without them there are more successors, all legal by the argument for
soundness, which is independent of the choice; so no verdict changes.
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
    Workspace,
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
    INDETERMINATE_WRITE,
    KIND,
    NEW,
    POSITION,
    RANK,
    SET,
)
from kraftproof.checkers.engines.register.search.open_blocks import remove_end
from kraftproof.checkers.engines.register.search.window import advance
from kraftproof.checkers.kernels import bare_kernel


@bare_kernel
def successors(
    key: Key, here: Window, there: Window, rows: Rows, i: Integer, workspace: Workspace
) -> None:
    """Works out what a row may become by the next position; `space.at` says how it went."""
    position = here.at[0]
    call, rank = key.returning[position, CALL], key.returning[position, RANK]
    workspace.at[COUNT], workspace.at[LACKING], workspace.at[TRIED] = 0, NOTHING, 0
    if is_done(rows, i, rank):
        copy_out(key, rows, i, workspace)
        advance(key, here, there, workspace.rows, 0)
    elif key.calls[call, KIND] == WRITE:
        _write_returns(key, here, there, rows, i, workspace)
    else:
        find_leads(key, here, workspace)
        _go_on(key, here, there, rows, i, workspace)
        scope = rows[i, SCOPE]
        if rank < scope:
            _start_blocks(key, here, there, rows, i, workspace, scope, EARLIER)
        _start_blocks(key, here, there, rows, i, workspace, here.at[1], CURRENT)


@bare_kernel
def _write_returns(
    key: Key, here: Window, there: Window, rows: Rows, i: Integer, workspace: Workspace
) -> None:
    """Let an unplaced write return: it stays before the current block, or starts one."""
    position = here.at[0]
    new, rank = key.calls[key.returning[position, CALL], NEW], key.returning[position, RANK]
    value, scope = rows[i, VALUE], rows[i, SCOPE]
    is_free = rank < scope
    if is_free and value != new and value >= 0 and key.wanted[value] > position:
        place = copy_out(key, rows, i, workspace)
        mark_done(workspace.rows, place, rank)
        answer_reads(key, here, workspace.rows, place, new, scope)
        leave_end(key, here, workspace.rows, place, new, scope, workspace)
        advance(key, here, there, workspace.rows, place)
        if key.wanted[new] <= position:
            return
    place = copy_out(key, rows, i, workspace)
    _begin_block(key, here, workspace.rows, place, rank, new, workspace)
    workspace.rows[place, VALUE] = new
    advance(key, here, there, workspace.rows, place)


@bare_kernel
def _begin_block(
    key: Key,
    here: Window,
    rows: Rows,
    i: Integer,
    rank: Integer,
    new: Integer,
    workspace: Workspace,
) -> None:
    """Ends the current block and begins another with the write at a rank; -1 for none."""
    everything = here.at[1]
    if rank >= 0:
        mark_done(rows, i, rank)
    leave_end(key, here, rows, i, rows[i, VALUE], everything, workspace)
    rows[i, SCOPE] = everything
    answer_reads(key, here, rows, i, new, everything)


@bare_kernel
def _go_on(
    key: Key, here: Window, there: Window, rows: Rows, i: Integer, workspace: Workspace
) -> None:
    """Let the current block, or a loose end, go on to what returns."""
    stamp, rank = workspace.at[STAMP], key.returning[here.at[0], RANK]
    value = rows[i, VALUE]
    if value >= 0 and workspace.leads[value] == stamp:
        copy_row(key, rows, i, workspace.paths, 0)
        explore(key, here, there, workspace, value, here.at[1], CURRENT)
    for column in range(first_end(key), width(key)):
        end = rows[i, column]
        if end == 0:
            return
        value, scope = (end >> SCOPE_BITS) - 1, end & SCOPE_MASK
        is_again = column > first_end(key) and rows[i, column - 1] == end
        if rank < scope and workspace.leads[value] == stamp and not is_again:
            copy_row(key, rows, i, workspace.paths, 0)
            remove_end(key, workspace.paths, 0, column)
            explore(key, here, there, workspace, value, scope, EARLIER)


@bare_kernel
def _start_blocks(
    key: Key,
    here: Window,
    there: Window,
    rows: Rows,
    i: Integer,
    workspace: Workspace,
    scope: Integer,
    way: Integer,
) -> None:
    """Let each write in scope start a block that leads to what returns."""
    stamp = workspace.at[STAMP]
    for rank in range(scope):
        call = here.opened[rank]
        kind = key.calls[call, KIND]
        if kind not in (WRITE, INDETERMINATE_WRITE):
            continue
        new = key.calls[call, NEW]
        if workspace.leads[new] != stamp or is_done(rows, i, rank):
            continue
        if _is_best_write(key, here, rows, i, rank, scope):
            copy_row(key, rows, i, workspace.paths, 0)
            _start(key, here, there, workspace, rank, new, scope, way)
    for field in range(key.pool_writes):
        new = key.pool[field, SET]
        if workspace.leads[new] != stamp or pool_left(key, rows, i, field) == 0:
            continue
        if not _has_write(key, here, rows, i, new, scope):
            copy_row(key, rows, i, workspace.paths, 0)
            pool_take(key, workspace.paths, 0, field)
            _start(key, here, there, workspace, -1, new, scope, way)


@bare_kernel
def _start(
    key: Key,
    here: Window,
    there: Window,
    workspace: Workspace,
    rank: Integer,
    new: Integer,
    scope: Integer,
    way: Integer,
) -> None:
    if way == CURRENT:
        _begin_block(key, here, workspace.paths, 0, rank, new, workspace)
    else:
        if rank >= 0:
            mark_done(workspace.paths, 0, rank)
        answer_reads(key, here, workspace.paths, 0, new, scope)
    explore(key, here, there, workspace, new, scope, way)


@bare_kernel
def _is_best_write(
    key: Key, here: Window, rows: Rows, i: Integer, rank: Integer, scope: Integer
) -> bool:
    """Return whether no other write in scope, of the same value and not placed, goes first."""
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
        both_indeterminate = (
            key.calls[rival, KIND] == INDETERMINATE_WRITE
            and key.calls[call, KIND] == INDETERMINATE_WRITE
        )
        if both_indeterminate and other > rank:
            return False
    return True


@bare_kernel
def _has_write(
    key: Key, here: Window, rows: Rows, i: Integer, new: Integer, scope: Integer
) -> bool:
    for rank in range(scope):
        call = here.opened[rank]
        is_write = key.calls[call, KIND] == WRITE or key.calls[call, KIND] == INDETERMINATE_WRITE
        if is_write and key.calls[call, NEW] == new and not is_done(rows, i, rank):
            return True
    return False
