"""The continuations of a block of a register up to the returning call, along compare-and-sets.

The position of the block is given: the current block, or an earlier block that only calls below a
scope can join. See `checkers.engines.register.search.steps` for the choice and its completeness.
"""

from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from kraftproof.checkers.calls.register import CAS, READ
from kraftproof.checkers.engines.kernels.arrays import Integer
from kraftproof.checkers.engines.register.search.configurations import (
    VALUE,
    Key,
    Rows,
    Window,
    answer_reads,
    copy_row,
    first_cas,
    is_done,
    mark_done,
    pool_left,
    pool_take,
)
from kraftproof.checkers.engines.register.search.dominance import covers
from kraftproof.checkers.engines.register.search.layout import (
    CALL,
    EXPECTED,
    INDETERMINATE_CAS,
    INDETERMINATE_WRITE,
    KIND,
    NEW,
    OLD,
    POSITION,
    RANK,
    SET,
    Numbers,
)
from kraftproof.checkers.engines.register.search.open_blocks import add_end
from kraftproof.checkers.engines.register.search.window import advance
from kraftproof.checkers.kernels import bare_kernel

COUNT: Final = 0
LACKING: Final = 1
STAMP: Final = 2
STANDS_FOR: Final = 3
TRIED: Final = 4

EARLIER: Final = 0
CURRENT: Final = 1

NOTHING: Final = 0
CAPACITY: Final = 1
ENDS: Final = 2


class Workspace(NamedTuple):
    """The workspace for the successors of a configuration.

    Attributes:
        rows: int64[., .], the successors.
        paths: int64[., .], the beginnings of blocks that may lead to the returning call.
        reached: int64[.], the value that each path has reached.
        leads: int32[values], STAMP at a value from which updates may lead to the returning call.
        at: int64[5], the COUNT of successors; LACKING: NOTHING, ROOM or ENDS, if a row had too few
            columns for its open blocks; STAMP, and the position that it STANDS_FOR; TRIED: the
            number of paths compared.
    """

    rows: Rows
    paths: Rows
    reached: NDArray[np.int64]
    leads: Numbers
    at: NDArray[np.int64]


def new_workspace(columns: int, values: int, capacity: int) -> Workspace:
    """Return a space.

    Args:
        columns: of its rows.
        values: how many a key has, at most.
        capacity: for how many successors, and paths.
    """
    return Workspace(
        rows=np.zeros((capacity, columns), np.int64),
        paths=np.zeros((capacity, columns), np.int64),
        reached=np.zeros(capacity, np.int64),
        leads=np.zeros(values, np.int32),
        at=np.zeros(5, np.int64),
    )


@bare_kernel
def copy_out(key: Key, rows: Rows, i: Integer, workspace: Workspace) -> Integer:
    """Copy a row to the successors, and returns its place there."""
    place: Integer = workspace.at[COUNT]
    if place == len(workspace.rows) - 1:  # the last row is never one of them
        workspace.at[LACKING] = CAPACITY
        copy_row(key, rows, i, workspace.rows, place)
        return place
    copy_row(key, rows, i, workspace.rows, place)
    workspace.at[COUNT] += 1
    return place


@bare_kernel
def leave_end(
    key: Key,
    here: Window,
    rows: Rows,
    i: Integer,
    value: Integer,
    scope: Integer,
    workspace: Workspace,
) -> None:
    """Leave the end of a block loose."""
    if not add_end(key, here, rows, i, value, scope):
        workspace.at[LACKING] = ENDS


@bare_kernel
def find_leads(key: Key, here: Window, workspace: Workspace) -> None:
    """Mark the values from which compare-and-sets may lead to what the returning call needs."""
    if workspace.at[STANDS_FOR] == here.at[0]:
        return
    workspace.at[STANDS_FOR] = here.at[0]
    workspace.at[STAMP] += 1
    stamp, leads = workspace.at[STAMP], workspace.leads
    leads[key.calls[key.returning[here.at[0], CALL], EXPECTED]] = stamp
    is_changed = True
    while is_changed:
        is_changed = False
        for rank in range(here.at[1]):
            call = here.opened[rank]
            if key.calls[call, KIND] == CAS or key.calls[call, KIND] == INDETERMINATE_CAS:
                is_changed |= _lead(leads, stamp, key.calls[call, EXPECTED], key.calls[call, NEW])
        for field in range(key.pool_writes, len(key.pool)):
            is_changed |= _lead(leads, stamp, key.pool[field, OLD], key.pool[field, SET])


@bare_kernel
def _lead(leads: Numbers, stamp: Integer, old: Integer, new: Integer) -> bool:
    if leads[new] != stamp or leads[old] == stamp:
        return False
    leads[old] = stamp
    return True


