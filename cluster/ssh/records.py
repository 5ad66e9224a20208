"""Records of runs on hosts: in the run directory, and for sweeps in the user's runtime directory.

A record is written before anything is done on a host, so that `kraftproof heal` and the next sweep
find the hosts of a harness that was killed.
"""

from pathlib import Path
from typing import Final

import msgspec

from kraftproof.cluster.local.ownership import runtime_directory
from kraftproof.cluster.owner import Owner
from kraftproof.cluster.ssh.hosts_file import HostEntry, HostsFileError

RECORD: Final = "hosts.json"


class HostsRecord(msgspec.Struct, frozen=True, kw_only=True):
    """A run on hosts: its name there, its owner, and its hosts with their logins (no secrets).

    Attributes:
        run: The name of the run on its hosts.
        owner: The harness.
        hosts: The hosts that may have something of the run.
        tries: Number of sweeps that could not heal one of them.
    """

    run: str
    owner: Owner
    hosts: tuple[HostEntry, ...]
    tries: int = 0


def write_record(directory: Path, record: HostsRecord) -> None:
    """Write the record of a run at both places."""
    data = msgspec.json.format(msgspec.json.encode(record)) + b"\n"
    (directory / RECORD).write_bytes(data)
    _registered(record.run).write_bytes(data)


def update(record: HostsRecord) -> None:
    """Write the record of a run for the next sweep."""
    _registered(record.run).write_bytes(msgspec.json.encode(record))


def forget(run: str) -> None:
    """Remove a run from the runtime directory, once nothing of it is left on its hosts."""
    _registered(run).unlink(missing_ok=True)


def read_record(directory: Path) -> HostsRecord | None:
    """Return the record in a run directory; None for a run without hosts.

    Raises:
        HostsFileError: the record can't be read.
    """
    path = directory / RECORD
    if not path.is_file():
        return None
    try:
        return msgspec.json.decode(path.read_bytes(), type=HostsRecord)
    except msgspec.DecodeError as error:
        raise HostsFileError(f"{path}: {error}") from error


def registered() -> list[HostsRecord]:
    """Return the records of this user's runs that may have left something on hosts."""
    found = []
    for path in sorted(_folder().glob("*.json")):
        try:
            found.append(msgspec.json.decode(path.read_bytes(), type=HostsRecord))
        except msgspec.DecodeError:
            path.unlink()
    return found


def _registered(run: str) -> Path:
    return _folder() / f"{run}.json"


def _folder() -> Path:
    folder = runtime_directory() / "ssh"
    folder.mkdir(mode=0o700, exist_ok=True)
    return folder
