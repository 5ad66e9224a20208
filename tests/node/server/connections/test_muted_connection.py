"""A connection that is throttled takes no request until the time has passed (KIP-219)."""

import asyncio
import struct

from kraftproof.node.server.connection import Connection, ConnectionOwner, Slot


class Owner(ConnectionOwner):
    """A listener that answers each request with its bytes, and counts the time by hand."""

    frame_bytes = 100

    def __init__(self) -> None:
        self.taken: list[bytes] = []
        self.timers: list[tuple[int, object]] = []
        self.mute_ns = 0

    def opened(self, connection: Connection) -> bool:
        return True

    def closed(self, connection: Connection) -> None:
        pass

    def refused(self, reason: str) -> None:
        raise AssertionError(reason)

    def call_soon(self, action) -> None:
        action()

    def call_later(self, delay_ns, action) -> None:
        self.timers.append((delay_ns, action))

    def handle(self, connection: Connection, payload: bytes, slot: Slot) -> None:
        self.taken.append(payload)
        if payload.startswith(b"m"):
            slot.mute(int(payload[1:]))
        slot.respond(payload)


class Socket(asyncio.Transport):
    """A socket of which the written bytes are kept."""

    def __init__(self) -> None:
        super().__init__()
        self.written: list[bytes] = []
        self.is_reading = True
        self.is_closed = False

    def get_extra_info(self, name, default=None):
        return ("h", 1)

    def is_closing(self) -> bool:
        return self.is_closed

    def writelines(self, list_of_data) -> None:
        self.written += list_of_data

    def pause_reading(self) -> None:
        self.is_reading = False

    def resume_reading(self) -> None:
        self.is_reading = True

    def abort(self) -> None:
        self.is_closed = True


def connected() -> tuple[Owner, Connection, Socket]:
    owner, socket = Owner(), Socket()
    connection = Connection(owner)
    connection.connection_made(socket)
    return owner, connection, socket


def frames(*payloads: bytes) -> bytes:
    return b"".join(struct.pack(">i", len(payload)) + payload for payload in payloads)


def test_requests_behind_a_throttled_answer_wait_for_the_time() -> None:
    owner, connection, socket = connected()
    connection.data_received(frames(b"a", b"m500", b"b", b"c"))
    assert owner.taken == [b"a", b"m500"]
    assert socket.written == [b"a", b"m500"], "the throttled answer itself does not wait"
    assert not socket.is_reading
    ((delay_ns, unmute),) = owner.timers
    assert delay_ns == 500
    unmute()
    assert owner.taken == [b"a", b"m500", b"b", b"c"]
    assert socket.is_reading


def test_the_longest_of_several_throttle_times_counts() -> None:
    owner, connection, _ = connected()
    connection.mute(300)
    connection.mute(100)
    connection.data_received(frames(b"a"))
    timers = dict(owner.timers)
    timers[100]()
    assert owner.taken == []
    timers[300]()
    assert owner.taken == [b"a"]


def test_a_client_that_has_gone_is_not_served_after_the_time() -> None:
    owner, connection, _ = connected()
    connection.data_received(frames(b"m500", b"b"))
    connection.connection_lost(None)
    owner.timers[0][1]()
    assert owner.taken == [b"m500"]
