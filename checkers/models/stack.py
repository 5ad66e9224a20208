"""The stack: push, and pop of what came last. Elements are compared as JSON."""

from typing import ClassVar

from checkers.calls.containers import ContainerCalls, StackCalls
from checkers.models.container import Container


class Stack(Container):
    """A last-in-first-out stack; its state is the elements, the last one last."""

    name = "stack"
    put = "push"
    take = "pop"
    kind: ClassVar[type[ContainerCalls]] = StackCalls
    next_out = -1
