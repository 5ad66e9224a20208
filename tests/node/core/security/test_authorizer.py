"""The rules of the authorizer: entries, patterns, denials, implied operations, readiness."""

from random import Random

import pytest

from kraftproof.node.core.audit import Audited, audit_line
from kraftproof.node.core.metadata.acl_index import index_of
from kraftproof.node.core.metadata.acls import Operation, ResourceKind
from kraftproof.node.core.metadata.apply import apply
from kraftproof.node.core.metadata.changes import rebuild
from kraftproof.node.core.metadata.committed import CommittedImage
from kraftproof.node.core.metadata.image import EMPTY_IMAGE
from kraftproof.node.core.outbox import Outbox
from kraftproof.node.core.security.authorizer import Authorizer, Requester, decide, decide_any
from kraftproof.node.wire.messages.generated.metadata_request import MetadataRequest
from kraftproof.node.wire.principal import Principal
from kraftproof.node.wire.records.metadata import (
    AccessControlEntryRecord,
    RemoveAccessControlEntryRecord,
)
from tests.node.core.security.rules import (
    ADMIN,
    ALICE,
    CLUSTER,
    NOBODY,
    POLICY,
    TOPIC,
    acls,
    entry,
    received,
)

ALL, READ, WRITE, ALTER = Operation.ALL, Operation.READ, Operation.WRITE, Operation.ALTER
DESCRIBE, DELETE, CREATE = Operation.DESCRIBE, Operation.DELETE, Operation.CREATE
CLUSTER_ACTION = Operation.CLUSTER_ACTION
BOB = Principal(type="User", name="bob")
HOST = "10.0.0.1"


def allows(index, operation, name="t", *, principal=ALICE, host=HOST, default=False) -> bool:
    requester = Requester(principal, host)
    return decide(index, requester, operation, TOPIC, name, default=default)


@pytest.mark.parametrize(
    ("entries", "operation", "name", "expected"),
    [
        ([entry(READ)], READ, "t", True),
        ([entry(READ)], WRITE, "t", False),
        ([entry(READ)], READ, "tt", False),
        ([entry(READ)], READ, "other", False),
        ([entry(READ, "*")], READ, "any", True),
        ([entry(READ, "t", is_prefix=True)], READ, "t", True),
        ([entry(READ, "t", is_prefix=True)], READ, "tt", True),
        ([entry(READ, "tt", is_prefix=True)], READ, "t", False),
        # A shorter prefix counts beside a longer prefix.
        ([entry(READ, "a", is_prefix=True), entry(WRITE, "ab", is_prefix=True)], READ, "abc", True),
        (
            [entry(READ, "a", is_prefix=True, denies=True), entry(READ, "ab", is_prefix=True)],
            READ,
            "abc",
            False,
        ),
        (
            [entry(READ, "a", is_prefix=True), entry(READ, "ab", is_prefix=True, denies=True)],
            READ,
            "abc",
            False,
        ),
        # A denial wins, wherever the permission stands.
        ([entry(READ), entry(READ, denies=True)], READ, "t", False),
        ([entry(READ, denies=True), entry(READ)], READ, "t", False),
        ([entry(READ), entry(READ, "*", denies=True)], READ, "t", False),
        ([entry(READ), entry(ALL, denies=True)], READ, "t", False),
        ([entry(READ), entry(READ, principal="User:*", denies=True)], READ, "t", False),
        ([entry(READ), entry(READ, denies=True, principal="User:bob")], READ, "t", True),
        ([entry(READ), entry(READ, denies=True, host="10.0.0.2")], READ, "t", True),
        # An allowed operation implies weaker operations, a denied operation none.
        ([entry(READ)], DESCRIBE, "t", True),
        ([entry(WRITE)], DESCRIBE, "t", True),
        ([entry(DELETE)], DESCRIBE, "t", True),
        ([entry(ALTER)], DESCRIBE, "t", True),
        ([entry(CREATE)], DESCRIBE, "t", False),
        ([entry(Operation.ALTER_CONFIGS)], Operation.DESCRIBE_CONFIGS, "t", True),
        ([entry(Operation.ALTER_CONFIGS)], DESCRIBE, "t", False),
        ([entry(READ), entry(READ, denies=True), entry(DESCRIBE)], DESCRIBE, "t", True),
        ([entry(READ, denies=True), entry(WRITE)], DESCRIBE, "t", True),
        ([entry(READ), entry(DESCRIBE, denies=True)], DESCRIBE, "t", False),
        ([entry(READ), entry(DESCRIBE, denies=True)], READ, "t", True),
        ([entry(ALL)], Operation.ALTER_CONFIGS, "t", True),
        # Principal and host.
        ([entry(READ, principal="User:*")], READ, "t", True),
        ([entry(READ, principal="User:bob")], READ, "t", False),
        ([entry(READ, principal="Group:alice")], READ, "t", False),
        ([entry(READ, host=HOST)], READ, "t", True),
        ([entry(READ, host="10.0.0.2")], READ, "t", False),
        # Another kind of resource.
        ([entry(READ, kind=ResourceKind.GROUP)], READ, "t", False),
        ([], READ, "t", False),
    ],
)
def test_the_rules(entries, operation, name, expected) -> None:
    assert allows(acls(*entries), operation, name) is expected
    assert allows(acls(*reversed(entries)), operation, name) is expected


