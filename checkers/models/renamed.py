"""Refuses a model that defines a hint by an old name: no engine would ask for that hint."""

from typing import Final

from kraftproof.checkers.text import shortened
from kraftproof.checkers.verdict import CheckerInputError

RENAMED: Final = {"turns": "update_order", "helping": "candidate_causes"}
"""The hints by their old names, and their names now."""


def require_new_names(reference: str, model: object) -> None:
    """Raise CheckerInputError if a class of a model has the old name of a hint, without the new.

    Args:
        reference: the model's name for the user.
        model: the model.
    """
    for old, new in RENAMED.items():
        for kind in type(model).__mro__:
            if new in vars(kind):
                break
            if callable(vars(kind).get(old)):
                raise CheckerInputError(
                    f"model {shortened(reference)}: {kind.__name__}.{old} is never called: the name"
                    f" is now {new}"
                )
