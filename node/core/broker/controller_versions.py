"""Learn the API versions of the active controller, to advertise no others (KIP-590, KIP-511).

A client of the broker may use a forwarded request only in a version that the controller reads, too.
The broker asks each new controller for its versions. Until the answer, the versions of the last
controller hold, or those of this node at first. The simulator has nodes of one version only, so
that the question is off there.
"""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Final

from kraftproof.node.core.base.config import NodeConfig
from kraftproof.node.core.base.types import NO_NODE, Instant, Monotonic, NodeId
from kraftproof.node.core.broker.backoff import backoff_ns
from kraftproof.node.core.outbox import Outbox
from kraftproof.node.core.raft.raft import Raft
from kraftproof.node.core.served import FORWARDABLE, served_versions
from kraftproof.node.wire.errors import ErrorCode
from kraftproof.node.wire.messages import (
    Message,
    api_versions_request,
    api_versions_response,
)

if TYPE_CHECKING:
    from random import Random

VERSION: Final = 3
"""The version of ApiVersions that every controller of a KRaft cluster reads."""
SOFTWARE: Final = "kraftproof"
NO_VERSION: Final = (0, -1)
_OWN: Final = served_versions(on_controller_listener=True)
_SERVED: Final = served_versions(on_controller_listener=False)

Versions = Mapping[int, tuple[int, int]]
"""The oldest and the newest version, by API key."""


def advertised(served: Versions, controller: Versions) -> Versions:
    """Return the versions of a broker, forwarded requests only as far as the controller has them.

    A forwarded request without a common version is left out.
    """
    found: dict[int, tuple[int, int]] = {}
    for key, own in served.items():
        other = controller.get(key, NO_VERSION) if key in FORWARDABLE else own
        oldest, newest = max(own[0], other[0]), min(own[1], other[1])
        if oldest <= newest:
            found[key] = (oldest, newest)
    return found


class ControllerVersions:
    """The versions of the active controller, as far as the broker knows them."""

    def __init__(self, config: NodeConfig, raft: Raft, outbox: Outbox, random: "Random") -> None:
        self._config = config
        self._raft = raft
        self._outbox = outbox
        self._random = random
        self._asked: tuple[NodeId, int] = (NO_NODE, -1)
        """The controller that was asked last, and its epoch."""
        self._failures = 0
        self._due: Monotonic | None = None
        self._advertised: Versions = _SERVED

    @property
    def advertised(self) -> Versions:
        """The API versions of this broker at present."""
        return self._advertised

    def advance(self) -> None:
        """Ask a new controller."""
        leader = self._raft.leader
        current = (leader, self._raft.epoch)
        if leader == NO_NODE or current == self._asked or not self._config.asks_controller_versions:
            return
        self._asked, self._failures, self._due = current, 0, None
        if leader == self._config.node_id:
            self._advertised = advertised(_SERVED, _OWN)
        else:
            self._ask()

    def tick(self, now: Instant) -> None:
        """Repeat a question without an answer."""
        if self._due is not None and self._due <= now.monotonic:
            self._due = None
            self._ask()

    def deadline(self) -> Monotonic | None:
        """Return the time of the next tick."""
        return self._due

    def _ask(self) -> None:
        asked = self._asked
        request = api_versions_request.ApiVersionsRequest(
            client_software_name=SOFTWARE, client_software_version=str(VERSION)
        )
        self._outbox.send(
            asked[0],
            request,
            VERSION,
            self._config.timeouts.request_ns,
            lambda answer, now: self._answered(asked, answer, now),
        )

    def _answered(self, asked: tuple[NodeId, int], answer: Message | None, now: Instant) -> None:
        if asked != self._asked:
            return  # of an earlier controller
        match answer:
            case api_versions_response.ApiVersionsResponse(error_code=ErrorCode.NONE):
                versions = {
                    each.api_key: (each.min_version, each.max_version) for each in answer.api_keys
                }
                self._advertised = advertised(_SERVED, versions)
            case _:
                pause_ns = backoff_ns(self._config.timeouts, self._failures, self._random)
                self._failures += 1
                self._due = Monotonic(now.monotonic + pause_ns)
