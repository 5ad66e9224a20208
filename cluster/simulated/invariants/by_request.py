"""Hooks of invariants by the type of the request."""

from collections.abc import Callable, Iterable
from typing import Generic, TypeVar

from kraftproof.node.wire.messages import Message

Hook = TypeVar("Hook", bound=Callable[..., None])


class ByRequest(dict[type[Message], list[Hook]], Generic[Hook]):
    """Hooks by the type of the request; the list for a type is built at its first request."""

    def __init__(self, hooks: Iterable[tuple[tuple[type[Message], ...], Hook]]) -> None:
        super().__init__()
        self._hooks = list(hooks)

    def append(self, hook: Hook) -> None:
        """Add a hook that gets every request, after the others."""
        self._hooks.append(((), hook))
        self.clear()

    def __missing__(self, request: type[Message]) -> list[Hook]:
        hooks = [hook for requests, hook in self._hooks if not requests or request in requests]
        self[request] = hooks
        return hooks
