"""Hooks of invariants by the type of a request or of an event."""

from collections.abc import Callable, Iterable
from typing import Any, Generic, TypeVar

Hook = TypeVar("Hook", bound=Callable[..., None])


class ByType(dict[type[Any], list[Hook]], Generic[Hook]):
    """Hooks by type; the list for a type is built when the type is first seen."""

    def __init__(self, hooks: Iterable[tuple[tuple[type[Any], ...], Hook]]) -> None:
        super().__init__()
        self._hooks = list(hooks)

    def append(self, hook: Hook, kinds: tuple[type[Any], ...] = ()) -> None:
        """Add a hook after the others; without types, the hook gets every type."""
        self._hooks.append((kinds, hook))
        self.clear()

    def __missing__(self, kind: type[Any]) -> list[Hook]:
        hooks = [hook for kinds, hook in self._hooks if not kinds or kind in kinds]
        self[kind] = hooks
        return hooks
