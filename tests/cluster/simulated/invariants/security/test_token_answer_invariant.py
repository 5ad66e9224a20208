"""TokenAnswersNameTheOwner: owner and requester in the answer about a new token."""

import pytest
from msgspec.structs import replace

from kraftproof.cluster.simulated.invariants.security.token_answers import (
    TokenAnswersNameTheOwner,
)
from kraftproof.node.wire.errors import ErrorCode
from kraftproof.node.wire.messages import (
    create_delegation_token_request,
    create_delegation_token_response,
)
from kraftproof.node.wire.principal import Principal
from tests.cluster.simulated.invariants.invariant_harness import MonitorHarness, Process
from tests.node.core.security.rules import received

ANN = Principal(type="User", name="ann")
OWN = create_delegation_token_request.CreateDelegationTokenRequest()
FOR_BOB = create_delegation_token_request.CreateDelegationTokenRequest(
    owner_principal_type="User", owner_principal_name="bob"
)
RIGHT = create_delegation_token_response.CreateDelegationTokenResponse(
    principal_type="User",
    principal_name="ann",
    token_requester_principal_type="User",
    token_requester_principal_name="ann",
)


def judged(request, answer, version=3):
    harness = MonitorHarness(TokenAnswersNameTheOwner())
    event = received(request, ANN, version=version, on_controller_listener=True)
    for hook in harness.monitor.on_client_replied[type(request)]:
        hook(Process(harness, 1), event, answer)
    return harness.reported


def test_right_answers_pass():
    assert not judged(OWN, RIGHT)
    assert not judged(FOR_BOB, replace(RIGHT, principal_name="bob"))
    assert not judged(OWN, replace(RIGHT, principal_name="", error_code=ErrorCode.NOT_CONTROLLER))
    unknown = {"token_requester_principal_type": "", "token_requester_principal_name": ""}
    assert not judged(OWN, replace(RIGHT, **unknown), version=2)


@pytest.mark.parametrize(
    ("request_", "changes", "version"),
    [
        (OWN, {"principal_name": "bob"}, 3),
        (FOR_BOB, {}, 3),
        (OWN, {"token_requester_principal_type": ""}, 3),
        (OWN, {}, 2),
    ],
)
def test_wrong_names_are_reported(request_, changes, version):
    (wrong,) = judged(request_, replace(RIGHT, **changes), version)
    assert f"v{version}: answers" in wrong
