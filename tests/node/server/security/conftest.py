"""Live nodes with TLS and SASL on loopback; the certificates are made for each test session."""

import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from kraftproof.node.properties.formatting import read_format_config
from kraftproof.node.properties.listener_security import PeerSecurity
from kraftproof.node.storage.disk import Disk
from kraftproof.node.storage.meta_properties import MetaProperties, format_directories
from kraftproof.node.tools.client import Address, Client
from kraftproof.node.tools.command_config import client_security
from tests.node.server.conftest import CHAOS, CLUSTER_ID, LiveNode, free_ports

PLAIN_MODULE = "org.apache.kafka.common.security.plain.PlainLoginModule"
SCRAM_MODULE = "org.apache.kafka.common.security.scram.ScramLoginModule"
ADMIN_PASSWORD = "admin-secret-93c1"
ALICE_PASSWORD = "alice-secret-5b7d"


@dataclass
class Certificates:
    """Files in PEM: a good authority with its certificates, and another authority."""

    folder: Path
    truststore: Path = field(init=False)
    node: Path = field(init=False)
    client: Path = field(init=False)
    expired: Path = field(init=False)
    other_host: Path = field(init=False)
    foreign: Path = field(init=False)
    foreign_truststore: Path = field(init=False)

    def __post_init__(self) -> None:
        import trustme

        authority, other = trustme.CA(), trustme.CA()
        self.truststore = self.folder / "trusted.pem"
        self.foreign_truststore = self.folder / "foreign-trusted.pem"
        authority.cert_pem.write_to_path(str(self.truststore))
        other.cert_pem.write_to_path(str(self.foreign_truststore))
        local = ("127.0.0.1", "localhost")
        self.node = self._store("node", authority.issue_cert(*local))
        self.client = self._store(
            "client",
            authority.issue_cert(
                "alice.example", common_name="alice", organization_name="Example, Inc."
            ),
        )
        yesterday = datetime.now(UTC) - timedelta(days=1)
        self.expired = self._store(
            "expired",
            authority.issue_cert(
                *local, not_before=yesterday - timedelta(days=9), not_after=yesterday
            ),
        )
        self.other_host = self._store("other-host", authority.issue_cert("elsewhere.example"))
        self.foreign = self._store("foreign", other.issue_cert(*local))

    def _store(self, name: str, issued: object) -> Path:
        """Write the key and its chain to one file, as a PEM key store of Kafka is (PKCS 8)."""
        from cryptography.hazmat.primitives import serialization as forms

        pem = issued.private_key_and_cert_chain_pem.bytes()  # type: ignore[attr-defined]
        key = forms.load_pem_private_key(pem, None)
        text = key.private_bytes(
            forms.Encoding.PEM, forms.PrivateFormat.PKCS8, forms.NoEncryption()
        )
        path = self.folder / f"{name}.pem"
        path.write_bytes(text + pem[pem.index(b"-----BEGIN CERTIFICATE") :])
        return path


@pytest.fixture(scope="session")
def certificates(tmp_path_factory: pytest.TempPathFactory) -> Certificates:
    return Certificates(tmp_path_factory.mktemp("certificates"))


def plain_line(user: str, password: str, users: Mapping[str, str] | None = None) -> str:
    """A JAAS line of PLAIN: the own login, and the users of a listener."""
    listed = "".join(f' user_{name}="{secret}"' for name, secret in (users or {}).items())
    return f'{PLAIN_MODULE} required username="{user}" password="{password}"{listed};'


def tls_entries(store: Path, truststore: Path, prefix: str = "") -> dict[str, str]:
    """The keys of PEM stores."""
    return {
        f"{prefix}ssl.keystore.type": "PEM",
        f"{prefix}ssl.keystore.location": str(store),
        f"{prefix}ssl.truststore.type": "PEM",
        f"{prefix}ssl.truststore.location": str(truststore),
    }


def sasl_entries(
    protocol: str, user: str, password: str, mechanism: str = "PLAIN"
) -> dict[str, str]:
    """The keys of a client that logs in."""
    module = PLAIN_MODULE if mechanism == "PLAIN" else SCRAM_MODULE
    return {
        "security.protocol": protocol,
        "sasl.mechanism": mechanism,
        "sasl.jaas.config": f'{module} required username="{user}" password="{password}";',
    }


def security(entries: Mapping[str, str]) -> PeerSecurity:
    return client_security(entries)


