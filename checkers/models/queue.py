"""The queue: enqueue, and dequeue of what came first. Elements are compared as JSON."""

from typing import ClassVar

from checkers.calls.containers import ContainerCalls, QueueCalls
from checkers.models.container import Container


class Queue(Container):
    """A first-in-first-out queue; its state is the elements, the first one first."""

    name = "queue"
    put = "enqueue"
    take = "dequeue"
    kind: ClassVar[type[ContainerCalls]] = QueueCalls
