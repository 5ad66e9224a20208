"""A wrong version, feature or epoch in an answer to ApiVersions goes red."""

import pytest
from msgspec.structs import replace

from kraftproof.cluster.simulated.invariants.brokers.api_versions import ApiVersionsAreTrue
from kraftproof.node.core.broker.answers import api_versions
from kraftproof.node.core.metadata.apply import apply_all
from kraftproof.node.core.metadata.image import EMPTY_IMAGE
from kraftproof.node.core.served import served_versions
from kraftproof.node.wire.messages import api_versions_request, api_versions_response
from kraftproof.node.wire.records import metadata as records
from tests.cluster.simulated.invariants.invariant_harness import MonitorHarness

IMAGE = apply_all(
    EMPTY_IMAGE, (records.FeatureLevelRecord(name="metadata.version", feature_level=21),)
)
REQUEST = api_versions_request.ApiVersionsRequest(
    client_software_name="a", client_software_version="1"
)
OTHER = api_versions_response.ApiVersion(api_key=3, min_version=0, max_version=1)


def answer(*, on_controller_listener, **changes):
    served = served_versions(on_controller_listener=on_controller_listener)
    right = api_versions(IMAGE, 8, REQUEST, 3, served)
    return replace(right, **changes)


@pytest.mark.parametrize("on_controller_listener", [False, True])
@pytest.mark.parametrize(
    ("changes", "version", "reported"),
    [
        ({}, 3, 0),
        ({"api_keys": (OTHER,)}, 3, 1),
        ({"finalized_features": ()}, 3, 1),
        ({"finalized_features": ()}, 2, 0),
        ({"finalized_features_epoch": 8}, 3, 1),
        ({"api_keys": (), "error_code": 42}, 3, 0),
    ],
)
def test_versions_and_features(on_controller_listener, changes, version, reported):
    harness = MonitorHarness(ApiVersionsAreTrue())
    node = harness.process(1)
    node.publishes(8, IMAGE)
    event = node.receives(REQUEST, version=version, on_controller_listener=on_controller_listener)
    node.replies(event, answer(on_controller_listener=on_controller_listener, **changes))
    assert len(harness.reported) == reported
