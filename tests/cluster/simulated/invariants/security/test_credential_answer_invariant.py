"""CredentialDescriptionsAreTrue: DescribeUserScramCredentials shows what the image holds."""

import pytest
from msgspec.structs import replace

from kraftproof.cluster.simulated.invariants.security.credential_answers import (
    CredentialDescriptionsAreTrue,
)
from kraftproof.node.core.broker.security.answers import describe_scram
from kraftproof.node.core.metadata.apply import apply_all
from kraftproof.node.core.metadata.image import EMPTY_IMAGE
from kraftproof.node.wire.errors import ErrorCode
from kraftproof.node.wire.messages import describe_user_scram_credentials_request
from kraftproof.node.wire.records.metadata import UserScramCredentialRecord
from tests.cluster.simulated.invariants.security.answers import violations_of

CREDENTIALS = (
    UserScramCredentialRecord(name="ann", mechanism=1, iterations=4096),
    UserScramCredentialRecord(name="ann", mechanism=2, iterations=8192),
    UserScramCredentialRecord(name="bob", mechanism=2, iterations=4096),
)
IMAGE = apply_all(EMPTY_IMAGE, CREDENTIALS)


def asked(*names):
    module = describe_user_scram_credentials_request
    users = tuple(module.UserName(name=name) for name in names) or None
    return module.DescribeUserScramCredentialsRequest(users=users)


def judged(request, answer, image=IMAGE):
    return violations_of(CredentialDescriptionsAreTrue(), request, answer, image)


REQUESTS = (asked(), asked("ann"), asked("bob", "ann"), asked("nobody"), asked("ann", "ann", "bob"))


@pytest.mark.parametrize("request_", REQUESTS)
def test_the_credentials_of_the_image_are_right_and_all_others_wrong(request_):
    right = describe_scram(IMAGE, request_)
    assert judged(request_, right) == []
    for left_out in CREDENTIALS:
        image = apply_all(EMPTY_IMAGE, tuple(one for one in CREDENTIALS if one is not left_out))
        shorter = describe_scram(image, request_)
        assert (judged(request_, shorter) == []) == (
            [(r.user, r.error_code, r.credential_infos) for r in shorter.results]
            == [(r.user, r.error_code, r.credential_infos) for r in right.results]
        )
    assert judged(request_, replace(right, results=right.results * 2)) != []


def test_other_iterations_are_wrong():
    changed = apply_all(IMAGE, (replace(CREDENTIALS[0], iterations=9999),))
    assert judged(asked("ann"), describe_scram(changed, asked("ann"))) != []


def test_a_refusal_of_the_whole_request_is_left_to_others():
    denied = replace(
        describe_scram(IMAGE, asked()),
        error_code=ErrorCode.CLUSTER_AUTHORIZATION_FAILED,
        results=(),
    )
    assert judged(asked(), denied) == []
