"""Strings with repeated pieces, laid out for the beam search.

The values are the prefixes of answers that pieces can make, in alphabetical order, so that the
extensions of a value follow it. An answer that pieces can't make is NEVER_THERE.
"""

from collections.abc import Iterator

import numpy as np

from kraftproof.checkers.calls.strings import APPEND, GET, PUT, StringCalls, common_length
from kraftproof.checkers.engines.repeated.layout import NEVER_THERE, NONE, NOTHING, Facts, Values


def facts_of(calls: StringCalls, start: int, end: int) -> Facts:
    """Return what the calls of a key found and left."""
    texts, action = calls.texts[start:end], calls.action[start:end]
    actions = action.tolist()
    observed = [
        sorted({text for text, one in zip(texts, actions, strict=True) if one == which})
        for which in (GET, PUT, APPEND)
    ]
    tree = _Tree(frozenset(["", *observed[1]]), {text: n for n, text in enumerate(observed[2])})
    for text in observed[0]:
        tree.grow(text)
    find = [tree.numbers.get(text, NEVER_THERE) for text in texts]
    leave = [tree.numbers.get(text, NOTHING) for text in texts]
    piece = [tree.pieces.get(text, NONE) for text in texts]
    return Facts(
        invoke=calls.invoke[start:end],
        complete=calls.complete[start:end],
        find=np.where(action == GET, find, NONE).astype(np.int32).reshape(-1, 1),
        leave=np.where(action == PUT, leave, NONE).astype(np.int32).reshape(-1, 1),
        piece=np.where(action == APPEND, piece, NONE).astype(np.int32),
        values=tree.values(),
    )


class _Tree:
    """The beginnings of answers that can be made of pieces; answers are added in their order.

    Attributes:
        numbers: the number of each answer, and of what may be put, if it begins an answer.
        pieces: the number of each piece.
    """

    def __init__(self, begins: frozenset[str], pieces: dict[str, int]) -> None:
        self.numbers: dict[str, int] = {"": 0}
        self.pieces = pieces
        self._begins = begins
        self._lengths = sorted({len(piece) for piece in pieces})
        self._edges: list[tuple[int, int, int]] = []
        self._ends = [0]
        self._path: list[tuple[int, int]] = [(0, 0)]
        self._last = ""

    def grow(self, text: str) -> None:
        """Add an answer; those before it are no later in the alphabet."""
        known = common_length(self._last, text)
        while self._path[-1][0] > known:
            self._close()
        at = dict(self._path)
        for end in range(known + 1, len(text) + 1):
            made = list(self._made(text, end, at))
            begins = text[:end] in self._begins
            if made or begins:
                at[end] = number = len(self._ends)
                self._ends.append(number)
                self._path.append((end, number))
                self._edges += [(one, piece, number) for one, piece in made]
                if begins:
                    self.numbers[text[:end]] = number
        if len(text) in at:
            self.numbers[text] = at[len(text)]
        self._last = text

    def _made(self, text: str, end: int, at: dict[int, int]) -> Iterator[tuple[int, int]]:
        """Yield from which value, by which piece, a beginning is made."""
        for length in self._lengths:
            if length > end:
                return
            if end - length in at:
                piece = self.pieces.get(text[end - length : end])
                if piece is not None:
                    yield at[end - length], piece

    def _close(self) -> None:
        _, number = self._path.pop()
        self._ends[number] = len(self._ends) - 1

    def values(self) -> Values:
        """Return the values; nothing is added after that."""
        while self._path:
            self._close()
        edges = np.asarray(sorted(self._edges), dtype=np.int64).reshape(-1, 3)
        return Values(
            initial=np.zeros(1, dtype=np.int64),
            last=np.asarray(self._ends, dtype=np.int64),
            edge_starts=np.searchsorted(edges[:, 0], np.arange(len(self._ends) + 1)),
            edge_piece=edges[:, 1].copy(),
            edge_to=edges[:, 2].copy(),
        )
