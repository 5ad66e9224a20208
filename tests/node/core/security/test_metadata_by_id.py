"""Metadata by topic id, in a version whose answers need names, of a client without any right."""

import pytest

from kraftproof.node.wire.codec import decode_response, encode_response
from kraftproof.node.wire.errors import ErrorCode
from kraftproof.node.wire.messages.generated.metadata_request import (
    MetadataRequest,
    MetadataRequestTopic,
)
from kraftproof.node.wire.types import Uuid
from tests.node.core.security.guarded_world import GuardedWorld
from tests.node.core.security.rules import NOBODY


@pytest.mark.parametrize(
    ("version", "error"),
    [
        (10, ErrorCode.INVALID_REQUEST),
        (11, ErrorCode.INVALID_REQUEST),
        (12, ErrorCode.UNKNOWN_TOPIC_ID),
    ],
)
def test_an_unknown_id_is_answered_in_each_version(version: int, error: ErrorCode) -> None:
    topics = (MetadataRequestTopic(topic_id=Uuid(bytes([9] * 16))),)
    answer = GuardedWorld().do(MetadataRequest(topics=topics), NOBODY, version=version)
    body = encode_response(answer, version)
    (shown,) = decode_response(MetadataRequest.API_KEY, version, body).topics
    assert shown.error_code == error
