"""A connection with a watchdog: every call ends by its deadline, and a hung transport is replaced.

paramiko waits without a time-out in several places, such as for the answer to an exec request, for
an exit status after a full window, and for the end of its own thread. Each call therefore runs in
a daemon thread. After the deadline the socket is closed, and the next call logs in again.
"""

import asyncio
import socket
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from typing import Any, BinaryIO, Final, NamedTuple, Protocol, TypeVar

import paramiko

from kraftproof.cluster.ssh.hosts_file import HostEntry
from kraftproof.cluster.ssh.login import CONNECT_S, SshError, log_in

T = TypeVar("T")
DEADLINE_S: Final = 20.0
"""Longest time of an ordinary command, in seconds."""
LOGIN_S: Final = 4 * CONNECT_S
OUTPUT_BYTES: Final = 1 << 24
"""Longest output of a command that is kept in memory."""
CHUNK_BYTES: Final = 1 << 17
SESSIONS: Final = 5
"""Commands at the same time; sshd allows ten by default."""


class Done(NamedTuple):
    """Result of a command: exit status, and output on both streams."""

    status: int
    output: bytes


class Sink(Protocol):
    """Takes the output of a command."""

    def write(self, data: bytes, /) -> object:
        """Take the next bytes."""
        ...


class NotSentError(Exception):
    """The connection was lost before the command was sent."""


class Connection:
    """The connection to one host; logs in when it is first needed, and after each loss."""

    def __init__(self, entry: HostEntry) -> None:
        self.entry = entry
        self.logins = 0
        self._client: paramiko.SSHClient | None = None
        self._login = asyncio.Lock()
        self._sessions = asyncio.Semaphore(SESSIONS)

    async def run(
        self,
        command: str,
        stdin: bytes | BinaryIO = b"",
        *,
        deadline_s: float = DEADLINE_S,
        sink: Sink | None = None,
        is_repeatable: bool = False,
    ) -> Done:
        """Run a command line of the login shell; the answer comes by the deadline or not at all.

        Args:
            command: The command line.
            stdin: The standard input, in memory or a file.
            deadline_s: Seconds until the connection is given up.
            sink: Takes the output, if it may be too long for the memory.
            is_repeatable: Whether the command may be sent again after the connection was lost.

        Raises:
            SshError: no login, no answer in time, or a lost connection; one line.
        """
        async with self._sessions:
            try:
                return await self._once(command, stdin, deadline_s, sink)
            except NotSentError:
                pass
            except ConnectionLostError:
                if not is_repeatable:
                    raise
            try:
                return await self._once(command, stdin, deadline_s, sink)
            except NotSentError as error:
                raise SshError(self.entry.name, f"the connection was lost: {error}") from error

    def close(self) -> None:
        """Give the connection up; the next call logs in again."""
        client, self._client = self._client, None
        if client is not None:
            _abandon(client)

    async def _once(
        self, command: str, stdin: bytes | BinaryIO, deadline_s: float, sink: Sink | None
    ) -> Done:
        name = self.entry.name
        client = await self._logged_in()
        work = partial(_execute, client, command, stdin, sink, deadline_s)
        try:
            return await in_thread(work, deadline_s)
        except TimeoutError:
            self._drop(client)
            shown = command if len(command) < 60 else f"{command[:60]}..."
            raise SshError(
                name, f"no answer in {deadline_s:g} s to {shown!r}; the connection was closed"
            ) from None
        except (paramiko.SSHException, OSError, EOFError) as error:
            self._drop(client)
            text = " ".join(str(error).split()) or type(error).__name__
            raise ConnectionLostError(name, f"the connection was lost: {text}") from error
        except NotSentError:
            self._drop(client)
            raise
        except _TooMuchError:
            self._drop(client)
            raise SshError(name, f"a command printed over {OUTPUT_BYTES >> 20} MiB") from None

    async def _logged_in(self) -> paramiko.SSHClient:
        async with self._login:
            client = self._client
            if client is not None and _is_active(client):
                return client
            self.close()
            try:
                client = await in_thread(partial(log_in, self.entry), LOGIN_S, _abandon)
            except TimeoutError:
                raise SshError(self.entry.name, f"no login in {LOGIN_S:g} s") from None
            self._client = client
            self.logins += 1
            return client

    def _drop(self, client: paramiko.SSHClient) -> None:
        """Give up a connection, unless another has taken its place already."""
        if self._client is client:
            self._client = None
        _abandon(client)


