"""Live nodes as processes on loopback, each with its own folder; ended when the test ends."""

import contextlib
import json
import os
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from kraftproof.node.properties.config import parse_server_properties
from kraftproof.node.storage.disk import Disk
from kraftproof.node.storage.meta_properties import MetaProperties, format_directories

CLUSTER_ID = "AAAAAAAAAAAAAAAAAAAAAA"
CHAOS = {
    "broker.session.timeout.ms": "2000",
    "broker.heartbeat.interval.ms": "500",
    "controller.quorum.fetch.timeout.ms": "1000",
    "controller.quorum.election.timeout.ms": "500",
    "controller.quorum.election.backoff.max.ms": "500",
}


def free_ports(count: int) -> list[int]:
    with contextlib.ExitStack() as stack:
        sockets = [stack.enter_context(socket.socket()) for _ in range(count)]
        for one in sockets:
            one.bind(("127.0.0.1", 0))
        return [one.getsockname()[1] for one in sockets]


@dataclass
class LiveNode:
    directory: Path
    port: int
    metrics_port: int | None = None
    process: subprocess.Popen[bytes] | None = None

    @property
    def properties(self) -> Path:
        return self.directory / "server.properties"

    @property
    def output(self) -> str:
        return (self.directory / "output.log").read_text()

    def start(self) -> None:
        with (self.directory / "output.log").open("ab") as output:
            self.process = subprocess.Popen(
                [sys.executable, "-m", "kraftproof.node.server.main", str(self.properties)],
                stdout=output,
                stderr=output,
                cwd=Path(__file__).parents[3],
                env={**os.environ, "PYTHONDONTWRITEBYTECODE": "1"},
            )

    def trace(self) -> list[dict[str, object]]:
        path = self.directory / "trace.jsonl"
        if not path.exists():
            return []
        whole_lines, _, _ = path.read_text().rpartition("\n")
        return [json.loads(line) for line in whole_lines.splitlines() if line]

    def resident_bytes(self) -> int:
        assert self.process is not None
        pages = int(Path(f"/proc/{self.process.pid}/statm").read_text().split()[1])
        return pages * os.sysconf("SC_PAGE_SIZE")

    def end(self) -> None:
        if self.process is not None and self.process.poll() is None:
            self.process.kill()
            self.process.wait(10)


@dataclass
class LiveCluster:
    nodes: list[LiveNode] = field(default_factory=list)
    bootstrap: list[str] = field(default_factory=list)

    def await_brokers(self, count: int, seconds: float = 120) -> None:
        """Wait until so many nodes say that their broker is RUNNING."""
        deadline = time.monotonic() + seconds
        while time.monotonic() < deadline:
            states = [
                node.trace()[-1]["broker_state"] if node.trace() else None for node in self.nodes
            ]
            if states.count(3) >= count:
                return
            for node in self.nodes:
                assert node.process is not None
                assert node.process.poll() is None, node.output
            time.sleep(0.05)
        pytest.fail(f"no {count} running brokers: {[node.output for node in self.nodes]}")

    def await_listeners(self, seconds: float = 120) -> None:
        """Wait until each node takes connections; a majority of controllers serves before that."""
        deadline = time.monotonic() + seconds
        for node in self.nodes:
            while True:
                try:
                    socket.create_connection(("127.0.0.1", node.port), 5).close()
                    break
                except OSError:
                    assert node.process is not None
                    assert node.process.poll() is None, node.output
                    assert time.monotonic() < deadline, node.output
                    time.sleep(0.05)


def write_node(
    directory: Path,
    node_id: int,
    port: int,
    voters: str,
    roles: str,
    controller_port: int | None,
    metrics_port: int | None = None,
) -> LiveNode:
    listeners = f"PLAINTEXT://127.0.0.1:{port}"
    if roles == "controller":
        listeners = f"CONTROLLER://127.0.0.1:{port}"
    elif controller_port is not None:
        listeners += f",CONTROLLER://127.0.0.1:{controller_port}"
    entries = {
        "process.roles": roles,
        "node.id": str(node_id),
        "controller.quorum.voters": voters,
        "listeners": listeners,
        "controller.listener.names": "CONTROLLER",
        "log.dirs": str(directory / "data"),
        "trace.file": str(directory / "trace.jsonl"),
        **CHAOS,
    }
    if metrics_port is not None:
        entries["metrics.listener"] = f"127.0.0.1:{metrics_port}"
    directory.mkdir(parents=True)
    node = LiveNode(directory, port, metrics_port)
    node.properties.write_text("".join(f"{key}={value}\n" for key, value in entries.items()))
    config = parse_server_properties(node.properties.read_text())
    meta = MetaProperties(cluster_id=CLUSTER_ID, node_id=config.node.node_id)
    format_directories(Disk(), config.storage.directories, meta)
    return node


@pytest.fixture
def live(tmp_path: Path) -> Iterator[Callable[..., LiveCluster]]:
    """`live(controllers, brokers)`; no brokers: one combined node."""
    cluster = LiveCluster()

    def make(
        controllers: int,
        brokers: int,
        *,
        has_metrics: bool = False,
        prepare: Callable[[LiveNode], object] = lambda _: None,
    ) -> LiveCluster:
        count = controllers + max(brokers, 1)
        free = free_ports(2 * count)
        ports, metrics = free[:count], [port if has_metrics else None for port in free[count:]]
        voters = ",".join(f"{i + 1}@127.0.0.1:{ports[i]}" for i in range(controllers))
        if brokers == 0:
            node = write_node(
                tmp_path / "1", 1, ports[-1], voters, "broker,controller", ports[0], metrics[-1]
            )
            cluster.nodes.append(node)
            cluster.bootstrap.append(f"127.0.0.1:{ports[-1]}")
        else:
            for index, port in enumerate(ports):
                roles = "controller" if index < controllers else "broker"
                name = str(index + 1)
                cluster.nodes.append(
                    write_node(
                        tmp_path / name, index + 1, port, voters, roles, None, metrics[index]
                    )
                )
                if roles == "broker":
                    cluster.bootstrap.append(f"127.0.0.1:{port}")
        for node in cluster.nodes:
            prepare(node)
            node.start()
        cluster.await_brokers(max(brokers, 1))
        cluster.await_listeners()
        return cluster

    yield make
    for node in cluster.nodes:
        node.end()
