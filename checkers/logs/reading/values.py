"""Values as numbers: equal values of a partition get one number.

A value such as "3.17@k3f9" names the producer session 3 and the 17th send of the session. If all
values name sessions of one run, a value's number holds session and send, so that an order of sends
needs no table. Otherwise the values are numbered in the order of their first occurrence, and tables
have the session and the send of each number.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Final

import numpy as np

from kraftproof.checkers.logs.reading.facts import UNKNOWN, Ints
from kraftproof.checkers.logs.reading.scanning import SEQUENCE_BITS

_SEQUENCE: Final = (1 << SEQUENCE_BITS) - 1
_SESSION: Final = re.compile(r'"(0|[1-9][0-9]{0,8})\.(0|[1-9][0-9]{0,8})@([0-9A-Za-z_-]+)"')
_NONE: Final = np.zeros(0, dtype=np.int64)


@dataclass(frozen=True, slots=True, kw_only=True)
class Values:
    """The numbering of the values of a partition.

    Attributes:
        run: the end of each value's text after @, if all values name sessions of one run.
        texts: the JSON texts by number, if not.
        session: int64[texts], the producer session of each text; UNKNOWN without one.
        sequence: int64[texts], the number of the send in its session.
    """

    run: str | None = None
    texts: Sequence[str] = ()
    session: Ints = field(default_factory=lambda: _NONE)
    sequence: Ints = field(default_factory=lambda: _NONE)

    def text(self, value: int) -> str:
        """Return the JSON text of the value with a number."""
        if self.run is None:
            return self.texts[value]
        return f'"{value >> SEQUENCE_BITS}.{value & _SEQUENCE}@{self.run}"'

    def sessions(self, values: Ints) -> Ints:
        """Return the producer session of each value; UNKNOWN for a value that names none."""
        return self.session[values] if self.run is None else values >> SEQUENCE_BITS

    def sequences(self, values: Ints) -> Ints:
        """Return the number of each value's send in its session."""
        return self.sequence[values] if self.run is None else values & _SEQUENCE


def numbered(texts: Sequence[str]) -> tuple[Ints, Values]:
    """Return the numbers of values, given as JSON texts, and their numbering."""
    matches = [_SESSION.fullmatch(text) for text in texts]
    runs = {None if match is None else match[3] for match in matches}
    if len(runs) == 1 and None not in runs:
        numbers = [
            int(match[1]) << SEQUENCE_BITS | int(match[2]) for match in matches if match is not None
        ]
        return np.asarray(numbers, dtype=np.int64), Values(run=runs.pop())
    by_text: dict[str, int] = {}
    codes = [by_text.setdefault(text, len(by_text)) for text in texts]
    sessions: dict[tuple[str, str], int] = {}
    found = []
    for text in by_text:
        match = _SESSION.fullmatch(text)
        if match is None:
            found.append((UNKNOWN, UNKNOWN))
        else:
            session = sessions.setdefault((match[1], match[3]), len(sessions))
            found.append((session, int(match[2])))
    table = np.asarray(found, dtype=np.int64).reshape(-1, 2)
    return np.asarray(codes, dtype=np.int64), Values(
        texts=tuple(by_text), session=table[:, 0], sequence=table[:, 1]
    )
