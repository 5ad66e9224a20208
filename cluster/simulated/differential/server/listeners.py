"""Compare a listener with its rules: limits, logins, sessions, rates, and the times of all ends."""

from contextlib import redirect_stderr
from io import StringIO
from random import Random
from typing import Final, cast

from kraftproof.cluster.simulated.differential.difference import check, same
from kraftproof.cluster.simulated.differential.server.drawn_clients import (
    LOGIN_BYTES,
    METADATA,
    OTHER,
    PLAIN,
    SIZE_BYTES,
    USERS,
    VERSIONS,
    DrawnClient,
    DrawnRates,
    authenticate,
    framed,
    handshake,
    with_logins,
)
from kraftproof.cluster.simulated.differential.server.virtual_loop import (
    VirtualLoop,
    VirtualSocket,
    virtual_loop,
)
from kraftproof.node.core.base.types import Offset, milliseconds
from kraftproof.node.core.metadata.image import EMPTY_IMAGE
from kraftproof.node.properties.listener_security import PLAINTEXT_SECURITY
from kraftproof.node.properties.listeners import Binding
from kraftproof.node.server.clocks import read_clocks
from kraftproof.node.server.connection import Connection, Slot
from kraftproof.node.server.listener import Listener, Logins
from kraftproof.node.wire.errors import ErrorCode
from kraftproof.node.wire.messages import Message, sasl_authenticate_response

STEPS: Final = 70
FAILED_DELAY_NS: Final = milliseconds(90)
REAUTHENTICATION_NS: Final = milliseconds(1_000)
LOOKS: Final = 4
ANONYMOUS: Final = "ANONYMOUS"
FRAME_BYTES: Final = 400
"""Largest frame after the login."""
TIMES_MS: Final = (1, 40, 1_200, 3_000, 9_000, 31_000)


