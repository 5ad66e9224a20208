"""Deployment of a node (command, files, ports) and the site where a node is put.

The same deployment runs as a process of this machine, in a container, or on another host: the
site says which directory, addresses and interpreter the node has there.
"""

import signal
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from kraftproof.cluster.protocol import Address, ClusterOptions, NodeInfo

Command = tuple[str, ...]
Image = str | Callable[[Any, Callable[[str], None]], str]
"""A container image's name, or a function of (docker client, progress) that makes sure of one."""
Programs = Callable[[Callable[[str], None]], Path]
"""Makes sure of the node's programs on this machine and returns their directory; the argument takes
a line before a long step."""


@dataclass(frozen=True, slots=True)
class Platform:
    """Platform of a node: processor, such as x86_64, and version of Python, such as 3.13."""

    processor: str
    python: str


Upload = Callable[[Platform, Path, Callable[[str], None]], None]
"""Fills an empty folder of this machine with all that a node on a bare host needs besides the
programs of the host; the last argument takes a line before a long step."""
WallClock = Callable[[Path], int | None]
"""Returns a node's wall clock minus its monotonic clock, in ns, as the node last wrote it into the
files of that directory; None if the node has written nothing yet."""

DISK_REPORT: Final = "disk.jsonl"
"""The file in a node's directory with the report of its disk, if the disk can have faults."""
SET_UP_DONE: Final = ".set-up-done"
"""The file that the set-up of a node makes last, at the end of the set-up."""
_TYPES: Final = {"stop_signal": signal.Signals, "probe": bytes, "has_tls": bool, "clock_log": str}
"""The fields of a Deployment with one type."""
_NAMES: Final[Mapping[type, str]] = {
    signal.Signals: "a signal such as signal.SIGTERM",
    bytes: "a bytes object",
    bool: "True or False",
    str: "a text",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Deployment:
    """Command, files and settings that make a node.

    Attributes:
        command: The program and its arguments. It must not go to the background.
        container: A testcontainers DockerContainer that is the node, in place of a command and an
            image: the container keeps its entrypoint, command, environment, user, volumes and
            further settings; network, name and labels are Kraftproof's, and no port is published.
            Only the docker backend can start one.
        files: Texts by path below the node's directory, written before the first start.
        setup: Commands that run once, before the first start, as the node would.
        environment: Environment variables besides those of the host.
        image: The container's image, where the node is a container; None for Kraftproof's own base
            image, which has Python 3 and the tools of the Debian base system.
        programs: The directory with the node's programs, put first on its PATH, where the node is a
            process of this machine; None for the PATH of the harness.
        upload: The node's software for a host behind ssh, which gets it at `Site.uploads`; None if
            the files, the programs and the packages of the image suffice.
        stop_signal: The signal of an orderly stop.
        data: Directories below the node's that hold what the node must keep; made beforehand.
        logs: Files below the node's directory in which the node writes its own log.
        probe: A request that a node which is alive answers with at least one byte, on its first
            port. Without a request an accepted connection counts, so that a paused node seems
            alive.
        has_tls: Whether the node expects TLS on its first port, so that the probe goes through TLS.
        after: The nodes that have to be up before this node starts.
        wall_clock: How the node reports its wall clock; None if it does not. Clock faults need
            that, and libfaketime in the image or on the host.
        clock_log: The file below the node's directory that `wall_clock` reads, so that the file is
            fetched from a bare host.
    """

    command: Command = ()
    container: Any = None
    files: Mapping[str, str] = field(default_factory=dict)
    setup: tuple[Command, ...] = ()
    environment: Mapping[str, str] = field(default_factory=dict)
    image: Image | None = None
    programs: Programs | None = None
    upload: Upload | None = None
    stop_signal: signal.Signals = signal.SIGTERM
    data: tuple[str, ...] = ()
    logs: tuple[str, ...] = ()
    probe: bytes = b""
    has_tls: bool = False
    after: tuple["Dependency", ...] = ()
    wall_clock: WallClock | None = None
    clock_log: str = ""

    def __post_init__(self) -> None:
        """Refuse fields of a wrong type, and paths that leave the directory.

        Raises:
            ValueError: one line that names the field.
        """
        self._refuse_other_types()
        self._refuse_other_parts()
        named = [("command", self.command), *(("setup", command) for command in self.setup)]
        if self.container is not None:
            self._refuse_beside_container()
            named = []
        for name, command in named:
            if not _is_command(command):
                raise ValueError(f"{name} {command!r}: a tuple of texts is expected")
        self._refuse_other_texts()
        for path in (*self.files, *self.data, *self.logs, self.clock_log):
            if Path(path).is_absolute() or ".." in Path(path).parts:
                raise ValueError(f"path {path!r}: must lie below the node's directory")
        for path in self.files:
            if any(Path(path) in (Path(one), *Path(one).parents) for one in self.data):
                raise ValueError(f"path {path!r}: is a file, and a directory of data")

    def _refuse_other_texts(self) -> None:
        """Refuse texts that no operating system takes."""
        for name in self.environment:
            if not name or "=" in name:
                raise ValueError(f"environment[{name!r}]: a name without = is expected")
        words = [*self.command, *(word for one in self.setup for word in one)]
        texts = [*words, *self.environment, *self.environment.values(), *self.files, *self.data]
        for text in (*texts, *self.files.values()):
            if not _is_utf8(text):
                raise ValueError(f"{text!r:.40}: a text that UTF-8 can have is expected")
        for text in texts:
            if "\0" in text:
                raise ValueError(f"{text!r:.40}: a text without a null character is expected")

    def _refuse_other_types(self) -> None:
        """Refuse fields whose type would break the start or the stop of a node."""
        for name in ("files", "environment"):
            if not _is_of(Mapping, getattr(self, name)):
                raise ValueError(f"{name} {getattr(self, name)!r}: a dict of texts is expected")
            for key, value in getattr(self, name).items():
                if not _is_words((key, value)):
                    raise ValueError(f"{name}[{key!r}]: a text is expected, not {value!r:.40}")
        for name in ("data", "logs"):
            if not _is_words(getattr(self, name)):
                raise ValueError(f"{name} {getattr(self, name)!r}: a tuple of texts is expected")
        for name, kind in _TYPES.items():
            if not _is_of(kind, getattr(self, name)):
                raise ValueError(f"{name} {getattr(self, name)!r}: {_NAMES[kind]} is expected")

    def _refuse_other_parts(self) -> None:
        """Refuse other things than nodes, images and functions where these are meant."""
        if not _are_dependencies(self.after):
            raise ValueError(f"after {self.after!r}: a tuple of Dependency is expected")
        if not isinstance(self.image, str) and not _is_function(self.image):
            raise ValueError(f"image {self.image!r}: a name or a function is expected")
        for name in ("programs", "upload", "wall_clock"):
            if not _is_function(getattr(self, name)):
                raise ValueError(f"{name} {getattr(self, name)!r}: a function is expected")

    def _refuse_beside_container(self) -> None:
        """Refuse what the container itself says, or what needs a shell in the container."""
        for name in ("command", "setup", "environment", "image", "programs", "wall_clock"):
            if getattr(self, name):
                raise ValueError(f"{name} beside a container: the container itself says that")


@dataclass(frozen=True, slots=True, kw_only=True)
class Dependency:
    """A node that has to be up before another node starts.

    Attributes:
        node_id: The node.
        is_healthy: Whether the health check of its container must have passed, too.
    """

    node_id: int
    is_healthy: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Site:
    """Site of a node: directories, addresses, peers.

    Attributes:
        node: The node.
        nodes: All nodes of the cluster.
        directory: The node's own directory, by the path that its process sees.
        python: A Python 3 interpreter at the site.
        addresses: The addresses of all nodes, by node and by name of the port.
        options: What the run asks for: seed, time-outs, settings.
        sees_machine: Whether the node sees the files of this machine, such as its caches.
        uploads: The folder of the node's software on a bare host; None on other sites.
    """

    node: NodeInfo
    nodes: tuple[NodeInfo, ...]
    directory: Path
    python: str
    addresses: Mapping[int, Mapping[str, Address]]
    options: ClusterOptions
    sees_machine: bool = False
    uploads: Path | None = None

    def address(self, port: str) -> Address:
        """Return where this node listens on a port.

        Raises:
            ValueError: the system names no such port; one line.
        """
        addresses = self.addresses[self.node.node_id]
        if port not in addresses:
            known = ", ".join(addresses)
            raise ValueError(f"the node has no port {port!r}, only {known}: see ports()")
        return addresses[port]


def _is_command(command: object) -> bool:
    return _is_words(command) and bool(command)


def _is_utf8(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def _is_words(words: object) -> bool:
    return isinstance(words, tuple | list) and all(isinstance(word, str) for word in words)


def _are_dependencies(nodes: object) -> bool:
    return isinstance(nodes, tuple | list) and all(isinstance(one, Dependency) for one in nodes)


def _is_function(value: object) -> bool:
    """Return whether a field is empty, or can be called."""
    return value is None or callable(value)


def _is_of(kind: type, value: object) -> bool:
    return isinstance(value, kind)
