"""The topics model: the life cycle of a name, and what brokers show of it."""

import msgspec
import pytest

from kraftproof.checkers.history.operations import Operation, read_operations
from kraftproof.checkers.judge.keys import judge_key
from kraftproof.checkers.kraft.describe import (
    CONVERGES,
    IDS_UNIQUE,
    MONOTONIC,
    NOT_BEFORE_CREATE,
    came_back,
    ids_given_twice,
    lags,
)
from kraftproof.checkers.models.topics import Topics
from kraftproof.checkers.options import CheckOptions, LeaseBounds
from kraftproof.checkers.verdict import FindingKind, Verdict

MS = 1_000_000
MODEL = Topics()
A, B = "A" * 22, "B" * 22


def created(topic_id=A):
    return ("create", None, {"outcome": "created", "id": topic_id})


def delete(outcome, topic_id=None):
    by = {"by": "name"} if topic_id is None else {"by": "id", "id": topic_id}
    return ("delete", by, {"outcome": outcome})


def lookup(outcome):
    return ("lookup", None, {"outcome": outcome})


def describe(outcome, topic_id=A):
    return ("describe", {"id": topic_id}, {"outcome": outcome})


LOST_CREATE = ("create", None, None)


def in_series(steps, node="broker 4", keys=None):
    """Operations one after the other; one without an answer is indeterminate."""
    return [
        Operation(
            index=i,
            process=0 if output is not None else 100 + i,
            f=f,
            key=keys[i] if keys else "t",
            input=asked,
            output=output,
            status="info" if output is None else "ok",
            invoke_index=2 * i,
            complete_index=None if output is None else 2 * i + 1,
            node=node,
        )
        for i, (f, asked, output) in enumerate(steps)
    ]


def judge(operations):
    for operation in operations:
        MODEL.validate(operation)
    return judge_key(MODEL, "t", operations, CheckOptions())


@pytest.mark.parametrize(
    "steps",
    [
        [created(), lookup("exists"), delete("deleted"), lookup("absent"), created(B)],
        [created(), ("create", None, {"outcome": "exists"}), delete("deleted", A)],
        [created(), delete("deleted"), created(B), delete("absent", A), lookup("exists")],
        [LOST_CREATE, lookup("exists"), delete("deleted", B), lookup("absent")],
        [LOST_CREATE, lookup("absent"), lookup("exists"), delete("deleted")],
        [created(), ("delete", {"by": "name"}, None), lookup("exists"), lookup("absent")],
        [
            created(),
            describe("absent"),
            describe("present"),
            delete("deleted"),
            describe("present"),
        ],
    ],
)
def test_legal_life_cycles_are_valid(steps):
    assert judge(in_series(steps)).verdict is Verdict.VALID


@pytest.mark.parametrize(
    ("steps", "at"),
    [
        ([created(), lookup("absent")], 1),
        ([created(), delete("deleted"), lookup("exists")], 2),
        ([created(), created(B)], 1),
        ([created(), delete("deleted", A), delete("deleted", A)], 2),
        ([created(), delete("absent", A)], 1),
        ([created(), delete("deleted"), LOST_CREATE, delete("deleted", A)], 3),
        ([LOST_CREATE, lookup("exists"), lookup("absent")], 2),
    ],
)
def test_an_impossible_answer_is_invalid_and_named(steps, at):
    verdict = judge(in_series(steps))
    assert verdict.verdict is Verdict.INVALID
    (finding,) = verdict.findings
    assert (finding.check, finding.operation_index) == ("topics/linearizable", at)


def test_a_topic_shown_before_any_create_could_make_it_is_invalid():
    verdict = judge(in_series([describe("present"), created()]))
    assert [finding.check for finding in verdict.findings] == [NOT_BEFORE_CREATE]


def test_a_topic_that_comes_back_on_one_connection_is_invalid():
    seen = [describe("present"), delete("deleted"), describe("absent")]
    (finding,) = came_back(in_series([created(), *seen, describe("present")]))
    assert (finding.check, finding.operation_index) == (MONOTONIC, 4)


def test_a_topic_may_be_old_news_on_another_broker_or_connection():
    seen = [created(), describe("present"), delete("deleted"), describe("absent")]
    first = in_series(seen)
    assert came_back([*first, in_series([*seen, describe("present")], node="broker 5")[4]]) == []
    again = msgspec.structs.replace(in_series([*seen, describe("present")])[4], process=7)
    assert came_back([*first, again]) == []