def test_the_default_holds_only_without_an_entry_of_anybody() -> None:
    assert allows(acls(), READ, default=True)
    assert allows(acls(entry(READ, "other")), READ, default=True)
    assert not allows(acls(entry(READ, principal="User:bob")), READ, default=True)
    assert not allows(
        acls(entry(READ, "t", principal="User:b", is_prefix=True)), READ, default=True
    )


def test_a_principal_authenticated_by_a_token_has_the_rights_of_its_owner() -> None:
    token = Principal(type="User", name="alice", token_authenticated=True)
    assert allows(acls(entry(READ)), READ, principal=token)


@pytest.mark.parametrize(
    ("entries", "expected"),
    [
        ([], False),
        ([entry(WRITE)], True),
        ([entry(READ)], False),
        ([entry(ALL)], True),
        ([entry(WRITE, "a", is_prefix=True)], True),
        ([entry(WRITE, principal="User:bob")], False),
        ([entry(WRITE), entry(WRITE, denies=True)], False),
        ([entry(WRITE), entry(WRITE, "u", denies=True)], True),
        ([entry(WRITE), entry(WRITE, "*", denies=True)], False),
        ([entry(WRITE, "*"), entry(WRITE, "t", denies=True)], True),
        ([entry(WRITE, "*"), entry(WRITE, "*", denies=True)], False),
        ([entry(WRITE, "ab"), entry(WRITE, "a", is_prefix=True, denies=True)], False),
        (
            [entry(WRITE, "ab", is_prefix=True), entry(WRITE, "a", is_prefix=True, denies=True)],
            False,
        ),
        (
            [entry(WRITE, "a", is_prefix=True), entry(WRITE, "ab", is_prefix=True, denies=True)],
            True,
        ),
    ],
)
def test_a_right_on_some_resource(entries, expected) -> None:
    requester = Requester(ALICE, HOST)
    assert decide_any(acls(*entries), requester, WRITE, TOPIC, default=False) is expected


def _by_hand(entries: list[AccessControlEntryRecord], name: str, operation: Operation) -> bool:
    """The rules of KIP-11 and KIP-290 over a plain list."""
    implied = {DESCRIBE: {READ, WRITE, DELETE, ALTER}}
    found = [
        one
        for one in entries
        if one.principal in {"User:alice", "User:*"}
        and (
            name.startswith(one.resource_name)
            if one.pattern_type == 4
            else one.resource_name in {name, "*"}
        )
    ]
    if any(one.permission_type == 2 and one.operation in {ALL, operation} for one in found):
        return False
    enough = {ALL, operation} | implied.get(operation, set())
    return any(one.permission_type == 3 and one.operation in enough for one in found)


