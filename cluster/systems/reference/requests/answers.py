"""Judge the answers of one connection: each request once, in order, in its version, or the end.

The judge knows what a client sent and what came back. The contents of an answer are judged by the
specification of the controller (checkers/kraft), the invariants and the workload's model.
"""

import struct
from collections import deque
from collections.abc import Callable
from typing import Final

from msgspec import Struct

from kraftproof.cluster.systems.reference.requests.case import Expects, Send
from kraftproof.cluster.systems.reference.requests.misfit import misfit
from kraftproof.node.server.connection import MAX_IN_FLIGHT
from kraftproof.node.wire.codec import SUPPORTED, decode_request, decode_response
from kraftproof.node.wire.errors import ErrorCode, WireError
from kraftproof.node.wire.headers import split_request, split_response
from kraftproof.node.wire.messages import Message, api_versions_response

SIZE: Final = struct.Struct(">i")
HEADER: Final = struct.Struct(">hhi")
MOST_ANSWER_BYTES: Final = 64 << 20
API_VERSIONS: Final = 18
MOST_NAMED: Final = 5
"""Number of unanswered requests that a problem names."""


class Outstanding(Struct):
    """A frame that was sent, and the time from which its answer is due."""

    send: Send
    since_ns: int
    """The time of the frame, or of the answer that let the node take the frame."""


class ConnectionJudge:
    """What was sent on a connection, what came back, and the first thing that was wrong."""

    def __init__(self, on_answer: Callable[[Message], None], slack_ms: int) -> None:
        self.problem: str | None = None
        """The first problem, in one line."""
        self._on_answer = on_answer
        self._slack_ms = slack_ms
        self._outstanding: deque[Outstanding] = deque()
        self._buffer = bytearray()
        self._may_end = False
        """Whether a frame was sent after which a node may end the connection."""
        self._has_ended = False

    @property
    def is_done(self) -> bool:
        """Whether every answer has come, the connection has ended, or a problem is known."""
        return self._has_ended or self.problem is not None or not self._outstanding

    def sent(self, send: Send, now_ns: int) -> None:
        """Record a frame that has left the client."""
        if send.expects is not Expects.ANSWER:
            self._may_end = True
        if send.expects is not Expects.NOTHING:
            self._outstanding.append(Outstanding(send, now_ns))

    def received(self, data: bytes, now_ns: int) -> None:
        """Judge bytes that came from the node, also bytes after the last answer."""
        buffer = self._buffer
        buffer += data
        while self.problem is None and len(buffer) >= SIZE.size:
            size: int = SIZE.unpack_from(buffer)[0]
            if not 0 < size <= MOST_ANSWER_BYTES:
                self.problem = f"an answer of {size} bytes"
                return
            if len(buffer) < SIZE.size + size:
                return
            payload = bytes(buffer[SIZE.size : SIZE.size + size])
            del buffer[: SIZE.size + size]
            self.problem = self._judge(payload)
            if len(self._outstanding) >= MAX_IN_FLIGHT:
                self._outstanding[MAX_IN_FLIGHT - 1].since_ns = now_ns  # only now taken

    def ended(self, *, by_node: bool) -> None:
        """Record the end of the connection: by the node's own code, or with the node's process."""
        self._has_ended = True
        if by_node and self.problem is None and not self._may_end and self._outstanding:
            about = ", ".join([one.send.about for one in self._outstanding][:MOST_NAMED])
            self.problem = f"the node hung up on well-formed requests: {about}"

    def overdue(self, now_ns: int) -> None:
        """Record the time; the oldest frame may be overdue."""
        if self.is_done:
            return
        oldest = self._outstanding[0]
        if oldest.send.within_ms is None:
            return
        allowed_ms = oldest.send.within_ms + self._slack_ms
        if now_ns > oldest.since_ns + allowed_ms * 1_000_000:
            self.problem = f"no answer within {allowed_ms} ms: {oldest.send.about}"

    def _judge(self, payload: bytes) -> str | None:
        if len(payload) < SIZE.size:
            return f"an answer of {len(payload)} bytes has no correlation id"
        correlation_id: int = SIZE.unpack_from(payload)[0]
        if not self._outstanding:
            return f"an answer that nobody asked for, with correlation id {correlation_id}"
        send = self._outstanding.popleft().send
        asked = send.frame[SIZE.size : SIZE.size + HEADER.size]
        if len(asked) < HEADER.size:
            return f"an answer to {send.about}"
        api_key, version, wanted = HEADER.unpack(asked)
        if correlation_id != wanted:
            return (
                f"the answer has correlation id {correlation_id}, the request {wanted}: "
                f"{send.about}"
            )
        problem = self._read(send, payload, api_key, version)
        return None if problem is None else f"{problem}: {send.about}"

    def _read(self, send: Send, payload: bytes, api_key: int, version: int) -> str | None:
        """Return the problem of an answer whose correlation id is right."""
        is_known = (
            api_key in SUPPORTED and SUPPORTED[api_key][0] <= version <= SUPPORTED[api_key][1]
        )
        try:
            if not is_known:
                return _of_unknown(payload, api_key)
            _, body = split_response(payload, api_key, version)
            answer = decode_response(api_key, version, body)
        except WireError as error:
            return f"the answer is no {api_key} v{version}: {error}"
        self._on_answer(answer)
        if send.expects is not Expects.ANSWER:
            return None
        _, body = split_request(send.frame[SIZE.size :])
        return misfit(decode_request(api_key, version, body), answer)


def _of_unknown(payload: bytes, api_key: int) -> str | None:
    """Return the problem of an answer to a version that the node does not know (KIP-511)."""
    if api_key != API_VERSIONS:
        return "an answer to an API or a version that nobody knows"
    _, body = split_response(payload, api_key, 0)
    answer = decode_response(api_key, 0, body)
    assert isinstance(answer, api_versions_response.ApiVersionsResponse), "the key says so"
    if answer.error_code != ErrorCode.UNSUPPORTED_VERSION:
        return f"error {answer.error_code}, where 35 says that the version is unknown"
    return None
