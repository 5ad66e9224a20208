"""CreateAcls, DeleteAcls and DescribeAcls: results, refusals, records."""

from itertools import product
from random import Random

import pytest

from kraftproof.node.core.controller.security.acls import create_acls, delete_acls
from kraftproof.node.core.metadata.acls import Operation, Pattern, Permission, ResourceKind
from kraftproof.node.core.metadata.apply import apply, apply_all
from kraftproof.node.core.metadata.image import EMPTY_IMAGE, MetadataImage
from kraftproof.node.core.security.describe import describe_acls
from kraftproof.node.wire.codec import decode_response, encode_response
from kraftproof.node.wire.errors import ErrorCode
from kraftproof.node.wire.messages import (
    create_acls_request,
    create_acls_response,
    delete_acls_request,
    describe_acls_request,
)
from kraftproof.node.wire.records.metadata import RemoveAccessControlEntryRecord
from tests.node.core.security.rules import entry

INVALID = ErrorCode.INVALID_REQUEST
READ, WRITE = Operation.READ, Operation.WRITE


def creation(**changed) -> create_acls_request.AclCreation:
    fields = {
        "resource_type": ResourceKind.TOPIC,
        "resource_name": "t",
        "resource_pattern_type": Pattern.LITERAL,
        "principal": "User:alice",
        "host": "*",
        "operation": READ,
        "permission_type": Permission.ALLOW,
        **changed,
    }
    return create_acls_request.AclCreation(**fields)


def create(*creations, image: MetadataImage = EMPTY_IMAGE, has_authorizer: bool = True):
    request = create_acls_request.CreateAclsRequest(creations=creations)
    return create_acls(image, request, Random(7), has_authorizer=has_authorizer)


@pytest.mark.parametrize(
    "changed",
    [
        {"resource_type": 0},
        {"resource_type": ResourceKind.ANY},
        {"resource_type": 8},
        {"resource_pattern_type": 0},
        {"resource_pattern_type": Pattern.ANY},
        {"resource_pattern_type": Pattern.MATCH},
        {"resource_pattern_type": 5},
        {"operation": 0},
        {"operation": Operation.ANY},
        {"operation": 16},
        {"permission_type": 0},
        {"permission_type": Permission.ANY},
        {"permission_type": 4},
        {"resource_name": ""},
        {"principal": "alice"},
        {"principal": ""},
        {"resource_type": ResourceKind.CLUSTER, "resource_name": "t"},
    ],
    ids=str,
)
def test_an_illegal_entry_is_refused_alone(changed) -> None:
    outcome = create(creation(), creation(**changed))
    assert [result.error_code for result in outcome.reply.results] == [ErrorCode.NONE, INVALID]
    assert outcome.reply.results[1].error_message
    assert len(outcome.records) == 1


@pytest.mark.requirement("631-23")
@pytest.mark.requirement("631-85")
def test_an_entry_is_written_once() -> None:
    outcome = create(creation(), creation(), creation(operation=WRITE))
    assert [result.error_code for result in outcome.reply.results] == [ErrorCode.NONE] * 3
    assert [record.operation for record in outcome.records] == [READ, WRITE]
    assert len({record.id for record in outcome.records}) == 2
    image = apply_all(EMPTY_IMAGE, outcome.records)
    again = create(creation(), creation(operation=WRITE), image=image)
    assert not again.records
    assert [result.error_code for result in again.reply.results] == [ErrorCode.NONE] * 2


def test_the_cluster_has_one_name() -> None:
    kinds = {"resource_type": ResourceKind.CLUSTER, "operation": Operation.ALTER}
    assert create(creation(resource_name="kafka-cluster", **kinds)).records


def test_without_an_authorizer_security_is_disabled() -> None:
    disabled = ErrorCode.SECURITY_DISABLED
    made = create(creation(), has_authorizer=False)
    assert [result.error_code for result in made.reply.results] == [disabled]
    assert not made.records
    request = delete_acls_request.DeleteAclsRequest(filters=(wanted(),))
    deleted = delete_acls(EMPTY_IMAGE, request, has_authorizer=False)
    assert [result.error_code for result in deleted.reply.filter_results] == [disabled]
    assert describe(EMPTY_IMAGE, has_authorizer=False).error_code == disabled


def test_too_many_entries_are_refused() -> None:
    outcome = create(*(creation(resource_name=f"t{number}") for number in range(10_001)))
    assert not outcome.records
    assert {result.error_code for result in outcome.reply.results} == {ErrorCode.POLICY_VIOLATION}


def wanted(**changed) -> delete_acls_request.DeleteAclsFilter:
    fields = {
        "resource_type_filter": ResourceKind.ANY,
        "pattern_type_filter": Pattern.ANY,
        "operation": Operation.ANY,
        "permission_type": Permission.ANY,
        **changed,
    }
    return delete_acls_request.DeleteAclsFilter(**fields)


ENTRIES = {
    "literal": entry(READ, "abc"),
    "other": entry(WRITE, "abd", principal="User:bob"),
    "prefix": entry(READ, "ab", is_prefix=True),
    "long prefix": entry(READ, "abcd", is_prefix=True),
    "wildcard": entry(READ, "*", denies=True),
    "group": entry(READ, "abc", kind=ResourceKind.GROUP, host="10.0.0.1"),
}
IMAGE = apply_all(EMPTY_IMAGE, tuple(ENTRIES.values()))


