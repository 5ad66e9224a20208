"""A real ssh server in this process, whose commands hang, flood, or drop the connection."""

import socket
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager

import paramiko

from kraftproof.cluster.ssh.hosts_file import HostEntry
from kraftproof.cluster.ssh.login import fingerprint_of

SILENCE_S = 60.0
ANSWERED_S = 0.02
"""Time until the answer to the request is sent, which must come before the end of the command."""
FLOOD = b"x" * 65_536
LARGE = 5 << 20
"""More than twice the window of a channel."""


class Commands(paramiko.ServerInterface):
    """Accepts one key, and does a few commands."""

    def __init__(self, owner: "Server", transport: paramiko.Transport) -> None:
        self.owner = owner
        self.transport = transport

    def check_channel_request(self, kind, chanid):
        if self.owner.refuses_channels:
            time.sleep(SILENCE_S)
        return paramiko.OPEN_SUCCEEDED

    def get_allowed_auths(self, username):
        return "publickey"

    def check_auth_publickey(self, username, key):
        is_known = key == self.owner.login_key
        return paramiko.AUTH_SUCCESSFUL if is_known else paramiko.AUTH_FAILED

    def check_channel_exec_request(self, channel, command):
        name = command.decode()
        self.owner.commands.append(name)
        if name == "never answered":
            time.sleep(SILENCE_S)
        if name == "drop at once":
            self.transport.close()
            return False
        threading.Thread(target=self.carry_out, args=(channel, name), daemon=True).start()
        return True

    def carry_out(self, channel, name):
        time.sleep(ANSWERED_S)
        try:
            self.answer(channel, name)
        except (OSError, EOFError):
            return

    def answer(self, channel, name):
        if name == "hang":
            time.sleep(SILENCE_S)
        if name == "flood":
            while True:
                channel.sendall(FLOOD)
        if name == "drop":
            channel.sendall(b"half of")
            self.transport.close()
            return
        if name == "no status":
            channel.sendall(b"done")
            channel.close()
            return
        if name == "large":
            channel.sendall(b"o" * LARGE)
            channel.sendall_stderr(b"e" * LARGE)
        if name == "count":
            size = 0
            while data := channel.recv(65_536):
                size += len(data)
            channel.sendall(str(size).encode())
        if name == "both":
            channel.sendall(b"out ")
            channel.sendall_stderr(b"err")
        channel.send_exit_status(7 if name == "fail" else 0)
        channel.close()


class Server:
    """Listens on loopback until it is closed."""

    def __init__(self, login_key: paramiko.PKey) -> None:
        self.login_key = login_key
        self.host_key = paramiko.ECDSAKey.generate(bits=256)
        self.commands: list[str] = []
        self.connections = 0
        self.refuses_channels = False
        self.mute: bytes | None = None
        """All that a server says that hangs."""
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.transports: list[paramiko.Transport] = []
        threading.Thread(target=self.accept, daemon=True).start()

    @property
    def port(self) -> int:
        return int(self.listener.getsockname()[1])

    def accept(self) -> None:
        while True:
            try:
                link, _ = self.listener.accept()
            except OSError:
                return
            self.connections += 1
            if self.mute is not None:
                link.sendall(self.mute)
                continue
            transport = paramiko.Transport(link)
            transport.add_server_key(self.host_key)
            self.transports.append(transport)
            transport.start_server(event=threading.Event(), server=Commands(self, transport))

    def close(self) -> None:
        self.listener.close()
        for transport in self.transports:
            transport.sock.close()

    def entry(self, key: str, **fields: object) -> HostEntry:
        told = {
            "name": "alpha",
            "address": "127.0.0.1",
            "port": self.port,
            "user": "kraft",
            "key": key,
            "fingerprint": fingerprint_of(self.host_key),
        }
        return HostEntry(**{**told, **fields})


@contextmanager
def server(folder) -> Iterator[tuple[Server, HostEntry]]:
    """Start a server; yields the server, and the entry of a file of hosts."""
    key = paramiko.ECDSAKey.generate(bits=256)
    path = folder / "key"
    key.write_private_key_file(str(path))
    made = Server(key)
    try:
        yield made, made.entry(str(path))
    finally:
        made.close()
