"""Read hosts.toml: the machines behind ssh on which a run may start nodes.

The table [defaults] has settings of all hosts, and each table [[host]] is a host (docs/ssh.md).
"""

import ipaddress
import re
import shlex
import tomllib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final

import msgspec

from kraftproof.cluster.plugin import shown
from kraftproof.spelling import nearest

NAME: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]{0,62}")
FINGERPRINT: Final = re.compile(r"SHA256:[A-Za-z0-9+/]{43}")
LAST_PORT: Final = 65_535
ADDRESS: Final = re.compile(r"(?=.{1,253}$)[^\s@/\[\]:.]{1,63}(?:\.[^\s@/\[\]:.]{1,63})*\.?")
"""A host name or an IPv4 address, without a user, a port or a scheme."""


class HostsFileError(ValueError):
    """A file of hosts that can't be used; the text is one line with the file and the reason."""


class HostEntry(msgspec.Struct, frozen=True, kw_only=True):
    """A machine behind ssh, and how to log in there."""

    name: str
    """The name in messages, unique in the file."""
    address: str
    """Name or IP address for ssh."""
    node_address: str = ""
    """IP address that the node binds, for a network of its own; empty: that of `address`."""
    port: int = 22
    user: str = ""
    """Login name; empty: the name of the user of this process."""
    key: str = ""
    """Path of a private key; empty: the agent of the user, then the keys in ~/.ssh."""
    fingerprint: str = ""
    """SHA256 fingerprint of the host's key; empty: the host's key must be in `known_hosts`."""
    known_hosts: str = "~/.ssh/known_hosts"
    sudo: str = "sudo -n"
    """Words before a command that needs root; empty where the login is root."""
    directory: str = ".kraftproof"
    """Directory for runs; a relative path is below the home of the login."""
    python: str = "python3"


TYPES: Final[Mapping[str, type]] = {
    name: int if name == "port" else str for name in HostEntry.__struct_fields__
}
DEFAULTS: Final[Mapping[str, str]] = {"python": "python3", "directory": ".kraftproof"}
NOT_SHARED: Final = frozenset({"name", "address", "node_address", "fingerprint"})


def read_hosts(path: Path) -> tuple[HostEntry, ...]:
    """Return the hosts of a file, in its order.

    Raises:
        HostsFileError: the file is missing, is no TOML, or has a wrong, unknown or duplicate entry.
    """
    try:
        told = tomllib.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise HostsFileError(f"--hosts {path}: {error.strerror}") from error
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise HostsFileError(f"--hosts {path}: no TOML: {error}") from error
    _refuse_unknown(path, "the file", told, ("defaults", "host"))
    defaults = _defaults(path, told.get("defaults", {}))
    entries: object = told.get("host", [])
    if not isinstance(entries, list) or not entries:
        raise HostsFileError(f"--hosts {path}: no hosts: a table [[host]] for each is expected")
    found = tuple(
        _entry(path, number, entry, defaults) for number, entry in enumerate(entries, start=1)
    )
    _refuse_duplicates(path, found)
    return found


def enough_hosts(path: Path, hosts: Sequence[HostEntry], nodes: int) -> None:
    """Refuse a file with fewer hosts than nodes.

    Raises:
        HostsFileError: one line with both numbers.
    """
    if len(hosts) < nodes:
        raise HostsFileError(
            f"--hosts {path}: {len(hosts)} hosts for {nodes} nodes: a host has one node; add "
            "hosts, or ask for fewer by --nodes"
        )


def _defaults(path: Path, told: object) -> dict[str, Any]:
    if not isinstance(told, dict):
        raise HostsFileError(f"--hosts {path}: defaults {shown(told)}: a table is expected")
    shared = tuple(name for name in TYPES if name not in NOT_SHARED)
    _refuse_unknown(path, "[defaults]", told, shared)
    _check_types(path, "[defaults]", told)
    return told