@dataclass
class SecureCluster:
    """Combined nodes with the listeners CLIENTS and CONTROLLER of one protocol each."""

    folder: Path
    certificates: Certificates
    nodes: list[LiveNode] = field(default_factory=list)

    def entries(self, protocol: str, controller_protocol: str) -> dict[str, str]:
        users = {"admin": ADMIN_PASSWORD, "alice": ALICE_PASSWORD}
        line = plain_line("admin", ADMIN_PASSWORD, users)
        pairs = {
            "listener.security.protocol.map": (
                f"CLIENTS:{protocol},CONTROLLER:{controller_protocol}"
            ),
            "inter.broker.listener.name": "CLIENTS",
            "sasl.enabled.mechanisms": "PLAIN,SCRAM-SHA-256,SCRAM-SHA-512",
            "sasl.mechanism.inter.broker.protocol": "PLAIN",
            "sasl.mechanism.controller.protocol": "PLAIN",
            "listener.name.clients.plain.sasl.jaas.config": line,
            "listener.name.controller.plain.sasl.jaas.config": line,
        }
        if "SSL" in f"{protocol}{controller_protocol}".replace("SASL", ""):
            pairs |= tls_entries(self.certificates.node, self.certificates.truststore)
        return pairs

    def add(
        self,
        count: int,
        *,
        protocol: str = "SASL_SSL",
        controller_protocol: str = "SASL_SSL",
        **changes: str,
    ) -> None:
        """Format and start combined nodes; `changes` have underscores in place of dots."""
        ports = free_ports(2 * count)
        voters = ",".join(f"{i + 1}@127.0.0.1:{ports[i]}" for i in range(count))
        replaced = {key.replace("_", "."): value for key, value in changes.items()}
        for index in range(count):
            directory = self.folder / str(index + 1)
            directory.mkdir()
            pairs = {
                "process.roles": "broker,controller",
                "node.id": str(index + 1),
                "controller.quorum.voters": voters,
                "controller.listener.names": "CONTROLLER",
                "listeners": f"CLIENTS://127.0.0.1:{ports[count + index]},"
                f"CONTROLLER://127.0.0.1:{ports[index]}",
                "log.dirs": str(directory / "data"),
                "trace.file": str(directory / "trace.jsonl"),
                **CHAOS,
                **self.entries(protocol, controller_protocol),
                **replaced,
            }
            node = LiveNode(directory, ports[count + index])
            text = "".join(f"{key}={value}\n" for key, value in pairs.items())
            node.properties.write_text(text)
            config = read_format_config(text)
            meta = MetaProperties(cluster_id=CLUSTER_ID, node_id=config.node_id)
            format_directories(Disk(), config.directories, meta)
            self.nodes.append(node)

    def start(self) -> None:
        for node in self.nodes:
            node.start()
        self.await_brokers(len(self.nodes))

    def await_brokers(self, count: int, seconds: float = 30) -> None:
        deadline = time.monotonic() + seconds
        while time.monotonic() < deadline:
            states = [
                node.trace()[-1]["broker_state"] if node.trace() else 0 for node in self.nodes
            ]
            if states.count(3) >= count:
                return
            time.sleep(0.05)
        pytest.fail(f"no {count} running brokers: {[node.output for node in self.nodes]}")

    @property
    def bootstrap(self) -> str:
        return ",".join(f"127.0.0.1:{node.port}" for node in self.nodes)

    def client(self, entries: Mapping[str, str], index: int = 0) -> Client:
        """Connect to the client listener of a node."""
        return Client(Address("127.0.0.1", self.nodes[index].port), 10, client_security(entries))

    def trusting(self, entries: Mapping[str, str]) -> dict[str, str]:
        """Add the truststore to the keys of a client."""
        return {
            **entries,
            "ssl.truststore.type": "PEM",
            "ssl.truststore.location": str(self.certificates.truststore),
        }


@pytest.fixture
def secure(tmp_path: Path, certificates: Certificates) -> Iterator[SecureCluster]:
    folder = tmp_path / "nodes"
    folder.mkdir()
    cluster = SecureCluster(folder, certificates)
    yield cluster
    for node in cluster.nodes:
        node.end()


def run_tool(module: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Run one of our tools as a process."""
    return subprocess.run(
        [sys.executable, "-m", f"kraftproof.node.tools.{module}", *arguments],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
        cwd=Path(__file__).parents[4],
        env={**os.environ, "PYTHONDONTWRITEBYTECODE": "1"},
    )


RunTool = Callable[..., subprocess.CompletedProcess[str]]


EVERY_PROTOCOL = ("PLAINTEXT", "SSL", "SASL_PLAINTEXT", "SASL_SSL")


def add_every_listener(secure: SecureCluster, *lines: str) -> dict[str, int]:
    """Format a node with a client listener of each protocol; return the port of each."""
    secure.add(1, protocol="PLAINTEXT", controller_protocol="SASL_SSL")
    node = secure.nodes[0]
    ports = dict(zip(EVERY_PROTOCOL[1:], free_ports(3), strict=True))
    text = node.properties.read_text()
    controller = text.partition("CONTROLLER://")[2].partition("\n")[0]
    names = "".join(f",{name}://127.0.0.1:{port}" for name, port in ports.items())
    line = plain_line("alice", ALICE_PASSWORD, {"alice": ALICE_PASSWORD})
    files = secure.certificates
    added = [
        f"listeners=CLIENTS://127.0.0.1:{node.port}{names},CONTROLLER://{controller}",
        "listener.security.protocol.map=CLIENTS:PLAINTEXT,CONTROLLER:SASL_SSL,"
        + ",".join(f"{name}:{name}" for name in ports),
        *(
            f"listener.name.{name.lower()}.plain.sasl.jaas.config={line}"
            for name in ports
            if name.startswith("SASL")
        ),
        *(f"{key}={value}" for key, value in tls_entries(files.node, files.truststore).items()),
        *lines,
    ]
    node.properties.write_text(text + "".join(f"{one}\n" for one in added))
    return {"PLAINTEXT": node.port, **ports}