def test_what_is_shown_of_one_topic_binds_the_answers_about_all_others():
    """A's create was over before B's was asked for: whoever shows B has A."""
    both = [created(), created(B), describe("present", B)]
    (finding,) = came_back(in_series([*both, describe("absent", A)], keys=["ta", "tb", "tb", "ta"]))
    assert (finding.check, finding.operation_index) == (MONOTONIC, 3)
    concurrent = in_series([*both, describe("absent", A)], keys=["ta", "tb", "tb", "ta"])
    concurrent[1] = msgspec.structs.replace(concurrent[1], process=1, invoke_index=0)
    assert came_back(concurrent) == []
    lost = [created(), ("delete", {"by": "name"}, None), created(B), describe("present", B)]
    keys = ["ta", "ta", "tb", "tb", "ta"]
    assert came_back(in_series([*lost, describe("absent", A)], keys=keys)) == []
    unlucky = in_series([*lost, describe("present", A)], keys=keys)
    assert came_back(unlucky) == []


def test_a_deleted_topic_is_not_shown_after_what_came_later():
    gone = [created(), delete("deleted"), created(B), describe("present", B)]
    keys = ["ta", "ta", "tb", "tb", "ta"]
    (finding,) = came_back(in_series([*gone, describe("present", A)], keys=keys))
    assert (finding.check, finding.operation_index) == (MONOTONIC, 4)
    assert came_back(in_series([*gone, describe("absent", A)], keys=keys)) == []


def test_a_topic_that_vanishes_without_a_delete_is_invalid():
    vanished = [created(), describe("present"), describe("absent")]
    (finding,) = came_back(in_series(vanished))
    assert "no delete had been requested" in finding.reason


@pytest.mark.parametrize(
    ("after_ms", "disturbed_ms", "kinds"),
    [
        (900, (), []),
        (1500, (), [FindingKind.AVAILABILITY]),
        (2500, (), [FindingKind.SAFETY]),
        (2500, (100, 1200), []),
        (6000, (100, 1200), [FindingKind.SAFETY]),
    ],
)
@pytest.mark.parametrize("outcome", ["present", "absent"])
def test_a_broker_that_does_not_follow_is_slow_and_then_wrong(
    outcome, after_ms, disturbed_ms, kinds
):
    before = [created(), delete("deleted")] if outcome == "present" else [created()]
    operations = [
        msgspec.structs.replace(o, invoke_time=o.index * MS, complete_time=(o.index + 1) * MS)
        for o in in_series([*before, describe(outcome)])
    ]
    told_at = len(before) * MS + after_ms * MS
    operations[-1] = msgspec.structs.replace(
        operations[-1], invoke_time=told_at, complete_time=told_at + MS
    )
    disturbed = (tuple(at * MS for at in disturbed_ms),) if disturbed_ms else ()
    bounds = LeaseBounds(failover_ns=1000 * MS, disturbed=disturbed)
    findings = lags(operations, bounds)
    assert [finding.kind for finding in findings] == kinds
    assert all(finding.check == CONVERGES for finding in findings)


def test_an_id_that_two_creates_were_given_is_invalid():
    steps = [created(), delete("deleted"), created()]
    (finding,) = ids_given_twice(in_series(steps))
    assert (finding.check, finding.operation_index) == (IDS_UNIQUE, 2)


@pytest.mark.parametrize(
    ("event", "wanted"),
    [
        (("rename", None, None), "field f: rename is no operation of topics"),
        (("delete", {"by": "luck"}, {"outcome": "deleted"}), 'delete takes {"by": "name"}'),
        (("create", None, {"outcome": "created"}), "created lacks its id"),
        (("lookup", None, {"outcome": "maybe"}), "outcome of lookup is one of exists, absent"),
        (("describe", None, {"outcome": "present"}), 'describe takes {"id": ID}'),
    ],
)
def test_values_that_are_none_of_the_model_are_refused(write_history, event, wanted):
    f, asked, answered = event
    path = write_history([(0, "invoke", f, asked), (0, "ok", f, answered)], key="t")
    with pytest.raises(ValueError, match="field") as refused:
        read_operations(path, MODEL.validate)
    assert wanted in str(refused.value)
    assert str(refused.value).startswith(f"{path}:2: ")