class ConnectionLostError(SshError):
    """The connection was lost after the command was sent, which may have run or not."""


class _TooMuchError(Exception):
    """A command printed more than is kept in memory."""


async def in_thread(
    work: Callable[[], T], deadline_s: float, late: Callable[[T], None] | None = None
) -> T:
    """Return what blocking work returns; after the deadline its thread is left to itself.

    Args:
        work: The work.
        deadline_s: Seconds until a TimeoutError.
        late: Takes the result if nobody waits for it any more.
    """
    loop = asyncio.get_running_loop()
    future: asyncio.Future[T] = loop.create_future()

    def deliver(result: T | None, error: BaseException | None) -> None:
        if future.done():
            if late is not None and error is None:
                late(result)  # type: ignore[arg-type]
        elif error is not None:
            future.set_exception(error)
        else:
            future.set_result(result)  # type: ignore[arg-type]

    def body() -> None:
        try:
            outcome: tuple[T | None, BaseException | None] = (work(), None)
        except BaseException as error:  # noqa: BLE001 - who awaits the future gets it
            outcome = (None, error)
        with suppress(RuntimeError):  # the loop is closed: nobody waits
            loop.call_soon_threadsafe(deliver, *outcome)

    # A daemon: a thread that hangs in paramiko must not keep this process from ending.
    threading.Thread(target=body, name="kraftproof-ssh", daemon=True).start()
    async with asyncio.timeout(deadline_s):
        return await future


def _is_active(client: paramiko.SSHClient) -> bool:
    transport = client.get_transport()
    return transport is not None and bool(transport.is_active())


def _abandon(client: paramiko.SSHClient) -> None:
    """Close a connection without waiting: paramiko's close may wait for a thread that hangs."""
    transport = client.get_transport()
    if transport is not None:
        with suppress(OSError):
            transport.sock.shutdown(socket.SHUT_RDWR)
    threading.Thread(target=client.close, name="kraftproof-ssh-close", daemon=True).start()


def _execute(
    client: paramiko.SSHClient,
    command: str,
    stdin: bytes | BinaryIO,
    sink: Sink | None,
    deadline_s: float,
) -> Done:
    """Run a command over a channel of its own; blocks."""
    deadline = time.monotonic() + deadline_s
    transport = client.get_transport()
    try:
        if transport is None:
            raise NotSentError("it is closed")
        channel = transport.open_session(timeout=deadline_s)
    except (paramiko.SSHException, OSError, EOFError) as error:
        raise NotSentError(" ".join(str(error).split()) or type(error).__name__) from error
    try:
        # One stream: with two, a command that fills the window of one waits for the other's reader.
        channel.set_combine_stderr(True)
        channel.settimeout(deadline_s)
        channel.exec_command(command)
        _send(channel, stdin)
        output = _receive(channel, sink, deadline)
        return Done(_exit_status(channel), output)
    finally:
        channel.close()


def _send(channel: Any, stdin: bytes | BinaryIO) -> None:  # noqa: ANN401 - paramiko has no types
    try:
        if isinstance(stdin, bytes):
            channel.sendall(stdin)
        else:
            while chunk := stdin.read(CHUNK_BYTES):
                channel.sendall(chunk)
        channel.shutdown_write()
    except OSError:
        # The command ended without reading all of its input: its output says why.
        if not channel.eof_received and not channel.closed:
            raise


def _receive(channel: Any, sink: Sink | None, deadline: float) -> bytes:  # noqa: ANN401
    """Read all output before the exit status: a command may wait for room in the window."""
    output = bytearray()
    while chunk := channel.recv(CHUNK_BYTES):
        if time.monotonic() > deadline:
            raise TimeoutError
        if sink is not None:
            sink.write(chunk)
            continue
        output += chunk
        if len(output) > OUTPUT_BYTES:
            raise _TooMuchError
    return bytes(output)


def _exit_status(channel: Any) -> int:  # noqa: ANN401
    status = int(channel.recv_exit_status())
    if status < 0:
        raise EOFError("the command ended without an exit status")
    return status
