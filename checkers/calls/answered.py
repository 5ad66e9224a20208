"""Compares the answer of a transaction with the actions that were asked.

An answer repeats the asked actions, with the values that reads found. A record in which the two
differ contradicts itself: neither of them says what was done.
"""

from typing import Final

from kraftproof.checkers.calls.values import canonical
from kraftproof.checkers.text import as_json

_KINDS: Final = {"r": "read", "w": "write"}
"""The long name of each action that has a short one."""


def require_asked(asked: object, answered: object) -> None:
    """Raise ValueError if an answer has other actions than the transaction asked for.

    A record without the asked actions is not compared: the answer alone tells what was done.
    """
    if not isinstance(asked, list) or not isinstance(answered, list):
        return
    if len(asked) != len(answered) or not all(map(_is_answer, asked, answered)):
        raise ValueError(
            f"field value: txn answers other actions than it was asked for: {as_json(answered)}, "
            f"not {as_json(asked)}"
        )


def _is_answer(asked: object, answered: object) -> bool:
    """Return whether an action answers an asked one; the values of reads may differ."""
    if not isinstance(asked, list) or not isinstance(answered, list):
        return False
    if len(asked) != 3 or len(answered) != 3:
        return False
    kind, place, value = asked
    if _kind(kind) != _kind(answered[0]) or canonical(place) != canonical(answered[1]):
        return False
    return _kind(kind) == "read" or canonical(value) == canonical(answered[2])


def _kind(name: object) -> str:
    return _KINDS.get(str(name), str(name))
