"""Invariant of DescribeUserScramCredentials: the credentials of the users asked for (KIP-554)."""

from collections import Counter
from typing import ClassVar

from typing_extensions import override

from kraftproof.cluster.simulated.invariants.invariant import Requests
from kraftproof.cluster.simulated.invariants.security.descriptions import Descriptions
from kraftproof.node.core.metadata.image import MetadataImage
from kraftproof.node.wire.errors import ErrorCode
from kraftproof.node.wire.messages import (
    Message,
    describe_user_scram_credentials_request,
    describe_user_scram_credentials_response,
)
from kraftproof.node.wire.records.metadata import UserScramCredentialRecord

Request = describe_user_scram_credentials_request.DescribeUserScramCredentialsRequest
Response = describe_user_scram_credentials_response.DescribeUserScramCredentialsResponse
Shown = tuple[int, tuple[tuple[int, int], ...]]
"""The error for a user, and the mechanisms with their iterations."""


class CredentialDescriptionsAreTrue(Descriptions[Request, Response]):
    """An answer has each user asked for once, with the credentials of the image."""

    statement = "DescribeUserScramCredentials answers with the credentials of the image."
    requests: ClassVar[Requests] = (Request,)
    response: ClassVar[type[Message]] = Response

    @override
    def fault(self, request: Request, response: Response, image: MetadataImage) -> str | None:
        """Compare the users; a refusal of the whole request has other judges."""
        if response.error_code != ErrorCode.NONE:
            return None
        said = sorted((result.user, _said(result)) for result in response.results)
        right = sorted(_right(request, image).items())
        if said != right:
            return f"answers {len(said)} users {said[:3]}, but the image has {right[:3]}"
        return None


def _said(
    result: describe_user_scram_credentials_response.DescribeUserScramCredentialsResult,
) -> Shown:
    infos = sorted((info.mechanism, info.iterations) for info in result.credential_infos)
    return (result.error_code, tuple(infos))


def _right(request: Request, image: MetadataImage) -> dict[str, Shown]:
    """Return what each user has; without a name in the request, all users with a credential."""
    kept: dict[str, list[tuple[int, int]]] = {}
    for one in image.others.values():
        if isinstance(one, UserScramCredentialRecord):
            kept.setdefault(one.name, []).append((one.mechanism, one.iterations))
    times = Counter(user.name for user in request.users or ())
    shown: dict[str, Shown] = {}
    for name in times or kept:
        if times[name] > 1:
            shown[name] = (ErrorCode.DUPLICATE_RESOURCE, ())
        elif name in kept:
            shown[name] = (ErrorCode.NONE, tuple(sorted(kept[name])))
        else:
            shown[name] = (ErrorCode.RESOURCE_NOT_FOUND, ())
    return shown
