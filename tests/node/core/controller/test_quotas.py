"""AlterClientQuotas: every refusal, what is written, and the quotas of the image (631-88)."""

import math

import pytest

from kraftproof.node.core.controller.quotas import alter_client_quotas
from kraftproof.node.core.metadata.apply import apply_all
from kraftproof.node.core.metadata.image import EMPTY_IMAGE, MetadataImage
from kraftproof.node.core.metadata.quotas import entity
from kraftproof.node.core.metadata.snapshot import records_of
from kraftproof.node.wire.errors import ErrorCode
from kraftproof.node.wire.messages import alter_client_quotas_request as module
from kraftproof.node.wire.messages.generated.alter_client_quotas_request import (
    AlterClientQuotasRequest,
    EntryData,
)
from tests.node.core.controller.desk import Desk

pytestmark = pytest.mark.requirement("631-88")
Named = dict[str, str | None]
ALICE: Named = {"user": "alice"}


def entry(named: Named, *ops: tuple[str, float | None]) -> EntryData:
    """The operations of an entity; a value of None removes the quota."""
    return module.EntryData(
        entity=tuple(module.EntityData(entity_type=k, entity_name=v) for k, v in named.items()),
        ops=tuple(
            module.OpData(key=key, value=value or 0.0, remove=value is None) for key, value in ops
        ),
    )


def request(*entries: EntryData, validate_only: bool = False) -> AlterClientQuotasRequest:
    return module.AlterClientQuotasRequest(entries=entries, validate_only=validate_only)


def after(image: MetadataImage, *entries: EntryData) -> MetadataImage:
    outcome = alter_client_quotas(image, request(*entries))
    assert {result.error_code for result in outcome.reply.entries} == {ErrorCode.NONE}
    return apply_all(image, outcome.records)


REFUSED = [
    ({}, ("producer_byte_rate", 1), "the entity is empty"),
    ({"host": "h"}, ("producer_byte_rate", 1), "'host' is no type of an entity"),
    ({"user": ""}, ("producer_byte_rate", 1), "the entity has an empty name"),
    ({"ip": "10.0.0.1", "user": "a"}, ("connection_creation_rate", 1), "an ip is an entity alone"),
    ({"ip": "10.0.0"}, ("connection_creation_rate", 1), "'10.0.0' is no IP address"),
    ({"ip": None}, ("producer_byte_rate", 1), "'producer_byte_rate' is no quota of this entity"),
    (ALICE, ("connection_creation_rate", 1), "is no quota of this entity"),
    (ALICE, ("no_such_rate", 1), "'no_such_rate' is no quota of this entity"),
    (ALICE, ("producer_byte_rate", 0.0), "producer_byte_rate is 0.0, not greater than 0"),
    (ALICE, ("producer_byte_rate", -1), "not greater than 0"),
    (ALICE, ("request_percentage", math.nan), "not greater than 0"),
    (ALICE, ("producer_byte_rate", 1.5), "producer_byte_rate is 1.5, not a whole number"),
    (ALICE, ("consumer_byte_rate", math.inf), "greater than 9223372036854775807"),
    ({"ip": "::1"}, ("connection_creation_rate", 2.0**31), "greater than 2147483647"),
]


@pytest.mark.parametrize(("named", "operation", "words"), REFUSED)
def test_each_refusal_is_of_its_entity_only(
    named: Named, operation: tuple[str, float], words: str
) -> None:
    good = entry({"user": "bob"}, ("producer_byte_rate", 7))
    outcome = alter_client_quotas(EMPTY_IMAGE, request(entry(named, operation), good))
    bad, fine = outcome.reply.entries
    assert (bad.error_code, fine.error_code) == (ErrorCode.INVALID_REQUEST, ErrorCode.NONE)
    assert words in (bad.error_message or "")
    assert [(part.entity_type, part.entity_name) for part in bad.entity] == [*named.items()]
    assert [record.key for record in outcome.records] == ["producer_byte_rate"]


