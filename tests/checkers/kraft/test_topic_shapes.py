"""Answers about topics that carry partitions, replicas and configurations, right and wrong."""

import pytest
from msgspec.structs import replace

from kraftproof.checkers.history.operations import Operation
from kraftproof.checkers.kraft.topic_shapes import AS_ASKED, as_asked
from kraftproof.checkers.models.topics import Topics

ID = "A" * 22
SHAPE = {"partitions": 2, "configs": {"retention.ms": "5"}}
CREATED = {"outcome": "created", "id": ID, "factor": 2, **SHAPE}
SHOWN = {
    "outcome": "present",
    "indexes": [0, 1],
    "replicas": [[4, 5], [5, 6]],
    "isrs": [[4, 5], [5, 6]],
    "leaders": [4, 5],
    "epochs": [0, 0],
}


def operations(*steps, nodes=None):
    return [
        Operation(
            index=index,
            process=0,
            f=f,
            key="t",
            input=asked,
            output=output,
            status="ok",
            invoke_index=2 * index,
            complete_index=2 * index + 1,
            node=nodes[index] if nodes else "4",
        )
        for index, (f, asked, output) in enumerate(steps)
    ]


def create(**changes):
    return ("create", SHAPE, {**CREATED, **changes})


def describe(**changes):
    return ("describe", {"id": ID}, {**SHOWN, **changes})


def reasons(*steps, **options):
    findings = as_asked(operations(*steps, **options))
    assert {finding.check for finding in findings} <= {AS_ASKED}
    return [finding.reason for finding in findings]


def test_answers_that_agree():
    changed = describe(isrs=[[5], [5, 6]], leaders=[5, 5], epochs=[1, 0])
    assert reasons(create(), describe(), changed) == []


@pytest.mark.parametrize(
    "changes", [{"partitions": 1}, {"configs": {}}, {"configs": {"retention.ms": "6"}}]
)
def test_a_create_that_is_not_as_asked(changes):
    (reason,) = reasons(create(**changes))
    assert "asked for" in reason


def test_a_create_without_a_shape_asks_for_one_partition():
    assert reasons(("create", None, {**CREATED, "configs": {}, "partitions": 1})) == []
    assert len(reasons(("create", None, CREATED))) == 1


@pytest.mark.parametrize(
    ("changes", "wrong"),
    [
        pytest.param({"indexes": [0, 2]}, "partitions [0, 2]", id="a gap"),
        pytest.param({"replicas": [[4, 4], [5, 6]]}, "replicas [4, 4]", id="a replica twice"),
        pytest.param({"isrs": [[4, 6], [5]]}, "ISR [4, 6]", id="no replica in the ISR"),
        pytest.param({"isrs": [[], [5]]}, "ISR []", id="an empty ISR"),
        pytest.param({"leaders": [6, 5]}, "leader 6", id="a leader out of sync"),
    ],
)
def test_a_describe_that_contradicts_itself(changes, wrong):
    (reason,) = reasons(describe(**changes))
    assert wrong in reason


def test_a_describe_that_differs_from_the_create():
    fewer = {name: SHOWN[name][:1] for name in SHOWN if name != "outcome"}
    assert "created with 2" in reasons(create(), describe(**fewer))[0]
    one = describe(replicas=[[4], [5]], isrs=[[4], [5]])
    assert "created with 2" in reasons(create(), one)[0]


def test_replicas_stay():
    other = describe(replicas=[[4, 6], [5, 6]], isrs=[[4], [5]])
    assert "was shown with" in reasons(describe(), other)[0]


def test_leader_epochs_never_go_back_over_one_connection():
    later = describe(epochs=[1, 0])
    assert "leader epochs" in reasons(later, describe())[0]
    assert reasons(later, describe(), nodes=["4", "5"]) == []


def test_histories_without_shapes_are_not_judged():
    bare = {"outcome": "present"}
    assert reasons(("create", SHAPE, {"outcome": "created", "id": ID})) == []
    assert reasons(create(), ("describe", {"id": ID}, bare), describe()) == []


@pytest.mark.parametrize(
    ("f", "output", "said"),
    [
        ("create", {**CREATED, "partitions": "2"}, "partitions"),
        ("create", {"outcome": "created", "id": ID, "factor": 1}, "partitions"),
        ("describe", {**SHOWN, "leaders": [4]}, "different lengths"),
        ("describe", {**SHOWN, "isrs": None}, "isrs"),
    ],
)
def test_a_malformed_shape_is_refused(f, output, said):
    (operation,) = operations((f, {"id": ID} if f == "describe" else None, output))
    with pytest.raises(ValueError, match=said):
        Topics().validate(operation)
    Topics().validate(replace(operation, status="info"))