@bare_kernel
def explore(
    key: Key,
    here: Window,
    there: Window,
    workspace: Workspace,
    value: Integer,
    scope: Integer,
    way: Integer,
) -> None:
    """Follows compare-and-sets in scope from the first path's value to what returns."""
    returning = key.returning[here.at[0], CALL]
    workspace.reached[0] = value
    head, tail = np.int64(0), np.int64(1)
    while head < tail and workspace.at[LACKING] == NOTHING:
        arrived = workspace.reached[head] == key.calls[returning, EXPECTED]
        if arrived:
            _arrive(key, here, there, workspace, head, scope, way)
        if not arrived or key.calls[returning, KIND] == CAS:
            tail = np.int64(_follow(key, here, workspace, head, tail, scope))
        head += 1


@bare_kernel
def _arrive(
    key: Key,
    here: Window,
    there: Window,
    workspace: Workspace,
    path: Integer,
    scope: Integer,
    way: Integer,
) -> None:
    """Make a path that has reached what the returning call needs a successor."""
    position = here.at[0]
    call, rank, value = (
        key.returning[position, CALL],
        key.returning[position, RANK],
        workspace.reached[path],
    )
    place = copy_out(key, workspace.paths, path, workspace)
    mark_done(workspace.rows, place, rank)
    if key.calls[call, KIND] != READ:
        value = key.calls[call, NEW]
        answer_reads(key, here, workspace.rows, place, value, scope)
    if way == CURRENT:
        workspace.rows[place, VALUE] = value
    else:
        leave_end(key, here, workspace.rows, place, value, scope, workspace)
    advance(key, here, there, workspace.rows, place)


@bare_kernel
def _follow(
    key: Key, here: Window, workspace: Workspace, head: Integer, tail: Integer, scope: Integer
) -> Integer:
    """Add the paths that go one compare-and-set further, and returns the count then."""
    stamp, value = workspace.at[STAMP], workspace.reached[head]
    returning = key.returning[here.at[0], CALL]
    for rank in range(scope):
        call = here.opened[rank]
        kind = key.calls[call, KIND]
        if (
            kind not in (CAS, INDETERMINATE_CAS)
            or key.calls[call, EXPECTED] != value
            or call == returning
        ):
            continue
        if workspace.leads[key.calls[call, NEW]] != stamp or is_done(workspace.paths, head, rank):
            continue
        if _is_best_cas(key, here, workspace.paths, head, rank, scope):
            if tail == len(workspace.paths):
                workspace.at[LACKING] = CAPACITY
                return tail
            copy_row(key, workspace.paths, head, workspace.paths, tail)
            mark_done(workspace.paths, tail, rank)
            tail = _keep_path(key, here, workspace, tail, key.calls[call, NEW], scope)
    field = first_cas(key, value)
    while field < len(key.pool) and key.pool[field, OLD] == value:
        new = key.pool[field, SET]
        is_there = (
            workspace.leads[new] == stamp and pool_left(key, workspace.paths, head, field) > 0
        )
        if is_there and not _has_cas(key, here, workspace.paths, head, value, new, scope):
            if tail == len(workspace.paths):
                workspace.at[LACKING] = CAPACITY
                return tail
            copy_row(key, workspace.paths, head, workspace.paths, tail)
            pool_take(key, workspace.paths, tail, field)
            tail = _keep_path(key, here, workspace, tail, new, scope)
        field += 1
    return tail


@bare_kernel
def _keep_path(
    key: Key, here: Window, workspace: Workspace, path: Integer, value: Integer, scope: Integer
) -> Integer:
    """Keep the last path unless an earlier one covers it, and returns the count."""
    answer_reads(key, here, workspace.paths, path, value, scope)
    workspace.reached[path] = value
    workspace.at[TRIED] += path >> 3
    for other in range(path):
        same = workspace.reached[other] == value
        if same and covers(key, here, workspace.paths, other, workspace.paths, path):
            return path
    return path + 1


@bare_kernel
def _is_best_cas(
    key: Key, here: Window, rows: Rows, i: Integer, rank: Integer, scope: Integer
) -> bool:
    """Return whether no equal compare-and-set in scope was open only while this one was."""
    call = here.opened[rank]
    for other in range(rank + 1, scope):
        rival = here.opened[other]
        is_equal = (
            key.calls[rival, EXPECTED] == key.calls[call, EXPECTED]
            and key.calls[rival, NEW] == key.calls[call, NEW]
        )
        if not is_equal or key.calls[rival, KIND] < CAS or is_done(rows, i, other):
            continue
        if (
            key.calls[rival, KIND] == INDETERMINATE_WRITE
            or rival == key.returning[here.at[0], CALL]
        ):
            continue
        if key.calls[rival, POSITION] <= key.calls[call, POSITION]:
            return False
    return True


@bare_kernel
def _has_cas(
    key: Key, here: Window, rows: Rows, i: Integer, old: Integer, new: Integer, scope: Integer
) -> bool:
    for rank in range(scope):
        call = here.opened[rank]
        is_equal = key.calls[call, EXPECTED] == old and key.calls[call, NEW] == new
        is_returning = call == key.returning[here.at[0], CALL]
        if is_equal and not is_returning and not is_done(rows, i, rank):
            return True
    return False
