"""Deployment of a Kafka node: server.properties, a disk formatted by StorageTool, and a JVM."""

import functools
import os
import shutil
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Final

from kraftproof.cluster.protocol import NodeInfo
from kraftproof.cluster.systems.apache_kafka.clients import CONTROLLER_PORT
from kraftproof.cluster.systems.apache_kafka.clock import CLOCK_LOG, clock_options, wall_clock
from kraftproof.cluster.systems.deployment import (
    Command,
    Deployment,
    Image,
    Platform,
    Site,
    Upload,
)
from kraftproof.cluster.systems.kafka.connection import PORT
from kraftproof.cluster.systems.kafka.probe import api_versions
from kraftproof.cluster.systems.kafka.quorum import cluster_id
from kraftproof.cluster.systems.kafka.timeouts import properties
from kraftproof.cluster.systems.system import SystemUnavailableError
from kraftproof.images.kafka.jars import jars_folder
from kraftproof.images.kafka.releases import NEWEST

if TYPE_CHECKING:
    import docker

PROPERTIES: Final = "server.properties"
STORAGE_TOOL: Final = "kafka.tools.StorageTool"
JARS_PATH: Final = "/opt/kraftproof/kafka"
"""Folder of the jars in a container, as images/kafka/Dockerfile has it."""
SERVER: Final = "kafka.Kafka"
SYNC: Final = """
import os, sys
for folder, _, names in os.walk(sys.argv[1]):
    for name in (*names, "."):
        handle = os.open(os.path.join(folder, name), os.O_RDONLY)
        os.fsync(handle)
        os.close(handle)
"""
"""Makes the formatted disk durable: StorageTool does not flush bootstrap.checkpoint, and a node
that loses the bytes of this file does not start again."""
JAVA_OPTIONS: Final = (
    *("-Xmx256m", "-Xms64m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-Xshare:auto"),
    *("-XX:+ExitOnOutOfMemoryError", "-Djava.net.preferIPv4Stack=true"),
    "-Dorg.slf4j.simpleLogger.defaultLogLevel=warn",
    "-Dorg.slf4j.simpleLogger.log.kafka.server.ReplicaFetcherThread=error",
    "-Dorg.slf4j.simpleLogger.showDateTime=true",
    "-Dorg.slf4j.simpleLogger.dateTimeFormat=HH:mm:ss.SSS",
)
"""Small heap and quick start: a run has up to six JVMs on one machine, and each lives seconds."""
DEFAULT_TIMEOUTS: Final = {
    "broker.session.timeout.ms": "18000",
    "broker.heartbeat.interval.ms": "3000",
}
"""The KIPs' values, which the checks assume; Kafka itself has half of the first."""


def release_of(version: str | None) -> str:
    """Return the release that a run asks for."""
    return NEWEST if version is None else version


def deployment(site: Site, level: str | None = None) -> Deployment:
    """Return what the node of a site is made of.

    Args:
        site: The site of the node.
        level: The metadata.version of the new cluster, such as 3.9-IV0; None for the release's own.

    Raises:
        SystemUnavailableError: there is no Java.
    """
    java = _java(site)
    path = str(site.directory / PROPERTIES)
    identity = f"--cluster-id={cluster_id(site.options.seed)}"
    features = () if level is None else ("--release-version", level)
    return Deployment(
        command=(*java, *clock_options(site.directory), SERVER, path),
        files={PROPERTIES: server_properties(site)},
        setup=(
            (*java, STORAGE_TOOL, "format", identity, "-c", path, *features),
            (site.python, "-c", SYNC, str(site.directory / "data")),
        ),
        image=image_of(release_of(site.options.system_version)),
        data=("data",),
        probe=api_versions(),
        wall_clock=wall_clock,
        clock_log=CLOCK_LOG,
        upload=upload_of(release_of(site.options.system_version)),
    )


