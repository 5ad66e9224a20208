"""A real Kafka node and a cluster of ours, as the tests see them. No tests here."""

import asyncio
import contextlib
import socket
import time
from collections.abc import Callable, Coroutine
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

from kraftproof.cluster.live.scope import LiveScope
from kraftproof.cluster.local.local_cluster import READY_TIMEOUT_NS, LocalCluster
from kraftproof.cluster.protocol import ClusterOptions
from kraftproof.cluster.remote.readiness import wait_until_ready
from kraftproof.cluster.systems.reference.system import ReferenceSystem
from kraftproof.node.tools.client import Client, ClientError, parse_addresses
from kraftproof.node.wire.messages.generated.metadata_request import MetadataRequest
from kraftproof.node.wire.messages.generated.metadata_response import MetadataResponse

T = TypeVar("T")
CALL_SECONDS = 5
POLL_SECONDS = 0.1


@dataclass(frozen=True, slots=True, kw_only=True)
class Running:
    """Either system, as a tool's command line names it."""

    brokers: str
    controllers: str
    log_directory: Path
    """Of the metadata log of one controller."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Ours(Running):
    """A cluster of our own nodes."""

    cluster: LocalCluster
    runner: asyncio.Runner

    def run(self, coroutine: Coroutine[Any, Any, T]) -> T:
        return self.runner.run(coroutine)

    def until_ready(self) -> None:
        self.run(wait_until_ready(self.cluster, ReferenceSystem(), READY_TIMEOUT_NS))


def until(holds: Callable[[], bool], seconds: float = 60) -> bool:
    """Whether a condition came to hold: a broker's own image may lag a little."""
    deadline = time.monotonic() + seconds
    while not holds():
        if time.monotonic() > deadline:
            return False
        time.sleep(POLL_SECONDS)
    return True


async def make_cluster(options: ClusterOptions) -> LocalCluster:
    return LocalCluster(options, LiveScope(), ReferenceSystem())


def controller_addresses(properties: Path) -> list[str]:
    (voters,) = (
        line.partition("=")[2]
        for line in properties.read_text().splitlines()
        if line.startswith("controller.quorum.voters=")
    )
    return [voter.partition("@")[2] for voter in voters.split(",")]


def kafka_properties(data: Path, broker: str, controller: str) -> str:
    listeners = f"PLAINTEXT://{broker},CONTROLLER://{controller}"
    entries = {
        "process.roles": "broker,controller",
        "node.id": "1",
        "controller.quorum.bootstrap.servers": controller,
        "controller.listener.names": "CONTROLLER",
        "listeners": listeners,
        "advertised.listeners": listeners,
        "log.dirs": str(data),
        "log.cleaner.enable": "false",
        "metadata.log.max.record.bytes.between.snapshots": "500",
    }
    return "".join(f"{key}={value}\n" for key, value in entries.items())


def accepts(address: str) -> bool:
    """Whether the node accepts connections."""
    host, _, port = address.rpartition(":")
    with contextlib.suppress(OSError), socket.create_connection((host, int(port)), CALL_SECONDS):
        return True
    return False


def has_broker(address: str) -> bool:
    """Whether the node answers our own client and has an active broker."""
    with contextlib.suppress(ClientError), Client(parse_addresses(address)[0], CALL_SECONDS) as to:
        answer = to.ask(MetadataRequest(topics=()))
        assert isinstance(answer, MetadataResponse)
        return bool(answer.brokers)
    return False
