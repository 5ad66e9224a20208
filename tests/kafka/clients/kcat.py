"""The calls of kcat. No tests here."""

import json
import re
import subprocess
from typing import Any

from tests.kafka.clients.rows import RefusedError
from tests.kafka.clients.trio import BROKERS, CALL_SECONDS, TIMES_MS, VALUES, Trio

_FAILURE = re.compile(r"ERROR: (.*)")
_NUMBER = re.compile(r"/\d+")
"""The number of a broker, which differs from run to run."""


class Kcat:
    """A method for each row that the program offers."""

    def __init__(self, trio: Trio, topic: str) -> None:
        self._servers = trio.brokers
        self._topic = topic

    def _run(self, *arguments: str, text: str = "") -> str:
        """Run the program.

        Raises:
            RefusedError: the program failed, or did not end in time.
        """
        command = ["kcat", "-b", self._servers, *arguments]
        try:
            done = subprocess.run(
                command,
                input=text,
                capture_output=True,
                text=True,
                timeout=CALL_SECONDS,
                check=False,
            )
        except subprocess.TimeoutExpired as error:
            raise RefusedError("the program goes on") from error
        if done.returncode != 0:
            found = _FAILURE.search(done.stderr)
            text = found.group(1) if found else done.stderr
            raise RefusedError(_NUMBER.sub("", text))
        return done.stdout

    def _produce(self, *options: str, topic: str = "") -> None:
        flags = (
            "-P",
            "-t",
            topic or self._topic,
            "-p",
            "0" if topic else "1",
            "-k",
            "key",
            "-H",
            "header=x",
        )
        self._run(*flags, *options, text="value\n")

    def produce_acks_0(self) -> None:
        self._produce("-X", "acks=0")

    def produce_acks_1(self) -> None:
        self._produce("-X", "acks=1")

    def produce_acks_all(self) -> None:
        self._produce("-X", "acks=all")

    def produce_idempotent(self) -> None:
        self._produce("-X", "enable.idempotence=true")

    def produce_gzip(self) -> None:
        self._produce("-z", "gzip")

    def produce_snappy(self) -> None:
        self._produce("-z", "snappy")

    def produce_lz4(self) -> None:
        self._produce("-z", "lz4")

    def produce_zstd(self) -> None:
        self._produce("-z", "zstd")

    def produce_missing(self) -> None:
        self._produce(topic=f"{self._topic}-missing")

    def _consume(self, offset: str, values: tuple[bytes, ...]) -> None:
        flags = ("-C", "-q", "-t", self._topic, "-p", "0", "-o", offset, "-e")
        found = self._run(*flags)
        assert tuple(found.encode().split()) == values

    def consume_assigned(self) -> None:
        self._consume("beginning", VALUES)

    def consume_from_offset(self) -> None:
        self._consume("2", VALUES[2:])

    def consume_from_time(self) -> None:
        self._consume(f"s@{TIMES_MS[1]}", VALUES[1:])

    def read_ends(self) -> None:
        for time_ms, offset in ((-2, 0), (-1, len(VALUES))):
            found = self._run("-Q", "-t", f"{self._topic}:0:{time_ms}")
            assert found == f"{self._topic} [0] offset {offset}\n"

    def _metadata(self, *topic: str) -> dict[str, Any]:
        found: dict[str, Any] = json.loads(self._run("-L", "-J", *topic))
        return found

    def list_topics(self) -> None:
        assert self._topic in {topic["topic"] for topic in self._metadata()["topics"]}

    def describe_topics(self) -> None:
        (found,) = self._metadata("-t", self._topic)["topics"]
        assert len(found["partitions"]) == 2

    def describe_cluster(self) -> None:
        assert sorted(one["id"] for one in self._metadata()["brokers"]) == list(BROKERS)

    def subscribe(self) -> None:
        self._run("-G", "kcat-group", "-q", "-e", self._topic)

    def transaction(self) -> None:
        self._produce("-X", "transactional.id=kcat")