class _Compared:
    """A listener with its clients."""

    def __init__(self, random: Random, loop: VirtualLoop) -> None:
        self._random, self._loop = random, loop
        self._has_login = random.random() < 0.6
        self._reauth_ms = random.choice((0, 4_000))
        self._limit = random.choice((2, 4))
        self._idle_ns = random.choice((None, milliseconds(8_003), milliseconds(50_003)))
        self._rates = DrawnRates()
        self._clients: list[DrawnClient] = []
        """The open connections, oldest first."""
        self._asked: list[tuple[Connection, Slot]] = []
        self._looks_ns = loop.now_ns
        security = with_logins(self._reauth_ms) if self._has_login else PLAINTEXT_SECURITY
        self._listener = Listener(
            Binding(name="L", host="", port=0, is_controller=False, security=security),
            limit=self._limit,
            frame_bytes=FRAME_BYTES,
            on_request=lambda _, connection, __, slot: self._asked.append((connection, slot)),
            logins=Logins(
                published=lambda: (EMPTY_IMAGE, Offset(0)),
                now=read_clocks,
                failed_delay_ms=FAILED_DELAY_NS // milliseconds(1),
                client_versions=dict,
            ),
            rates=self._rates,
            idle_ns=self._idle_ns,
        )
        try:
            self._listener.open().send(None)
        except StopIteration:
            return
        raise AssertionError("a virtual loop listens at once")

    def step(self) -> None:
        """Let a client or the clock act, and compare."""
        random = self._random
        kind = random.random()
        if kind < 0.2 or not self._clients:
            self._connect()
        elif kind < 0.75:
            self._ask(random.choice(self._clients))
        elif kind < 0.83:
            self._answer(random.choice(self._clients))
        elif kind < 0.85:
            self._renew(random.choice(self._clients))
        else:
            self._pass_time(milliseconds(random.choice(TIMES_MS)))
        self._settle()
        self._clients = [client for client in self._clients if not client.is_over]

    def _settle(self) -> None:
        self._loop.run()
        self._compare()

    def _compare(self) -> None:
        for client in self._clients:
            same(f"whether {_name(client)} is open", client.socket.is_open, not client.is_over)

    def _connect(self) -> None:
        """Open a connection; a full listener makes room by its oldest unproven connection."""
        assert self._loop.factory is not None, "the listener is open"
        self._rates.next_wait_ms = self._random.choice((0, 0, 0, 0, 0, 130))
        now_ns = self._loop.now_ns
        counted = [client for client in self._clients if client.is_counted]
        slowed = len(self._clients) - len(counted)
        unproven = [client for client in counted if self._has_login and not client.is_proven]
        has_room = len(counted) < self._limit or bool(unproven)
        if len(counted) >= self._limit and unproven:
            unproven[0].is_over = True
        client = DrawnClient(
            socket=VirtualSocket(self._loop),
            protocol=self._loop.factory(),
            opened_ns=now_ns,
            active_ns=now_ns,
            open=[],
        )
        if not has_room:
            client.is_over = True
        elif self._rates.next_wait_ms:
            client.is_counted, client.is_over = False, slowed >= self._limit
            client.failed_at_ns = now_ns + milliseconds(self._rates.next_wait_ms)
        client.socket.connect(client.protocol)
        self._clients.append(client)

    def _ask(self, client: DrawnClient) -> None:
        """Send a request, mostly the right one of a login."""
        if not client.goes_on:
            return
        random = self._random
        own = [] if client.user is None else [client.user] * 20
        user = random.choice([*USERS, *own])
        right = authenticate(user, USERS[user]) if client.logs_in else handshake(PLAIN)
        is_login = self._has_login and (client.logs_in or not client.is_proven)
        drawn = ((right,) if is_login else (METADATA,)) * 6
        guess = authenticate(user, "guess")
        wrong = (guess, METADATA, VERSIONS, handshake(PLAIN), handshake(OTHER))
        message = random.choice((*drawn, *(right,) * len(own[:8]), *wrong))
        data = framed(message, "x" * random.choice((0, 0, 0, 0, 0, 0, 0, 250, 500)))
        has_next = client.logs_in and (message == guess or random.random() < 0.5)
        self._send(client, message, data, has_next=has_next)

    def _renew(self, client: DrawnClient) -> None:
        """Log in again within the session, and ask after the end that the session had before."""
        if client.session_ends_ns is None or client.logs_in or client.user is None:
            return
        first_end_ns = client.session_ends_ns
        due_ns = (client.since_ns or 0) + REAUTHENTICATION_NS + milliseconds(500)
        self._pass_time(max(due_ns - self._loop.now_ns, 0))
        for message in (handshake(client.mechanism), authenticate(client.user, USERS[client.user])):
            self._ask_for(client, message)
        self._pass_time(max(first_end_ns + 1 - self._loop.now_ns, 0))
        self._ask_for(client, METADATA)

    def _ask_for(self, client: DrawnClient, message: Message) -> None:
        """Send a request if the connection still takes any, and compare."""
        if client.goes_on:
            self._send(client, message, framed(message), has_next=False)
            self._settle()

    def _send(self, client: DrawnClient, message: Message, data: bytes, *, has_next: bool) -> None:
        """Send a request, and maybe the next one behind; only a good login lets that one pass."""
        before, size = len(self._asked), len(data) - SIZE_BYTES
        data += framed(METADATA) if has_next else b""
        client.active_ns = self._loop.now_ns
        client.send(data, self._random)
        self._judge(client, message, size)
        if has_next and client.goes_on:
            self._judge(client, METADATA, len(framed(METADATA)) - SIZE_BYTES)
        asked = self._asked[before:]
        same(f"the requests of {_name(client)} for the node", len(asked), int(self._is_asked))
        for connection, slot in asked:
            name = client.user or ANONYMOUS
            same(f"the principal of {_name(client)}", connection.principal.name, name)
            client.open.append(slot)

    def _judge(self, client: DrawnClient, message: Message, size: int) -> None:
        """Take a request by the rules; compare the answer to a request of the login."""
        now_ns, self._is_asked = self._loop.now_ns, False
        is_done = client.user is not None and not client.logs_in
        if size > (FRAME_BYTES if client.is_proven or not self._has_login else LOGIN_BYTES):
            client.is_over = True
            return
        is_handshake = message in (handshake(PLAIN), handshake(OTHER))
        if self._has_login and is_done and is_handshake:
            assert client.since_ns is not None, "a login has its time"
            is_done = now_ns - client.since_ns < REAUTHENTICATION_NS
            self._is_asked = is_done
        elif is_done or not self._has_login:
            is_late = client.session_ends_ns is not None and now_ns > client.session_ends_ns
            client.is_over, self._is_asked = is_late, not is_late
            return
        if is_done:
            return
        answer = client.read(self._loop, message) if not client.open else None
        if message is METADATA or (message is VERSIONS and client.knows_versions):
            client.is_over = True
        elif message is VERSIONS:
            client.is_over = client.logs_in or client.user is not None
            client.knows_versions = True
        elif is_handshake:
            self._shake_hands(client, PLAIN if message == handshake(PLAIN) else OTHER)
        else:
            self._log_in(client, message, answer)

    def _shake_hands(self, client: DrawnClient, mechanism: str) -> None:
        """Choose the mechanism; a later login keeps the mechanism (KIP-368)."""
        if client.logs_in:
            client.failed_at_ns = self._loop.now_ns + FAILED_DELAY_NS
        else:
            client.is_over = client.user is not None and mechanism != client.mechanism
        client.mechanism, client.logs_in, client.knows_versions = mechanism, True, True

    def _log_in(self, client: DrawnClient, message: Message, answer: Message | None) -> None:
        """Judge user and password; a later login must be of the same user."""
        right = [user for user in USERS if message == authenticate(user, USERS[user])]
        right = right if client.mechanism == PLAIN else []
        if not client.logs_in:
            client.is_over = True
        elif not right:
            client.failed_at_ns = self._loop.now_ns + FAILED_DELAY_NS
            check(f"the failed login of {_name(client)} is answered later", answer is None)
        elif client.user not in (None, right[0]):
            client.is_over = True
        else:
            client.user, client.logs_in, client.is_proven = right[0], False, True
            client.since_ns, client.session_ends_ns = self._loop.now_ns, None
            if self._reauth_ms:
                client.session_ends_ns = self._loop.now_ns + milliseconds(self._reauth_ms)
            if answer is not None:
                self._compare_login(client, answer)

    def _compare_login(self, client: DrawnClient, answer: Message) -> None:
        found = cast("sasl_authenticate_response.SaslAuthenticateResponse", answer)
        result = (found.error_code, found.session_lifetime_ms)
        same(f"the login of {_name(client)}", result, (int(ErrorCode.NONE), self._reauth_ms))

    def _answer(self, client: DrawnClient) -> None:
        """Let the node answer the requests of a client, and the client read."""
        for slot in client.open:
            slot.respond(b"answer")
        if client.open:
            client.active_ns = self._loop.now_ns
        client.open.clear()
        client.socket.written = b""
        client.socket.read_all()

    def _pass_time(self, for_ns: int) -> None:
        """Let time pass; clients read all along, and connections end at their times."""
        end_ns = self._loop.now_ns + for_ns
        while True:
            for client in self._clients:
                client.socket.read_all()
            ends = {id(each): each.end_ns(has_login=self._has_login) for each in self._clients}
            due_ns = min(ends.values(), default=end_ns + 1)
            look_ns = end_ns + 1
            if self._idle_ns is not None:
                look_ns = self._looks_ns + self._idle_ns // LOOKS
            at_ns = min(due_ns, look_ns)
            if at_ns > end_ns:
                break
            self._loop.run(at_ns - 1 - self._loop.now_ns)
            self._compare()
            self._loop.run(1)
            for client in self._clients:
                client.is_over = client.is_over or ends[id(client)] <= at_ns
                if self._idle_ns is not None and at_ns == look_ns:
                    client.is_over |= client.is_idle(self._loop.now_ns - self._idle_ns)
            if at_ns == look_ns:
                self._looks_ns = look_ns
        self._loop.run(end_ns - self._loop.now_ns)


def _name(client: DrawnClient) -> str:
    return f"the connection of {client.user} since {client.opened_ns // milliseconds(1)} ms"


def compare_listeners(random: Random) -> None:
    """Let clients connect, log in and ask at a listener, and compare with the model.

    Raises:
        DifferenceError: the node has another result than the model.
    """
    # a listener says on standard error why it ends connections
    with virtual_loop() as loop, redirect_stderr(StringIO()):
        compared = _Compared(random, loop)
        for _ in range(STEPS):
            compared.step()
