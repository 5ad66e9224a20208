"""A controller of one system and a broker of the other, in one cluster. No tests here."""

import contextlib
import json
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from kraftproof.node.core.base.types import Offset
from kraftproof.node.core.log.log import Log
from kraftproof.node.core.metadata.committed import CommittedImage
from kraftproof.node.core.metadata.image import MetadataImage
from kraftproof.node.storage.log import DIRECTORY_NAME
from kraftproof.node.wire.records.batch import Batch
from kraftproof.node.wire.records.batches import decode_batches
from tests.kafka.java import Java, end

CLUSTER_ID = "XcZZOzUqS4yHOjhMQB6JLQ"
RELEASE = "3.9-IV0"
"""The metadata.version that ours writes."""
CONTROLLER_ID = 1
BROKER_ID = 2
STORAGE = "kafka.tools.StorageTool"
END_SECONDS = 20


@dataclass(frozen=True, slots=True, kw_only=True)
class Member:
    """A running node."""

    directory: Path
    address: str
    """Of its one listener."""
    process: subprocess.Popen[bytes]

    @property
    def output(self) -> str:
        return (self.directory / "output.log").read_text()

    @property
    def log(self) -> bytes:
        """The metadata log that it has on disk."""
        (segment,) = sorted((self.directory / "data" / DIRECTORY_NAME).glob("*.log"))
        return segment.read_bytes()

    def batches(self) -> tuple[Batch, ...]:
        """Return what that log holds; the last batch may be under way."""
        return decode_batches(self.log, allow_partial=True)

    def traced(self) -> dict[str, object]:
        """Return what one of ours last said of itself."""
        whole_lines, _, _ = (self.directory / "trace.jsonl").read_text().rpartition("\n")
        lines = whole_lines.splitlines()
        last: dict[str, object] = json.loads(lines[-1]) if lines else {}
        return last

    def stop(self) -> int:
        """Let the node leave in order, and return its status."""
        self.process.terminate()
        return self.process.wait(END_SECONDS)


@dataclass(frozen=True, slots=True, kw_only=True)
class Mix:
    """The two nodes."""

    controller: Member
    broker: Member


def image_of(batches: tuple[Batch, ...], end: int) -> MetadataImage:
    """Return the image of a log's records below an offset, as a node of ours applies them."""
    committed, log = CommittedImage(), Log(batches)
    while committed.offset < end:
        committed.advance(log, Offset(end))
    return committed.image


@contextlib.contextmanager
def our_node(properties: Path, address: str) -> Iterator[Member]:
    """Run a node of ours until the block ends."""
    with properties.open("a") as file:
        file.write(f"trace.file={properties.parent / 'trace.jsonl'}\n")
    formatting = [sys.executable, "-m", "kraftproof.node.tools.storage", "format", "-t", CLUSTER_ID]
    subprocess.run([*formatting, "-c", str(properties)], check=True, timeout=60)
    command = [sys.executable, "-m", "kraftproof.node.server.main", str(properties)]
    with _running(command, properties.parent, address) as member:
        yield member


@contextlib.contextmanager
def real_node(
    java: Java, properties: Path, address: str, release: str = RELEASE
) -> Iterator[Member]:
    """Run a Kafka node until the block ends."""
    formatting = ("format", "-t", CLUSTER_ID, "-c", str(properties), "--release-version", release)
    java.output(STORAGE, *formatting)
    command = java.command("kafka.Kafka", str(properties))
    with _running(command, properties.parent, address) as member:
        yield member


@contextlib.contextmanager
def _running(command: list[str], directory: Path, address: str) -> Iterator[Member]:
    with (directory / "output.log").open("wb") as output:
        process = subprocess.Popen(command, stdout=output, stderr=output)
    try:
        yield Member(directory=directory, address=address, process=process)
    finally:
        if process.poll() is None:
            end(process)


def controller_properties(directory: Path, address: str) -> Path:
    """Write what a lone controller of either system is configured with."""
    return _write(directory, CONTROLLER_ID, address, f"CONTROLLER://{address}", "controller")


def broker_properties(directory: Path, address: str, controller: str, **more: str) -> Path:
    """Write what a broker of either system is configured with."""
    listener = f"PLAINTEXT://{address}"
    return _write(directory, BROKER_ID, controller, listener, "broker", **more)


def _write(
    directory: Path, node_id: int, controller: str, listener: str, role: str, **more: str
) -> Path:
    entries = {
        "process.roles": role,
        "node.id": str(node_id),
        "controller.quorum.voters": f"{CONTROLLER_ID}@{controller}",
        "controller.listener.names": "CONTROLLER",
        "listeners": listener,
        "log.dirs": str(directory / "data"),
        **{key.replace("_", "."): value for key, value in more.items()},
    }
    directory.mkdir()
    path = directory / "server.properties"
    path.write_text("".join(f"{key}={value}\n" for key, value in entries.items()))
    return path