def _entry(path: Path, number: int, told: object, defaults: dict[str, Any]) -> HostEntry:
    place = f"host {number}"
    if not isinstance(told, dict):
        raise HostsFileError(f"--hosts {path}: {place}: a table [[host]] is expected")
    _refuse_unknown(path, place, told, tuple(TYPES))
    for name in ("name", "address"):
        if not told.get(name):
            raise HostsFileError(f"--hosts {path}: {place}: {name} is missing")
    _check_types(path, place, told)
    entry = HostEntry(**{**defaults, **told})
    _check_values(path, entry)
    return entry


def _check_types(path: Path, place: str, told: Mapping[str, object]) -> None:
    for name, value in told.items():
        if not isinstance(value, TYPES[name]) or isinstance(value, bool):
            kind = "a number" if TYPES[name] is int else "a text"
            raise HostsFileError(
                f"--hosts {path}: {place}: {name} {shown(value)}: {kind} is expected"
            )


def _check_values(path: Path, entry: HostEntry) -> None:
    def refuse(text: str) -> None:
        raise HostsFileError(f"--hosts {path}: host {entry.name}: {text}")

    if NAME.fullmatch(entry.name) is None:
        refuse("a name has letters, digits, dots, hyphens and underscores")
    if (mistake := _mistake_in_texts(entry)) is not None:
        refuse(mistake)
    if not 0 < entry.port <= LAST_PORT:
        refuse(f"port {entry.port}: 1 to {LAST_PORT} is expected")
    if entry.fingerprint and FINGERPRINT.fullmatch(entry.fingerprint) is None:
        refuse(
            f"fingerprint {entry.fingerprint}: SHA256: and 43 letters are expected, as "
            "'ssh-keygen -lf KEY.pub' prints"
        )
    if entry.key and not Path(entry.key).expanduser().is_file():
        is_folder = Path(entry.key).expanduser().is_dir()
        refuse(f"key {entry.key}: {'a folder' if is_folder else 'there is no such file'}")
    if not entry.fingerprint and not Path(entry.known_hosts).expanduser().is_file():
        refuse(
            f"known_hosts {entry.known_hosts}: there is no such file; give a fingerprint, or "
            "connect once by hand"
        )


def _mistake_in_texts(entry: HostEntry) -> str | None:
    """Return what is wrong with a text of a host; None if all are right."""
    if ADDRESS.fullmatch(entry.address) is None and not _is_ip(entry.address, 6):
        return (
            f"address {entry.address!r}: a host name or an IP address alone is expected; user and "
            "port are keys of their own"
        )
    if entry.node_address and not _is_ip(entry.node_address, 4):
        return f"node_address {entry.node_address!r}: an IPv4 address is expected"
    for key, default in DEFAULTS.items():
        if not getattr(entry, key).strip():
            return f"{key} is empty: leave the key out for {default!r}"
    try:
        shlex.split(entry.sudo)
    except ValueError as error:
        return f"sudo {entry.sudo!r}: {error}"
    return None


def _is_ip(text: str, version: int) -> bool:
    try:
        return ipaddress.ip_address(text).version == version
    except ValueError:
        return False


def _refuse_unknown(
    path: Path, place: str, told: Mapping[str, object], known: Sequence[str]
) -> None:
    for name in told:
        if name not in known:
            raise HostsFileError(
                f"--hosts {path}: {place}: unknown key {name!r}{nearest(name, known)}: one of "
                f"{', '.join(known)}"
            )


def _refuse_duplicates(path: Path, hosts: Sequence[HostEntry]) -> None:
    names: dict[str, int] = {}
    places: dict[tuple[str, int], str] = {}
    for number, host in enumerate(hosts, start=1):
        if host.name in names:
            raise HostsFileError(
                f"--hosts {path}: host {number}: the name {host.name!r} is that of host "
                f"{names[host.name]} too"
            )
        names[host.name] = number
        place = (host.address, host.port)
        if place in places:
            raise HostsFileError(
                f"--hosts {path}: host {host.name}: {host.address}:{host.port} is that of host "
                f"{places[place]} too"
            )
        places[place] = host.name