@pytest.mark.parametrize("seed", range(20))
def test_the_index_decides_as_a_search_through_all_entries_does(seed) -> None:
    random = Random(seed)
    image, present = EMPTY_IMAGE, []
    names = ["a", "ab", "abc", "abd", "b", "*", "ba"]
    for _ in range(150):
        if present and random.random() < 0.4:
            gone = present.pop(random.randrange(len(present)))
            image = apply(image, RemoveAccessControlEntryRecord(id=gone.id))
        else:
            added = entry(
                random.choice((READ, WRITE, DESCRIBE, ALL)),
                random.choice(names),
                principal=random.choice(("User:alice", "User:bob", "User:*")),
                denies=random.random() < 0.3,
                is_prefix=random.random() < 0.5,
            )
            present.append(added)
            image = apply(image, added)
        for name in names:
            for operation in (READ, DESCRIBE):
                expected = _by_hand(present, name, operation)
                assert allows(image.acls, operation, name) is expected, (present, name, operation)
    assert image.acls == index_of(present)
    assert rebuild(image) == image


@pytest.fixture
def outbox() -> Outbox:
    return Outbox()


def loaded(*entries: AccessControlEntryRecord) -> CommittedImage:
    committed = CommittedImage()
    image = EMPTY_IMAGE
    for one in entries:
        image = apply(image, one)
    committed.image = committed.newest = image
    committed.offset = 1
    return committed


def test_a_super_user_may_do_everything_even_before_the_image_is_loaded(outbox) -> None:
    committed = CommittedImage()
    authorizer = Authorizer(POLICY, committed, outbox)
    event = received(MetadataRequest(), ADMIN)
    assert authorizer.allows(event, ALTER)
    ready = loaded(entry(ALTER, "kafka-cluster", kind=CLUSTER))
    other = received(MetadataRequest(), ALICE)
    committed.image = ready.image
    assert not authorizer.allows(other, ALTER), "the image is not loaded"
    committed.offset, committed.is_behind = 1, True
    assert not authorizer.allows(other, ALTER), "committed records are not applied"
    committed.is_behind = False
    assert authorizer.allows(other, ALTER)
    committed.is_behind = True
    assert authorizer.allows(other, ALTER), "a loaded node stays ready"


def test_a_super_user_wins_over_a_denial(outbox) -> None:
    denial = entry(ALL, "kafka-cluster", kind=CLUSTER, principal="User:*", denies=True)
    authorizer = Authorizer(POLICY, loaded(denial), outbox)
    assert authorizer.allows(received(MetadataRequest(), ADMIN), ALTER)
    assert not authorizer.allows(received(MetadataRequest(), NOBODY), ALTER)


@pytest.mark.requirement("631-85")
def test_the_decision_follows_the_image(outbox) -> None:
    committed = loaded()
    authorizer = Authorizer(POLICY, committed, outbox)
    event = received(MetadataRequest())
    assert not authorizer.allows(event, READ, TOPIC, "t")
    committed.image = apply(committed.image, granted := entry(READ))
    assert authorizer.allows(event, READ, TOPIC, "t")
    committed.image = apply(committed.image, RemoveAccessControlEntryRecord(id=granted.id))
    assert not authorizer.allows(event, READ, TOPIC, "t")


@pytest.mark.requirement("590-18")
def test_the_audit_log_has_denials_and_on_demand_permissions(outbox) -> None:
    quiet = Authorizer(POLICY, loaded(entry(READ)), outbox)
    event = received(MetadataRequest(), host="10.1.2.3")
    assert quiet.allows(event, READ, TOPIC, "t")
    assert outbox.drain() == []
    assert not quiet.allows(event, WRITE, TOPIC, "t")
    [denied] = outbox.drain()
    assert isinstance(denied, Audited)
    line = audit_line(denied)
    assert line.startswith("INFO ")
    assert "Principal = User:alice is Denied operation = WRITE from host = 10.1.2.3" in line
    assert "on resource = TOPIC:LITERAL:t" in line
    policy = type(POLICY)(super_users=POLICY.super_users, logs_allowed=True)
    assert Authorizer(policy, loaded(entry(READ)), outbox).allows(event, READ, TOPIC, "t")
    [allowed] = outbox.drain()
    assert audit_line(allowed).startswith("DEBUG Principal = User:alice is Allowed")
    assert not quiet.allows(event, WRITE, TOPIC, "line\nbreak")
    assert "\n" not in audit_line(outbox.drain()[0])
