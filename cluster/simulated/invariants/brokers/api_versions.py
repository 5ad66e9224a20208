"""The invariant of the answers to ApiVersions: the served versions and the features (KIP-511).

A client chooses the version of each request by this answer, so a wrong entry breaks every client.
"""

from typing import ClassVar, Final

from typing_extensions import override

from kraftproof.cluster.simulated.invariants.invariant import Invariant, ProcessView, Requests
from kraftproof.node.core.base.quorum_state import QuorumState
from kraftproof.node.core.events import Received
from kraftproof.node.core.metadata.image import EMPTY_IMAGE, MetadataImage
from kraftproof.node.wire.codec import SUPPORTED
from kraftproof.node.wire.errors import ErrorCode
from kraftproof.node.wire.messages import Message, api_versions_request, api_versions_response

ApiVersionsResponse = api_versions_response.ApiVersionsResponse
OF_BROKERS: Final = frozenset(
    (*range(4), 10, *range(17, 24), *range(29, 34), *range(35, 42), *range(43, 47), *range(48, 52))
) | {55, 57, 60, 61, 64, 74, 75}
"""API keys of a client listener: records, metadata, topics, configurations, security, cluster."""
OF_CONTROLLERS: Final = frozenset(
    (1, *range(17, 21), *range(29, 32), 33, *range(36, 41), *range(43, 47), 49, *range(51, 61))
) | {62, 63, 64, 67, 70, 73}
"""API keys of a controller listener: Fetch, Vote and their like, brokers, forwarded requests."""
NARROWED_ON_BROKERS: Final = {22: (0, 5), 43: (1, 2)}
"""Versions of InitProducerId without the unstable one, of ElectLeaders with an error."""
NARROWED_ON_CONTROLLERS: Final = {1: (12, 18), 43: (1, 2), 52: (0, 1)}
"""Versions of Fetch with the epoch of the last record, and of Vote without pre-votes."""
OF_GROUPS: Final = frozenset({9, 68})
"""API keys of brokers for clients that ask for groups: OffsetFetch, ConsumerGroupHeartbeat."""
FEATURES_SINCE: Final = 3
"""First version of ApiVersions with the features of the cluster."""


class ApiVersionsAreTrue(Invariant):
    """The answered versions are those of the listener, and the features those of the image."""

    statement = (
        "ApiVersions answers each request of the listener with its versions, and the finalized "
        "features of the published image."
    )
    requests: ClassVar[Requests] = (api_versions_request.ApiVersionsRequest,)

    def __init__(self) -> None:
        super().__init__()
        self._published: dict[int, tuple[int, MetadataImage]] = {}

    @override
    def on_started(self, process: ProcessView, durable: QuorumState) -> None:
        self._published.pop(process.node_id, None)

    @override
    def on_published(self, process: ProcessView, offset: int, image: MetadataImage) -> None:
        self._published[process.node_id] = (offset, image)

    @override
    def on_replying(self, process: ProcessView, event: Received, message: Message) -> None:
        if not isinstance(message, ApiVersionsResponse) or message.error_code != ErrorCode.NONE:
            return
        keys = OF_CONTROLLERS if event.on_controller_listener else OF_BROKERS | OF_GROUPS
        is_controller = event.on_controller_listener
        narrowed = NARROWED_ON_CONTROLLERS if is_controller else NARROWED_ON_BROKERS
        right = {key: narrowed.get(key, SUPPORTED[key]) for key in keys}
        told = {one.api_key: (one.min_version, one.max_version) for one in message.api_keys}
        if told != right:
            wrong = sorted(key for key in {*told, *right} if told.get(key) != right.get(key))
            self.monitor.report_violation(self, process, f"answers other versions of {wrong}")
        offset, image = self._published.get(process.node_id, (0, EMPTY_IMAGE))
        features = {
            one.name: (one.min_version_level, one.max_version_level)
            for one in message.finalized_features
        }
        held = {name: (level, level) for name, level in image.features.items()}
        said = (features, message.finalized_features_epoch)
        if event.version >= FEATURES_SINCE and said != (held, offset - 1):
            self.monitor.report_violation(
                self, process, f"answers features {said}, the image has {held} at {offset - 1}"
            )
