"""The entities that a metadata log leaves, by kind, owner and name. Not: what records mean.

The entities before an open metadata transaction are the ones that may be seen (KIP-868).
"""

import copy
from collections.abc import Mapping
from typing import Any

Fields = dict[str, Any]


class EntityStore:
    """The entities after some records, and the pending changes of a metadata transaction."""

    __slots__ = ("_before", "_kinds")

    def __init__(self) -> None:
        self._kinds: dict[str, dict[str, Fields]] = {}
        """After the newest record, also while a transaction is open."""
        self._before: dict[str, dict[str, Fields]] | None = None
        """While a transaction is open: the entities before it."""

    def listed(self) -> dict[tuple[str, str, str], object]:
        """The visible entities, by kind, owner and name."""
        shown = self._kinds if self._before is None else self._before
        return {
            (kind, owner, name): value
            for kind, owners in shown.items()
            for owner, values in owners.items()
            for name, value in values.items()
        }

    def begin(self) -> None:
        """Hold back later changes until the transaction ends; an open transaction continues."""
        if self._before is None:
            self._before = copy.deepcopy(self._kinds)

    def end(self) -> None:
        """Let all of the open transaction be seen."""
        self._before = None

    def abort(self) -> None:
        """Drop all changes since the open transaction began."""
        if self._before is not None:
            self._kinds, self._before = self._before, None

    def owned(self, kind: str, owner: object) -> Fields:
        """Return an owner's entities of a kind for changes; empty if new."""
        return self._kinds.setdefault(kind, {}).setdefault(str(owner), {})

    def found(self, kind: str, owner: object) -> Fields | None:
        """Return an owner's entities of a kind, or None."""
        return self._kinds.get(kind, {}).get(str(owner))

    def owners(self, kind: str) -> Mapping[str, Fields]:
        """Return all visible owners of a kind with their entities."""
        shown = self._kinds if self._before is None else self._before
        return shown.get(kind, {})

    def newest_owners(self, kind: str) -> Mapping[str, Fields]:
        """Return the owners of a kind after the newest record."""
        return self._kinds.get(kind, {})

    def drop(self, kind: str, owner: object) -> None:
        """Remove an owner's entities of a kind."""
        self._kinds.get(kind, {}).pop(str(owner), None)
