"""Changes of configurations of the specification: right results, and wrong ones."""

import pytest

from kraftproof.checkers.kraft.specification import rows
from kraftproof.checkers.kraft.specification.errors import Code
from kraftproof.checkers.kraft.specification.rows import configs
from tests.checkers.kraft.specification.cluster import image, wrong_answer, wrong_records

TOPIC, BROKER, GROUP = 2, 4, 32


def record(name, value, *, kind=TOPIC, of="old.topic"):
    return rows.ConfigRecord(resource_type=kind, resource_name=of, name=name, value=value)


def asked(*changes, kind=TOPIC, of="old.topic", validate_only=False, times=1):
    resource = configs.AlteredResource(
        resource_type=kind,
        resource_name=of,
        configs=tuple(
            configs.Alteration(name=name, value=value, config_operation=operation)
            for name, value, operation in changes
        ),
    )
    return configs.IncrementalAlterConfigsRequest(
        resources=(resource,) * times, validate_only=validate_only
    )


def answered(*codes, kind=TOPIC, of="old.topic"):
    results = tuple(
        configs.ResourceResult(resource_type=kind, resource_name=of, error_code=code)
        for code in codes
    )
    return configs.IncrementalAlterConfigsResponse(responses=results)


SET = image(record("retention.ms", "5"), record("cleanup.policy", "compact"))


def test_a_change_with_its_records_and_its_answer():
    request, made = asked(("retention.ms", "7", 0)), record("retention.ms", "7")
    assert wrong_records(request, made, before=SET) is None
    assert wrong_answer(request, [made], answered(0), before=SET) is None
    for wrong in (
        (),
        (record("retention.ms", "8"),),
        (made, record("segment.ms", "1")),
        (made, record("retention.ms", "7", of="other")),
        (record("retention.ms", None),),
        (rows.NoOpRecord(),),
    ):
        assert wrong_records(request, *wrong, before=SET) is not None
    for wrong in (answered(Code.INVALID_CONFIG), answered(0, 0), answered(0, of="t")):
        assert wrong_answer(request, [made], wrong, before=SET) is not None
    assert wrong_answer(request, (), answered(0), before=SET) is not None
    assert wrong_answer(request, (), answered(Code.INVALID_CONFIG), before=SET) is not None


@pytest.mark.parametrize(
    ("change", "made"),
    [
        (("cleanup.policy", "delete", 2), record("cleanup.policy", "compact,delete")),
        (("cleanup.policy", "compact", 3), record("cleanup.policy", "")),
        (("retention.ms", None, 1), record("retention.ms", None)),
    ],
)
def test_lists_and_removals(change, made):
    assert wrong_records(asked(change), made, before=SET) is None
    assert wrong_records(asked(change), record("retention.ms", "1"), before=SET) is not None


def test_a_list_grows_from_its_default():
    request = asked(("cleanup.policy", "compact", 2))
    assert wrong_records(request, record("cleanup.policy", "delete,compact")) is None
    assert wrong_records(request, record("cleanup.policy", "compact")) is not None


@pytest.mark.parametrize(
    ("request_", "code"),
    [
        (asked(("retention.ms", "-2", 0)), Code.INVALID_CONFIG),
        (asked(("no.such.config", "1", 0)), Code.INVALID_CONFIG),
        (asked(("retention.ms", "1", 2)), Code.INVALID_CONFIG),
        (asked(("retention.ms", None, 0)), Code.INVALID_REQUEST),
        (asked(("retention.ms", "1", 9)), Code.INVALID_REQUEST),
        (asked(("retention.ms", "1", 0), ("retention.ms", "1", 0)), Code.INVALID_REQUEST),
        (asked(of="no.topic"), Code.UNKNOWN_TOPIC_OR_PARTITION),
        (asked(of="a b"), Code.INVALID_TOPIC_EXCEPTION),
        (asked(of=""), Code.INVALID_REQUEST),
        (asked(kind=BROKER, of="9"), Code.BROKER_ID_NOT_REGISTERED),
        (asked(kind=BROKER, of="x"), Code.INVALID_REQUEST),
        (asked(kind=GROUP, of=""), Code.INVALID_REQUEST),
        (asked(kind=3), Code.INVALID_REQUEST),
        (asked(("k", "x" * 32_768, 0), kind=BROKER, of=""), Code.INVALID_CONFIG),
    ],
)
def test_a_refusal_has_a_cause(request_, code):
    named = {
        "kind": request_.resources[0].resource_type,
        "of": request_.resources[0].resource_name,
    }
    assert wrong_records(request_) is None
    assert wrong_answer(request_, (), answered(code, **named)) is None
    assert wrong_answer(request_, (), answered(Code.POLICY_VIOLATION, **named)) is not None
    assert wrong_answer(request_, (), answered(0, **named)) is not None


def test_a_refused_change_was_not_written():
    request, made = asked(("retention.ms", "-2", 0)), record("retention.ms", "-2")
    assert wrong_records(request, made) is not None
    assert wrong_answer(asked(times=2), (), answered(Code.INVALID_REQUEST)) is not None
    assert wrong_answer(asked(times=2), (), answered(*[Code.INVALID_REQUEST] * 2)) is None


def test_a_validation_writes_nothing():
    request, made = asked(("retention.ms", "7", 0), validate_only=True), record("retention.ms", "7")
    assert wrong_records(request) is None
    assert wrong_records(request, made) is not None
    assert wrong_answer(request, (), answered(0)) is None


def test_the_older_request_replaces_what_was_set():
    resource = asked(("segment.ms", "9", 0)).resources
    request = configs.AlterConfigsRequest(resources=resource)
    made = (record("segment.ms", "9"), record("retention.ms", None))
    assert wrong_records(request, *made, record("cleanup.policy", None), before=SET) is None
    assert wrong_records(request, *made, before=SET) is not None


def test_values_of_brokers_are_written_though_they_stay():
    request = asked(("num.io.threads", "9", 0), kind=BROKER, of="1")
    made = record("num.io.threads", "9", kind=BROKER, of="1")
    assert wrong_records(request, made) is None
    assert wrong_records(request, made, before=image(made)) is None
    assert wrong_records(asked(kind=GROUP, of="g"), made) is not None
