"""Calls on broker ids that are registered, kept alive and unregistered; one broker id a key."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from kraftproof.checkers.calls import Calls
from kraftproof.checkers.calls.values import name_numbers, said_rows
from kraftproof.checkers.history.columns import Columns

GRANTED: Final = 0
MAY_BE_GRANTED: Final = 1
DUPLICATE: Final = 2
ALIVE: Final = 3
STALE: Final = 4
ENDED: Final = 5
MAY_BE_ENDED: Final = 6
ABSENT: Final = 7

ACTIONS: Final = {
    "registered": GRANTED,
    "may be registered": MAY_BE_GRANTED,
    "duplicate": DUPLICATE,
    "alive": ALIVE,
    "stale": STALE,
    "unregistered": ENDED,
    "may be unregistered": MAY_BE_ENDED,
    "absent": ABSENT,
}
"""The kind of an answer, or of a possible effect, in the registration model's names."""

NO_EPOCH: Final = -1
"""Less than every epoch that is granted."""

Said = tuple[str, str | None, int | None]
"""(what was answered or may have happened, incarnation, epoch)"""


@dataclass(frozen=True, slots=True, kw_only=True)
class RegistrationCalls(Calls):
    """Registrations, heartbeats and unregistrations.

    Attributes:
        action: int8[n], GRANTED to ABSENT.
        incarnation: int64[n], who asked for a registration, numbered from 0; NO_VALUE elsewhere.
        epoch: int64[n], numbered in the order of epochs, from 1; NO_EPOCH is 0.
    """

    action: NDArray[np.int8]
    incarnation: NDArray[np.int64]
    epoch: NDArray[np.int64]


def registration_calls(columns: Columns, said: Sequence[Said | None]) -> RegistrationCalls:
    """Return the calls of all broker ids.

    Args:
        columns: the operations.
        said: the statement of each operation, None without a statement.
    """
    rows, kept = said_rows(columns, said)
    epochs = sorted({NO_EPOCH, *(epoch for _, _, epoch in kept if epoch is not None)})
    ranks = {epoch: rank for rank, epoch in enumerate(epochs)}
    none = ranks[NO_EPOCH]
    epoch = [0 if epoch is None else ranks[epoch] - none for _, _, epoch in kept]
    return RegistrationCalls(
        starts=np.searchsorted(rows, columns.starts).astype(np.int64),
        rows=rows,
        invoke=columns.invoke[rows],
        complete=columns.complete[rows],
        action=np.asarray([ACTIONS[action] for action, _, _ in kept], dtype=np.int8),
        incarnation=name_numbers(name for _, name, _ in kept),
        epoch=np.asarray(epoch, dtype=np.int64),
    )