@pytest.mark.parametrize(
    ("changed", "expected"),
    [
        ({}, set(ENTRIES)),
        ({"resource_type_filter": ResourceKind.GROUP}, {"group"}),
        ({"resource_name_filter": "abc"}, {"literal", "group"}),
        ({"resource_name_filter": "ab"}, {"prefix"}),
        ({"resource_name_filter": "*"}, {"wildcard"}),
        (
            {"pattern_type_filter": Pattern.LITERAL},
            {"literal", "other", "wildcard", "group"},
        ),
        ({"pattern_type_filter": Pattern.PREFIXED}, {"prefix", "long prefix"}),
        ({"pattern_type_filter": Pattern.PREFIXED, "resource_name_filter": "abc"}, set()),
        (
            {"pattern_type_filter": Pattern.MATCH, "resource_name_filter": "abc"},
            {"literal", "prefix", "wildcard", "group"},
        ),
        ({"pattern_type_filter": Pattern.MATCH}, set(ENTRIES)),
        ({"principal_filter": "User:bob"}, {"other"}),
        ({"principal_filter": "User:*"}, set()),
        ({"host_filter": "10.0.0.1"}, {"group"}),
        ({"operation": WRITE}, {"other"}),
        ({"operation": Operation.ALL}, set()),
        ({"permission_type": Permission.DENY}, {"wildcard"}),
    ],
    ids=lambda value: str(sorted(value)) if isinstance(value, set) else str(value),
)
def test_a_filter_selects(changed, expected) -> None:
    request = delete_acls_request.DeleteAclsRequest(filters=(wanted(**changed),))
    outcome = delete_acls(IMAGE, request, has_authorizer=True)
    ids = {one.id: name for name, one in ENTRIES.items()}
    assert {ids[record.id] for record in outcome.records} == expected
    [result] = outcome.reply.filter_results
    assert (result.error_code, len(result.matching_acls)) == (ErrorCode.NONE, len(expected))
    described = describe(IMAGE, **changed)
    assert sum(len(one.acls) for one in described.resources) == len(expected)


def describe(image: MetadataImage, *, has_authorizer: bool = True, **changed):
    fields = {
        "resource_type_filter": ResourceKind.ANY,
        "pattern_type_filter": Pattern.ANY,
        "operation": Operation.ANY,
        "permission_type": Permission.ANY,
        **changed,
    }
    request = describe_acls_request.DescribeAclsRequest(**fields)
    return describe_acls(image, request, has_authorizer=has_authorizer)


@pytest.mark.requirement("631-85")
def test_an_entry_of_two_filters_has_one_record_and_two_results() -> None:
    request = delete_acls_request.DeleteAclsRequest(
        filters=(wanted(resource_name_filter="abc"), wanted(operation=READ))
    )
    outcome = delete_acls(IMAGE, request, has_authorizer=True)
    assert [len(one.matching_acls) for one in outcome.reply.filter_results] == [2, 5]
    assert len(outcome.records) == len(set(outcome.records)) == 5
    assert all(isinstance(record, RemoveAccessControlEntryRecord) for record in outcome.records)
    image = IMAGE
    for record in outcome.records:
        image = apply(image, record)
    assert [one.resource_name for one in image.acls.all_entries()] == ["abd"]


@pytest.mark.parametrize(
    "changed",
    [
        {"resource_type_filter": 0},
        {"resource_type_filter": 9},
        {"pattern_type_filter": 0},
        {"pattern_type_filter": 7},
        {"operation": 0},
        {"operation": 77},
        {"permission_type": 0},
        {"permission_type": 6},
    ],
    ids=str,
)
def test_an_unknown_filter_is_refused_alone(changed) -> None:
    request = delete_acls_request.DeleteAclsRequest(
        filters=(wanted(**changed), wanted(resource_name_filter="abd"))
    )
    outcome = delete_acls(IMAGE, request, has_authorizer=True)
    assert [one.error_code for one in outcome.reply.filter_results] == [INVALID, ErrorCode.NONE]
    assert len(outcome.records) == 1
    described = describe(IMAGE, **changed)
    is_unknown = 0 in changed.values()
    assert described.error_code == (INVALID if is_unknown else ErrorCode.NONE)
    assert not described.resources


@pytest.mark.requirement("631-85")
def test_entries_are_described_by_resource() -> None:
    image = apply(IMAGE, entry(WRITE, "abc", principal="User:carol"))
    found = {
        (one.resource_type, one.pattern_type, one.resource_name): {
            (acl.principal, acl.operation, acl.permission_type) for acl in one.acls
        }
        for one in describe(image).resources
    }
    assert len(found) == 6
    topic = (ResourceKind.TOPIC, Pattern.LITERAL, "abc")
    assert found[topic] == {
        ("User:alice", READ, Permission.ALLOW),
        ("User:carol", WRITE, Permission.ALLOW),
    }


def test_every_version_carries_the_answers() -> None:
    made = create(creation(), creation(principal="x")).reply
    request = delete_acls_request.DeleteAclsRequest(filters=(wanted(),))
    deleted = delete_acls(IMAGE, request, has_authorizer=True).reply
    for message, version in product((made, deleted, describe(IMAGE)), (1, 2, 3)):
        key = message.API_KEY
        assert decode_response(key, version, encode_response(message, version)) == message
    assert isinstance(made, create_acls_response.CreateAclsResponse)
