"""Calls on topics that are created, deleted and looked up; one topic name a key."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from kraftproof.checkers.calls import Calls
from kraftproof.checkers.calls.values import name_numbers, said_rows
from kraftproof.checkers.history.columns import Columns

CREATE: Final = 0
FIND: Final = 1
MISS: Final = 2
DELETE: Final = 3
DELETE_ID: Final = 4
MISS_ID: Final = 5
MAY_DELETE: Final = 6
MAY_DELETE_ID: Final = 7

ACTIONS: Final = {
    "CREATE": CREATE,
    "FIND": FIND,
    "MISS": MISS,
    "DELETE": DELETE,
    "DELETE_ID": DELETE_ID,
    "MISS_ID": MISS_ID,
    "MAY_DELETE": MAY_DELETE,
    "MAY_DELETE_ID": MAY_DELETE_ID,
}
"""The kind of a call, in the topic model's names."""

Said = tuple[str, str | None]
"""(the call's statement on the topic, the topic's id if relevant and known)"""


@dataclass(frozen=True, slots=True, kw_only=True)
class TopicCalls(Calls):
    """Creates, deletes, and what was found or missed.

    Attributes:
        action: int8[n], CREATE to MAY_DELETE_ID. A create without an answer is a CREATE, too.
        topic: int64[n], the topic's id as a number from 0; NO_VALUE for an irrelevant id, and for a
            create with an unknown id.
    """

    action: NDArray[np.int8]
    topic: NDArray[np.int64]


def topic_calls(columns: Columns, said: Sequence[Said | None]) -> TopicCalls:
    """Return the calls on all topic names.

    Args:
        columns: the operations.
        said: the statement of each operation, None without a statement.
    """
    rows, kept = said_rows(columns, said)
    return TopicCalls(
        starts=np.searchsorted(rows, columns.starts).astype(np.int64),
        rows=rows,
        invoke=columns.invoke[rows],
        complete=columns.complete[rows],
        action=np.asarray([ACTIONS[action] for action, _ in kept], dtype=np.int8),
        topic=name_numbers(topic for _, topic in kept),
    )
