"""The calls of Kafka's Java clients, which Calls.java makes. No tests here."""

import re
from collections.abc import Callable
from typing import Final

from tests.kafka.clients.rows import ROWS, WORKS, RefusedError
from tests.kafka.clients.trio import CALL_SECONDS, Trio
from tests.kafka.java import Java
from tests.kafka.java_host.host import SOURCES

OFFERED: Final = frozenset(
    name
    for source in SOURCES
    for name in re.findall(r"^    static void (\w+)\(\)", source.read_text(), re.MULTILINE)
)


class JavaClient:
    """A function for each row that the client offers."""

    def __init__(self, trio: Trio, topic: str, java: Java) -> None:
        self._trio = trio
        self._topic = topic
        self._java = java

    def __getattr__(self, row: str) -> Callable[[], None]:
        if row not in OFFERED & ROWS.keys():
            raise AttributeError(row)
        return lambda: self._call(row)

    def _call(self, row: str) -> None:
        """Make the call in the virtual machine of the tools.

        Raises:
            RefusedError: Kafka's client threw one of its exceptions.
        """
        assert self._java.host is not None
        arguments = (row, self._trio.brokers, self._topic)
        done = self._java.host.run("Calls", *arguments, seconds=CALL_SECONDS)
        assert done.status == 0, done.text
        *_, answer = done.output.splitlines()
        if answer != WORKS:
            raise RefusedError(answer.removeprefix("refused: "))
