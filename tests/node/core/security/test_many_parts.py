"""Requests with many parts cost a few comparisons a part, also without any right.

The receiver decides such a request in one step, so the square of the parts would stop a node.
"""

from typing import ClassVar

import pytest
from typing_extensions import override

from kraftproof.node.core.base.config import AuthorizerPolicy, TokenPolicy
from kraftproof.node.core.base.secret import Secret
from kraftproof.node.core.base.security import SecurityProtocol
from kraftproof.node.core.broker.security.answers import describe_scram, describe_tokens
from kraftproof.node.core.events import Received
from kraftproof.node.core.metadata.apply import apply_all
from kraftproof.node.core.metadata.image import EMPTY_IMAGE
from kraftproof.node.core.security.credentials import user_principal
from kraftproof.node.wire.errors import ErrorCode
from kraftproof.node.wire.messages import (
    Message,
    create_partitions_request,
    create_topics_request,
    describe_delegation_token_request,
    describe_user_scram_credentials_request,
)
from kraftproof.node.wire.records.metadata import DelegationTokenRecord
from tests.node.core.controller.configs.asking import APPEND, SUBTRACT, TOPIC, incremental, resource
from tests.node.core.controller.desk import Desk, creation

PARTS = 200
MOST_A_PART = 10
EVE = user_principal("eve")


class CountedName(str):
    """A name that counts its comparisons with other names."""

    comparisons: ClassVar[int] = 0

    @override
    def __eq__(self, other: object) -> bool:
        CountedName.comparisons += 1
        return str.__eq__(self, other) is True

    __hash__ = str.__hash__


class UnsplitText(str):
    """A text that nobody may take apart."""

    @override
    def split(self, *_: object, **__: object) -> list[str]:
        raise AssertionError("the text was split")


def names() -> list[CountedName]:
    CountedName.comparisons = 0
    return [CountedName(f"name-{number}") for number in range(PARTS)]


def topics() -> Message:
    created = create_topics_request.CreatableTopic
    return create_topics_request.CreateTopicsRequest(
        topics=tuple(created(name=name, num_partitions=1, replication_factor=1) for name in names())
    )


def growths() -> Message:
    grown = create_partitions_request.CreatePartitionsTopic
    return create_partitions_request.CreatePartitionsRequest(
        topics=tuple(grown(name=name, count=2) for name in names())
    )


@pytest.mark.parametrize(
    ("principal", "request_of"), [("eve", topics), ("eve", growths), ("alice", growths)]
)
def test_a_controller_compares_a_name_with_few_others(principal: str, request_of) -> None:
    desk = Desk.active(brokers=1, authorizer=AuthorizerPolicy(super_users=("User:alice",)))
    desk.principal = user_principal(principal)
    answer = desk.ask(request_of(), version=3)
    results = answer.topics if request_of is topics else answer.results
    errors = {result.error_code for result in results}
    assert len(results) == PARTS
    assert (errors == {ErrorCode.TOPIC_AUTHORIZATION_FAILED}) == (principal == "eve")
    assert CountedName.comparisons < MOST_A_PART * PARTS


def test_a_broker_compares_the_users_of_a_description_with_few_others() -> None:
    module = describe_user_scram_credentials_request
    users = tuple(module.UserName(name=name) for name in [*names(), "name-7"])
    request = module.DescribeUserScramCredentialsRequest(users=users)
    results = describe_scram(EMPTY_IMAGE, request).results
    twice = [one.user for one in results if one.error_code == ErrorCode.DUPLICATE_RESOURCE]
    assert (len(results), twice) == (PARTS, ["name-7"])
    assert CountedName.comparisons < MOST_A_PART * PARTS


def test_a_token_is_described_to_the_named_owners_and_renewers() -> None:
    image = apply_all(
        EMPTY_IMAGE,
        tuple(
            DelegationTokenRecord(
                owner="User:eve",
                requester="User:eve",
                renewers=("User:bob",) if number == 3 else (),
                token_id=f"token-{number}",
            )
            for number in range(PARTS)
        ),
    )
    module = describe_delegation_token_request

    def tokens(*owners: str) -> list[str]:
        named = module.DescribeDelegationTokenOwner
        request = module.DescribeDelegationTokenRequest(
            owners=tuple(named(principal_type="User", principal_name=owner) for owner in owners)
        )
        event = Received(
            request=1,
            message=request,
            version=3,
            on_controller_listener=False,
            principal=EVE,
            client_host="h",
            security_protocol=SecurityProtocol.SASL_SSL,
        )
        policy = TokenPolicy(secret=Secret("secret"))
        return [one.token_id for one in describe_tokens(image, event, request, policy).tokens]

    assert tokens("bob", "carol") == ["token-3"]
    assert len(tokens("eve")) == PARTS
    assert tokens("carol") == tokens() == []


@pytest.mark.parametrize("operation", [APPEND, SUBTRACT])
def test_a_value_above_the_largest_size_is_refused_before_it_is_split(operation: int) -> None:
    desk = Desk.active(brokers=1)
    desk.ask(creation("t"))
    change = ("cleanup.policy", UnsplitText("x," * 20_000), operation)
    (result,) = desk.ask(incremental(resource(TOPIC, "t", change))).responses
    assert result.error_code == ErrorCode.INVALID_CONFIG
    assert "32767" in result.error_message