def _java(site: Site) -> Command:
    """Return the start of a command line of Java with the release's jars."""
    if site.sees_machine:
        jars = str(jars_folder(release_of(site.options.system_version)))
        return (local_java(), *JAVA_OPTIONS, "-cp", f"{jars}/*")
    jars = JARS_PATH if site.uploads is None else str(site.uploads)
    return ("java", *JAVA_OPTIONS, "-cp", f"{jars}/*")


@functools.cache
def upload_of(release: str) -> Upload:
    """Return the upload of a release's jars, one object for all nodes of a run."""

    def fill(platform: Platform, folder: Path, progress: Callable[[str], None]) -> None:
        del platform
        progress(f"software of the nodes: the jars of Kafka {release}")
        for jar in jars_folder(release).glob("*.jar"):
            (folder / jar.name).symlink_to(jar.absolute())

    return fill


@functools.cache
def image_of(release: str) -> Image:
    """Return the builder of a release's image, one object for all nodes of a run."""

    def ensure(client: "docker.DockerClient", progress: Callable[[str], None]) -> str:
        from kraftproof.images.kafka.image import ensure_kafka_image

        return ensure_kafka_image(release, client, progress)

    return ensure


def local_java() -> str:
    """Return the path of Java on this machine.

    Raises:
        SystemUnavailableError: there is none.
    """
    home = os.environ.get("JAVA_HOME")
    beside = None if home is None else Path(home) / "bin" / "java"
    found = str(beside) if beside is not None and beside.is_file() else shutil.which("java")
    if found is None:
        raise SystemUnavailableError(
            "--system apache-kafka: there is no java on PATH or in JAVA_HOME; install a JRE of "
            "Java 17 or newer, or use --backend docker"
        )
    return found


def server_properties(site: Site) -> str:
    """Return the text of a node's server.properties."""
    node, options = site.node, site.options
    settings = properties(options.timeouts) or DEFAULT_TIMEOUTS
    entries = {
        "process.roles": ",".join(role for role in ("broker", "controller") if node.has(role)),
        "node.id": str(node.node_id),
        "controller.quorum.voters": ",".join(
            _voter(site, one) for one in site.nodes if one.has("controller")
        ),
        "controller.listener.names": "CONTROLLER",
        "listener.security.protocol.map": "CONTROLLER:PLAINTEXT,PLAINTEXT:PLAINTEXT",
        **_listeners(site),
        "log.dirs": str(site.directory / "data"),
        **_SMALL,
        **settings,
        **dict(options.node_config),
    }
    return "".join(f"{key}={value}\n" for key, value in entries.items() if value)


def _voter(site: Site, node: NodeInfo) -> str:
    address = site.addresses[node.node_id][CONTROLLER_PORT]
    return f"{node.node_id}@{address.peer_host}:{address.port}"


def _listeners(site: Site) -> Mapping[str, str]:
    listeners = []
    advertised: dict[str, str] = {}
    if site.node.has("broker"):
        address = site.address(PORT)
        listeners.append(f"PLAINTEXT://{address.host}:{address.port}")
        peer = address.as_peer  # a number: a user's client on this machine knows no node's name
        advertised["advertised.listeners"] = f"PLAINTEXT://{peer.host}:{peer.port}"
        advertised["inter.broker.listener.name"] = "PLAINTEXT"
    if site.node.has("controller"):
        address = site.address(CONTROLLER_PORT)
        listeners.append(f"CONTROLLER://{address.host}:{address.port}")
    return {"listeners": ",".join(listeners), **advertised}


_SMALL: Final = {
    "auto.create.topics.enable": "false",
    "log.cleaner.enable": "false",  # its buffer takes half of the heap
    "num.network.threads": "2",
    "num.io.threads": "2",
    "background.threads": "2",
    "num.recovery.threads.per.data.dir": "1",
    "group.initial.rebalance.delay.ms": "0",
}
"""Settings for a small machine."""
