"""Answer requests on the controller listener that need no decision of the active controller."""

from typing import Final

from kraftproof.node.core.base.config import NodeConfig
from kraftproof.node.core.base.types import NodeId
from kraftproof.node.core.broker import answers
from kraftproof.node.core.broker.operations import cluster_operations
from kraftproof.node.core.broker.security.answers import early_answer
from kraftproof.node.core.events import Received
from kraftproof.node.core.metadata.committed import CommittedImage
from kraftproof.node.core.security.authorizer import Authorizer
from kraftproof.node.core.security.describe import describe_acls
from kraftproof.node.core.served import served_versions
from kraftproof.node.wire.messages import (
    Message,
    api_versions_request,
    describe_acls_request,
    describe_cluster_request,
)

_SERVED: Final = served_versions(on_controller_listener=True)


def own_answer(
    event: Received,
    config: NodeConfig,
    committed: CommittedImage,
    leader: NodeId,
    authorizer: Authorizer | None,
) -> Message | None:
    """Return the answer of this node, or None for a request that the controller decides."""
    image = committed.image
    match event.message:
        case api_versions_request.ApiVersionsRequest() as request:
            return answers.api_versions(image, committed.offset, request, event.version, _SERVED)
        case describe_acls_request.DescribeAclsRequest() as request:
            return describe_acls(image, request, has_authorizer=authorizer is not None)
        case describe_cluster_request.DescribeClusterRequest() as request:
            wanted = request.include_cluster_authorized_operations
            return answers.describe_cluster(
                config,
                image,
                leader,
                request,
                on_controller_listener=True,
                operations=cluster_operations(authorizer, event, wanted=wanted),
            )
        case _:
            return early_answer(event, authorizer)
