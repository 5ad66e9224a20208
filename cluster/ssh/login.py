"""Log in to a host: a connection whose key was verified, or one line with the reason.

The key of the host is verified before anything is sent: by the fingerprint of the entry, otherwise
by the file of known hosts. An unknown key is refused and never added.
"""

import base64
import getpass
import hashlib
import logging
import socket
import time
from pathlib import Path
from typing import Any, Final

import paramiko
from paramiko.ssh_exception import NoValidConnectionsError
from typing_extensions import override

from kraftproof.cluster.protocol import ClusterError
from kraftproof.cluster.ssh.hosts_file import HostEntry

CONNECT_S: Final = 10.0
KEEPALIVE_S: Final = 15
"""Firewalls on the way forget connections that are idle for longer."""
NO_SESSION: Final = ("banner", "No existing session")
"""Texts of paramiko's errors where the other side never began to speak ssh; the second comes if the
time-out of the negotiation ends first."""
_LOG: Final = logging.getLogger("paramiko")
_LOG.addHandler(logging.NullHandler())
_LOG.propagate = False  # its thread prints tracebacks; our errors say the same in one line


class SshError(ClusterError):
    """A host can't be used, or did not do what it was told; one line that names the host."""

    def __init__(self, host: str, reason: str) -> None:
        super().__init__(f"host {host}: {reason}")
        self.reason = reason


class _UnknownKeyError(paramiko.SSHException):  # type: ignore[misc]
    """The host's key is not the expected key; the text says which key the host has."""


class _Verifier(paramiko.MissingHostKeyPolicy):  # type: ignore[misc]
    """Accepts the key of one fingerprint; without a fingerprint no key."""

    def __init__(self, entry: HostEntry) -> None:
        self._entry = entry

    @override
    def missing_host_key(self, client: Any, hostname: str, key: Any) -> None:
        entry, found = self._entry, fingerprint_of(key)
        if entry.fingerprint and found == entry.fingerprint:
            return
        if entry.fingerprint:
            raise _UnknownKeyError(
                f"the host has another key: {found}, not {entry.fingerprint}: another machine "
                "answers there, or the key was changed"
            )
        raise _UnknownKeyError(
            f"its key {found} is not in {entry.known_hosts}: compare the key, then give "
            "fingerprint in the file of hosts"
        )


def fingerprint_of(key: Any) -> str:  # noqa: ANN401 - paramiko has no types
    """Return the fingerprint of a public key, as ssh-keygen prints it."""
    digest = hashlib.sha256(key.asbytes()).digest()
    return f"SHA256:{base64.b64encode(digest).decode().rstrip('=')}"


def log_in(entry: HostEntry) -> paramiko.SSHClient:
    """Return a connection to a host; blocks for some seconds at most, or see connection.py.

    Raises:
        SshError: the host can't be reached, has another key, or refuses the login.
    """
    client, begun_s = paramiko.SSHClient(), time.monotonic()
    client.set_missing_host_key_policy(_Verifier(entry))
    try:
        if not entry.fingerprint:
            client.load_host_keys(str(Path(entry.known_hosts).expanduser()))
        client.connect(
            entry.address,
            port=entry.port,
            username=entry.user or getpass.getuser(),
            pkey=_key_of(entry) if entry.key else None,
            # Each refused key of an agent counts, and a host refuses the login after six.
            allow_agent=not entry.key,
            look_for_keys=not entry.key,
            timeout=CONNECT_S,
            banner_timeout=CONNECT_S,
            auth_timeout=CONNECT_S,
            channel_timeout=CONNECT_S,
        )
        client.get_transport().set_keepalive(KEEPALIVE_S)
    except SshError:
        client.close()
        raise
    except (paramiko.SSHException, OSError, EOFError, ValueError) as error:
        client.close()
        is_late = time.monotonic() - begun_s >= CONNECT_S
        raise SshError(entry.name, _reason(entry, error, is_late=is_late)) from error
    return client


def _key_of(entry: HostEntry) -> Any:  # noqa: ANN401 - paramiko has no types
    """Return the private key of an entry.

    Raises:
        SshError: the file has no key, or has a key with a passphrase.
    """
    try:
        return paramiko.PKey.from_path(Path(entry.key).expanduser())
    except (TypeError, paramiko.PasswordRequiredException) as error:
        text = f"the key {entry.key} has a passphrase: add it to an agent, and give no key"
        raise SshError(entry.name, text) from error
    except (ValueError, paramiko.SSHException) as error:
        raise SshError(entry.name, f"the key {entry.key} is no private key") from error


def _place(entry: HostEntry) -> str:
    address = f"[{entry.address}]" if ":" in entry.address else entry.address
    return f"{address}:{entry.port}"


def _reason(entry: HostEntry, error: Exception, *, is_late: bool) -> str:
    """Return the reason of a failed login in one line."""
    match error:
        case _UnknownKeyError():
            return str(error)
        case paramiko.BadHostKeyException():
            expected = fingerprint_of(error.expected_key)
            return (
                f"the host has another key: {fingerprint_of(error.key)}, not {expected} of "
                f"{entry.known_hosts}: another machine answers there, or the key was changed"
            )
        case paramiko.AuthenticationException():
            keys = f"the key {entry.key}" if entry.key else "every key of the agent and ~/.ssh"
            return f"{_place(entry)} refuses {keys} for the user {entry.user or getpass.getuser()}"
        case paramiko.SSHException() if "No authentication methods" in str(error):
            return "there is no key: your agent and ~/.ssh have none; give one by key"
        case socket.gaierror():
            return f"the address {entry.address} is unknown: {error.strerror}"
        case NoValidConnectionsError():
            causes = list(error.errors.values())
            return f"{_place(entry)} can't be reached: {causes[0].strerror or causes[0]}"
        case TimeoutError():
            return f"{_place(entry)} can't be reached: no answer in {CONNECT_S:g} s"
        case paramiko.SSHException() if any(text in str(error) for text in NO_SESSION):
            waited = f" in {CONNECT_S:g} s" if is_late else ""
            return f"{_place(entry)} does not answer as an ssh server{waited}"
        case _:
            text = " ".join(str(error).split()) or type(error).__name__
            return f"{_place(entry)} can't be used: {text}"
