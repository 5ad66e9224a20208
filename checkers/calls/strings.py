"""Calls on strings that are put, appended to and read whole, one string a key.

Every put and append writes a *piece*. Where each piece is written once and none is the beginning of
another, an answer can be cut into pieces in one way at most, and so says which put it goes back to
and which appends followed, in order. The answers of a key make a tree: a node is a sequence of
pieces, its parent the same without the last. Other keys are told as ambiguous, and so is a put of
the empty string, which may as well be the beginning.
"""

from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Final

import msgspec
import numpy as np
from numpy.typing import NDArray

from kraftproof.checkers.calls import Calls
from kraftproof.checkers.calls.values import of_function, require_functions
from kraftproof.checkers.history.columns import FAIL, OK, Columns
from kraftproof.checkers.text import shortened

GET: Final = 0
PUT: Final = 1
APPEND: Final = 2
NOTHING: Final = 3
"""An append of the empty string."""

NO_NODE: Final = -1
"""The node of an answer that is no sequence of pieces, and of calls that are no gets."""


@dataclass(frozen=True, slots=True, kw_only=True)
class StringCalls(Calls):
    """Gets that were answered, puts and appends.

    Attributes:
        action: int8[n], GET, PUT, APPEND or NOTHING.
        node: int64[n], of a get the node that it answered, else NO_NODE.
        node_starts: int64[m + 1]; the nodes of key k, numbered from 0 within it, are
            node_starts[k] to node_starts[k + 1]; the first is the empty string.
        parent: int64[t], each node's parent, a smaller number; NO_NODE of the empty string.
        piece: int64[t], the call, numbered from 0 within the key, that wrote the node's last piece.
        is_ambiguous: bool[m], whether the answers of a key can't be cut into pieces for sure.
        texts: n strings: what a call answers, puts or appends.
    """

    action: NDArray[np.int8]
    node: NDArray[np.int64]
    node_starts: NDArray[np.int64]
    parent: NDArray[np.int64]
    piece: NDArray[np.int64]
    is_ambiguous: NDArray[np.bool_]
    texts: Sequence[str]


def string_calls(columns: Columns, model: str, functions: frozenset[str]) -> StringCalls:
    """Return the calls of operations get, put and append.

    Raises:
        ValueError: an operation of another function, or one whose value is no string.
    """
    require_functions(columns, model, functions)
    is_get = of_function(columns, "get")
    texts = _texts(columns, is_get)
    actions = np.where(is_get, GET, np.where(of_function(columns, "put"), PUT, APPEND))
    actions[(actions == APPEND) & np.asarray([not text for text in texts])] = NOTHING
    rows = np.flatnonzero(np.where(is_get, columns.status == OK, columns.status != FAIL))
    starts = np.searchsorted(rows, columns.starts).astype(np.int64)
    kept, action = [texts[row] for row in rows.tolist()], actions[rows]
    forests = [
        _forest(kept[start:end], action[start:end].tolist())
        for start, end in pairwise(starts.tolist())
    ]
    sizes = [len(forest.parent) for forest in forests]
    return StringCalls(
        starts=starts,
        rows=rows,
        invoke=columns.invoke[rows],
        complete=columns.complete[rows],
        action=action.astype(np.int8),
        node=_joined([forest.answers for forest in forests]),
        node_starts=np.concatenate(([0], np.cumsum(np.asarray(sizes, dtype=np.int64)))),
        parent=_joined([forest.parent for forest in forests]),
        piece=_joined([forest.piece for forest in forests]),
        is_ambiguous=np.asarray([forest.is_ambiguous for forest in forests], dtype=np.bool_),
        texts=kept,
    )


def _joined(parts: Sequence[Sequence[int]]) -> NDArray[np.int64]:
    return np.asarray([number for part in parts for number in part], dtype=np.int64)


def _texts(columns: Columns, is_get: NDArray[np.bool_]) -> list[str]:
    """Return what each row answers, if it is an answered get, or else asks with."""
    decode = msgspec.json.Decoder().decode
    asked, answered = (columns.column(name).to_pylist() for name in ("input", "output"))
    keeps = (is_get & (columns.status == OK)).tolist()
    gets, functions = is_get.tolist(), columns.f.tolist()
    found = []
    for row, (one, other) in enumerate(zip(asked, answered, strict=True)):
        value = decode(other) if keeps[row] else None if gets[row] else decode(one)
        found.append(string_of(columns.functions[functions[row]], value))
    return found


def string_of(f: str, value: object) -> str:
    """Return the string of an operation; the empty string for a get that found nothing.

    Raises: ValueError: the value is no string.
    """
    if isinstance(value, str):
        return value
    if f == "get" and value is None:
        return ""
    verb = "answers" if f == "get" else "takes"
    raise ValueError(f"field value: {f} {verb} a string, not {shortened(repr(value))}")


@dataclass(slots=True, kw_only=True)
class _Forest:
    """The nodes of one key; `answers` has the node of each call.

    The latest answer is kept with the ends of its pieces: most answers begin as it does.
    """

    is_ambiguous: bool = False
    answers: list[int] = field(default_factory=list)
    parent: list[int] = field(default_factory=lambda: [NO_NODE])
    piece: list[int] = field(default_factory=lambda: [NO_NODE])
    child: dict[tuple[int, int], int] = field(default_factory=dict)
    text: str = ""
    ends: list[int] = field(default_factory=lambda: [0])
    path: list[int] = field(default_factory=lambda: [0])

    def cut(self, text: str, pieces: dict[str, int], lengths: Sequence[int]) -> int:
        """Return the node of an answer, NO_NODE if it is no sequence of pieces."""
        known = bisect_right(self.ends, common_length(self.text, text))
        del self.ends[known:], self.path[known:]
        self.text = text
        while (end := self.ends[-1]) < len(text):
            found = next((n for n in lengths if text[end : end + n] in pieces), 0)
            if not found:
                return NO_NODE
            self.path.append(self._follow(self.path[-1], pieces[text[end : end + found]]))
            self.ends.append(end + found)
        return self.path[-1]

    def _follow(self, node: int, piece: int) -> int:
        found = self.child.setdefault((node, piece), len(self.parent))
        if found == len(self.parent):
            self.parent.append(node)
            self.piece.append(piece)
        return found


def _forest(texts: Sequence[str], actions: Sequence[int]) -> _Forest:
    forest = _Forest()
    written = [place for place, action in enumerate(actions) if action in {PUT, APPEND}]
    pieces = {texts[place]: place for place in written}
    begins = any(longer.startswith(text) for text, longer in pairwise(sorted(pieces)))
    if len(pieces) < len(written) or "" in pieces or begins:
        forest.is_ambiguous = True
        forest.answers = [NO_NODE] * len(texts)
        return forest
    lengths = sorted({len(piece) for piece in pieces})
    forest.answers = [
        forest.cut(text, pieces, lengths) if action == GET else NO_NODE
        for text, action in zip(texts, actions, strict=True)
    ]
    return forest


def common_length(one: str, other: str) -> int:
    """Return the length of the longest common beginning."""
    most = min(len(one), len(other))
    if one[:most] == other[:most]:
        return most
    return bisect_left(range(1, most + 1), x=True, key=lambda n: one[:n] != other[:n])
