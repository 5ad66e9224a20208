"""Compare how a node introduces itself and its cluster: ApiVersions and DescribeCluster."""

import string
from random import Random
from typing import Final

from immutables import Map
from msgspec.structs import replace

from kraftproof.cluster.simulated.differential.bare_broker import BARE_BROKER
from kraftproof.cluster.simulated.differential.core.versions import OF_BROKERS, OF_CONTROLLERS
from kraftproof.cluster.simulated.differential.difference import named, same
from kraftproof.node.core.base.config import Voter
from kraftproof.node.core.base.types import NodeId, Offset
from kraftproof.node.core.broker.answers import api_versions, describe_cluster
from kraftproof.node.core.metadata.image import EMPTY_IMAGE, MetadataImage
from kraftproof.node.core.served import served_versions
from kraftproof.node.wire.errors import ErrorCode
from kraftproof.node.wire.messages import (
    api_versions_request,
    api_versions_response,
    describe_cluster_request,
    describe_cluster_response,
)

ROUNDS: Final = 8
NAMED_FROM: Final = 3
"""The version of ApiVersions with the name of the client's software (KIP-511)."""
SOFTWARE: Final = ("", "a", "Z9", "a-", ".a", "a.b-c", "a b", "a\n", "-", "caf\u00e9", "4.3.0")
SUPPORTED: Final = (("metadata.version", 7, 30),)
LEVELS: Final = (("metadata.version", 7, 30), ("kraft.version", 0, 1), ("a.feature", 1, 9))
OF_BROKER, OF_CONTROLLER = 1, 2
NEITHER: Final = (0, 3, -1)


def compare_identities(random: Random) -> None:
    """Ask drawn brokers and controllers.

    Raises:
        DifferenceError: an answer is not what KIP-511, KIP-584, KIP-700 and KIP-919 demand.
    """
    for _ in range(ROUNDS):
        _compare_versions(random)
        _compare_controllers(random)


def _is_legal(text: str) -> bool:
    """Return whether a name of software has letters and digits, and dots and hyphens within."""
    ends = string.ascii_letters + string.digits
    return bool(text) and {text[0], text[-1]} <= {*ends} and {*text} <= {*ends, "-", "."}


def _compare_versions(random: Random) -> None:
    is_controller = random.random() < 0.5
    found = {name: random.randint(least, most) for name, least, most in LEVELS}
    features = {name: level for name, level in found.items() if random.random() < 0.7}
    software, release = random.choice(SOFTWARE), random.choice(SOFTWARE)
    version, offset = random.randint(0, 4), random.randint(0, 9)
    answer = api_versions(
        _image(features),
        Offset(offset),
        api_versions_request.ApiVersionsRequest(
            client_software_name=software, client_software_version=release
        ),
        version,
        served_versions(on_controller_listener=is_controller),
    )
    if version >= NAMED_FROM and not (_is_legal(software) and _is_legal(release)):
        refused = api_versions_response.ApiVersionsResponse(error_code=ErrorCode.INVALID_REQUEST)
        same("the refusal of an illegal name of software", answer, refused)
        return
    served = OF_CONTROLLERS if is_controller else OF_BROKERS
    keys = {one.api_key: (one.min_version, one.max_version) for one in answer.api_keys}
    same("the versions of requests", (len(answer.api_keys), keys), (len(served), served))
    supported = [(one.name, one.min_version, one.max_version) for one in answer.supported_features]
    same("the supported features", supported, [*SUPPORTED])
    finalized = [
        (one.name, one.min_version_level, one.max_version_level)
        for one in answer.finalized_features
    ]
    expected = [(name, features[name], features[name]) for name in sorted(features)]
    same("the finalized features", sorted(finalized), expected)
    last = (answer.finalized_features_epoch, answer.error_code, answer.throttle_time_ms)
    same("the last applied offset, the error and the throttling", last, (offset - 1, 0, 0))


def _compare_controllers(random: Random) -> None:
    """Compare the answers for a type of nodes that this listener has not, and of controllers."""
    voters = random.sample(range(1, 9), random.randint(1, 5))
    config = replace(
        BARE_BROKER,
        cluster_id="its-cluster",
        voters=tuple(Voter(node_id=NodeId(one), host=f"h{one}", port=90 + one) for one in voters),
    )
    leader, bits = random.choice((-1, *voters)), random.randint(-9, 9)
    on_controller = random.random() < 0.7
    asked = random.choice((OF_BROKER, OF_CONTROLLER, OF_CONTROLLER, *NEITHER))
    request = describe_cluster_request.DescribeClusterRequest(endpoint_type=asked)
    answer = describe_cluster(
        config,
        EMPTY_IMAGE,
        NodeId(leader),
        request,
        on_controller_listener=on_controller,
        listener="",
        operations=bits,
    )
    error = ErrorCode.NONE
    if asked in NEITHER:
        error = ErrorCode.UNSUPPORTED_ENDPOINT_TYPE
    elif (asked == OF_CONTROLLER) is not on_controller:
        error = ErrorCode.MISMATCHED_ENDPOINT_TYPE
    if error:
        named("the refusal of DescribeCluster", answer.error_message or "", asked)
        refused = describe_cluster_response.DescribeClusterResponse(
            error_code=error, error_message=answer.error_message
        )
        same("the refusal of DescribeCluster", answer, refused)
        return
    nodes = tuple(
        describe_cluster_response.DescribeClusterBroker(
            broker_id=one, host=f"h{one}", port=90 + one
        )
        for one in sorted(voters)
        if on_controller
    )
    expected = describe_cluster_response.DescribeClusterResponse(
        endpoint_type=asked,
        cluster_id="its-cluster",
        controller_id=leader if on_controller else -1,
        brokers=nodes,
        cluster_authorized_operations=bits,
    )
    same("the answer to DescribeCluster", answer, expected)


def _image(features: dict[str, int]) -> MetadataImage:
    """Return an image with finalized features."""
    return replace(EMPTY_IMAGE, features=Map(features))
