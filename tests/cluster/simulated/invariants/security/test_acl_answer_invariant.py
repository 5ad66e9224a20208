"""AclDescriptionsAreTrue: DescribeAcls shows what its filter selects, and nothing else."""

import pytest
from msgspec.structs import replace

from kraftproof.cluster.simulated.invariants.security.acl_answers import AclDescriptionsAreTrue
from kraftproof.node.core.metadata.apply import apply_all
from kraftproof.node.core.metadata.image import EMPTY_IMAGE
from kraftproof.node.core.security.describe import describe_acls
from kraftproof.node.wire.errors import ErrorCode
from kraftproof.node.wire.messages import describe_acls_request, describe_acls_response
from tests.cluster.simulated.invariants.security.answers import violations_of
from tests.node.core.security.rules import entry

ANY, MATCH, LITERAL, PREFIXED = 1, 2, 3, 4
ENTRIES = (
    entry(3, "t-1", principal="User:ann"),
    entry(4, "t-", principal="User:bob", is_prefix=True),
    entry(3, "t-", principal="User:ann"),
    entry(8, "*", principal="User:bob", host="h"),
    entry(8, "u", principal="User:ann", denies=True),
)
IMAGE = apply_all(EMPTY_IMAGE, ENTRIES)


def asked(name=None, pattern=ANY, **others):
    fields = {"resource_type_filter": 2, "operation": ANY, "permission_type": ANY, **others}
    return describe_acls_request.DescribeAclsRequest(
        resource_name_filter=name, pattern_type_filter=pattern, **fields
    )


def judged(request, answer, image=IMAGE):
    return violations_of(AclDescriptionsAreTrue(), request, answer, image)


REQUESTS = (
    asked(),
    asked("t-1", MATCH),
    asked("t-", MATCH),
    asked("t-", ANY),
    asked("t-", LITERAL),
    asked("t-", PREFIXED),
    asked("t-", -1),
    asked(principal_filter="User:ann"),
    asked(host_filter="h"),
    asked(operation=3),
    asked(permission_type=2),
)


@pytest.mark.parametrize("request_", REQUESTS)
def test_the_entries_of_the_filter_are_right_and_all_others_wrong(request_):
    right = describe_acls(IMAGE, request_, has_authorizer=True)
    assert judged(request_, right) == []
    for entry_ in ENTRIES:
        image = apply_all(EMPTY_IMAGE, tuple(one for one in ENTRIES if one is not entry_))
        shorter = describe_acls(image, request_, has_authorizer=True)
        assert (judged(request_, shorter) == []) == (shorter == right)


def test_a_filter_without_sense_is_refused_and_a_right_one_is_not():
    refusal = describe_acls_response.DescribeAclsResponse(error_code=ErrorCode.INVALID_REQUEST)
    wrong = replace(asked(), operation=0)
    assert judged(wrong, refusal) == []
    assert judged(wrong, describe_acls_response.DescribeAclsResponse()) != []
    assert judged(asked(), refusal) != []
    disabled = replace(refusal, error_code=ErrorCode.SECURITY_DISABLED)
    assert judged(asked(), disabled) == []