def test_names_that_occur_twice_are_refused() -> None:
    twice = entry(ALICE, ("producer_byte_rate", 1))
    both = alter_client_quotas(EMPTY_IMAGE, request(twice, twice))
    assert [result.error_code for result in both.reply.entries] == [ErrorCode.INVALID_REQUEST] * 2
    assert both.records == ()
    keys = entry(ALICE, ("producer_byte_rate", 1), ("producer_byte_rate", 2))
    (result,) = alter_client_quotas(EMPTY_IMAGE, request(keys)).reply.entries
    assert result.error_message == "a key is named twice"
    types = module.EntryData(
        entity=(
            module.EntityData(entity_type="user", entity_name="a"),
            module.EntityData(entity_type="user", entity_name="b"),
        )
    )
    (result,) = alter_client_quotas(EMPTY_IMAGE, request(types)).reply.entries
    assert result.error_message == "the entity has a type twice"


@pytest.mark.requirement("631-29")
def test_quotas_are_set_changed_and_removed() -> None:
    image = after(
        EMPTY_IMAGE, entry(ALICE, ("producer_byte_rate", 1024), ("request_percentage", 5))
    )
    alice = entity(("user", "alice"))
    assert dict(image.quotas.of(alice)) == {"producer_byte_rate": 1024.0, "request_percentage": 5.0}
    same = request(entry(ALICE, ("producer_byte_rate", 1024), ("consumer_byte_rate", None)))
    assert alter_client_quotas(image, same).records == ()
    image = after(image, entry(ALICE, ("producer_byte_rate", 2048), ("request_percentage", None)))
    assert dict(image.quotas.of(alice)) == {"producer_byte_rate": 2048.0}
    assert after(image, entry(ALICE, ("producer_byte_rate", None))) == EMPTY_IMAGE


def test_the_order_of_types_does_not_matter() -> None:
    pair: Named = {"user": "alice", "client-id": "app"}
    image = after(EMPTY_IMAGE, entry(pair, ("producer_byte_rate", 1)))
    turned = dict(reversed(pair.items()))
    assert after(image, entry(turned, ("producer_byte_rate", None))) == EMPTY_IMAGE


def test_defaults_differ_from_names_and_from_each_other_in_the_image_and_in_snapshots() -> None:
    image = after(
        EMPTY_IMAGE,
        entry({"user": None}, ("producer_byte_rate", 1)),
        entry({"client-id": None}, ("producer_byte_rate", 2)),
        entry({"user": None, "client-id": None}, ("producer_byte_rate", 3)),
        entry({"user": "alice", "client-id": None}, ("producer_byte_rate", 4)),
    )
    assert len(image.quotas.by_entity) == 4
    assert apply_all(EMPTY_IMAGE, tuple(records_of(image))) == image
    empty_name = apply_all(
        image,
        (
            type(next(iter(image.others.values())))(
                entity=(_part("user", ""),), key="producer_byte_rate", value=9.0
            ),
        ),
    )
    assert empty_name.quotas.of(entity(("user", None)))["producer_byte_rate"] == 1.0
    assert empty_name.quotas.of(entity(("user", "")))["producer_byte_rate"] == 9.0
    assert apply_all(EMPTY_IMAGE, tuple(records_of(empty_name))) == empty_name


def _part(kind: str, name: str | None):
    from kraftproof.node.wire.records.metadata import EntityData

    return EntityData(entity_type=kind, entity_name=name)


def test_only_validating_writes_nothing() -> None:
    trial = request(entry(ALICE, ("producer_byte_rate", 1)), validate_only=True)
    outcome = alter_client_quotas(EMPTY_IMAGE, trial)
    assert [result.error_code for result in outcome.reply.entries] == [ErrorCode.NONE]
    assert outcome.records == ()


def test_more_records_than_a_request_may_write_are_refused() -> None:
    entries = [entry({"user": f"u{n}"}, ("producer_byte_rate", 1)) for n in range(10_001)]
    outcome = alter_client_quotas(EMPTY_IMAGE, request(*entries))
    assert {result.error_code for result in outcome.reply.entries} == {ErrorCode.POLICY_VIOLATION}
    assert outcome.records == ()


def test_the_answer_comes_after_the_commit_and_a_standby_refuses() -> None:
    desk = Desk.active(brokers=1)
    answer = desk.ask(request(entry(ALICE, ("controller_mutation_rate", 0.5))), forwarded=True)
    assert answer.entries[0].error_code == ErrorCode.NONE
    assert dict(desk.image.quotas.of(entity(("user", "alice")))) == {
        "controller_mutation_rate": 0.5
    }
    desk.lose()
    refused = desk.ask(request(entry(ALICE, ("controller_mutation_rate", 1))))
    assert refused.entries[0].error_code == ErrorCode.NOT_CONTROLLER
