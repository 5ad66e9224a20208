"""The voters as this node reaches them: a channel for each voter and kind of traffic.

A Fetch may wait at the leader for half a second and answers keep the order of requests, so
Fetch has a channel of its own; so have forwarded requests. Not: connections (channel.py).
"""

from collections.abc import Mapping
from enum import Enum

from kraftproof.node.core.base.config import NodeConfig
from kraftproof.node.core.base.types import NodeId
from kraftproof.node.core.effects import Forward, Send
from kraftproof.node.server.channel import AnswerHandler, Channel
from kraftproof.node.server.envelope import open_response, wrap_request
from kraftproof.node.wire.errors import ErrorCode, WireError
from kraftproof.node.wire.messages.generated.envelope_response import EnvelopeResponse
from kraftproof.node.wire.messages.generated.fetch_request import FetchRequest
from kraftproof.node.wire.messages.generated.fetch_snapshot_request import FetchSnapshotRequest
from kraftproof.node.wire.schema import Message

ENVELOPE_VERSION = 0


class _Lane(Enum):
    """Kinds of traffic that must not wait for each other."""

    FETCH = "fetch"
    FORWARD = "forward"
    OTHER = "other"


class Peers:
    """All channels to voters."""

    __slots__ = ("_channels", "_client_id", "_hosts", "_node_id", "_voters")

    def __init__(self, config: NodeConfig, hosts: Mapping[str, str]) -> None:
        self._client_id = f"node-{config.node_id}"
        self._node_id = config.node_id
        self._hosts = hosts
        self._voters = {voter.node_id: voter for voter in config.voters}
        self._channels: dict[tuple[NodeId, _Lane], Channel] = {}

    def send(self, effect: Send, on_answer: AnswerHandler) -> None:
        """Ask a voter; exactly one call of `on_answer` follows."""
        is_fetch = isinstance(effect.message, FetchRequest | FetchSnapshotRequest)
        lane = _Lane.FETCH if is_fetch else _Lane.OTHER
        channel = self._channel(effect.destination, lane)
        channel.request(effect.message, effect.version, effect.timeout_ns, on_answer)

    def forward(self, effect: Forward, on_answer: AnswerHandler) -> None:
        """Ask a voter in an envelope; the answer is what the envelope held, or its refusal.

        Where nothing takes a connection there is no controller, which is answered for it: that
        the request has certainly not run is what lets the core send it elsewhere.
        """

        def opened(message: Message | None) -> None:
            inner: Message | None = None
            if isinstance(message, EnvelopeResponse):
                try:
                    inner = open_response(message, effect)
                except WireError:
                    inner = None
            on_answer(inner)

        def unsent() -> None:
            on_answer(EnvelopeResponse(error_code=ErrorCode.NOT_CONTROLLER))

        channel = self._channel(effect.destination, _Lane.FORWARD)
        channel.request(
            wrap_request(effect),
            ENVELOPE_VERSION,
            effect.timeout_ns,
            opened,
            unsent,
            effect.connect_ns,
        )

    @property
    def unknown_voters(self) -> int:
        """How many voters, but for this node, it holds no endpoint of yet (595-71)."""
        known = {destination for destination, _ in self._channels}
        return len(self._voters.keys() - known - {self._node_id})

    def close(self) -> None:
        """End all connections."""
        for channel in self._channels.values():
            channel.drop()

    def _channel(self, destination: NodeId, lane: _Lane) -> Channel:
        channel = self._channels.get((destination, lane))
        if channel is None:
            voter = self._voters[destination]
            host = self._hosts.get(voter.host, voter.host)
            channel = Channel(host, voter.port, self._client_id)
            self._channels[destination, lane] = channel
        return channel
