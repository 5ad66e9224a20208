"""Findings say what, where, when and under which fault; a reason is never wrong; values are cut."""

from random import Random

import msgspec
import pytest

from kraftproof.checkers import check_paths, findings
from kraftproof.checkers.engines.types import Outcome
from kraftproof.checkers.generate import GenerateOptions, generated_table
from kraftproof.checkers.generate.catalogue import SUBJECTS
from kraftproof.checkers.history.faults import FaultEvent, fault_spans, faults_near
from kraftproof.checkers.history.operations import Operation
from kraftproof.checkers.history.tables import operations_of
from kraftproof.checkers.judge.keys import judge_key
from kraftproof.checkers.judge.reasons import ReasoningModel, reason_of
from kraftproof.checkers.models import model_named
from kraftproof.checkers.options import CheckOptions
from kraftproof.checkers.text import LONGEST_VALUE, shortened
from kraftproof.checkers.verdict import CheckerInputError, Finding, FindingKind, Verdict
from tests.support.checkers.cases import CASES, drawn, sequential
from tests.support.checkers.reference import find_first_illegal
from tests.support.random_cases import random_cases

S = 1_000_000_000
KINDS = [
    (name, kind)
    for name, subject in SUBJECTS.items()
    for kind in subject.corruptions
    if isinstance(model_named(name), ReasoningModel)
]
REASONS = {
    ("cas-register", "stale-read"): "no operation set the value back",
    ("cas-register", "phantom"): "no operation ever set",
    ("cas-register", "dirty-read"): "failed",
    ("map", "phantom"): "no operation ever set",
    ("set", "lost-add"): "no operation removed it",
    ("set", "phantom"): "no operation had added",
    ("counter", "lost-add"): "comes to at least",
    ("counter", "too-high"): "comes to at most",
    ("queue", "duplicate"): "had already taken it",
    ("queue", "phantom"): "no operation had put",
    ("queue", "false-empty"): "no operation took that element out",
    ("mutex", "double-acquire"): "no release had begun since",
    ("append-log", "lost-record"): "had completed there before it began",
    ("kv-append", "phantom"): "no string written by then continues with",
    ("kv-append", "lost-append"): "is not in the answer",
    ("list-append", "phantom"): "no operation ever appended",
    ("list-append", "lost-append"): "neither is the beginning of the other",
    ("list-append", "reordered"): "neither is the beginning of the other",
    ("multi-register", "phantom"): "no operation ever set",
    ("multi-register", "stale-read"): "no operation set the value in register",
    ("registration", "repeated-epoch"): "epochs only grow",
    ("registration", "live-refused"): "nor an unregister had begun since",
    ("registration", "stale-epoch"): "had been given epoch",
    ("topics", "absent"): "no delete had begun since",
}


def history(model, seed, corrupt=None):
    options = GenerateOptions(
        model=model,
        operations=90,
        concurrency=1 + seed % 5,
        values=None if seed % 3 else 3,
        indeterminate=0.03,
        failed=0.1,
        corrupt=corrupt,
        seed=seed,
    )
    return operations_of(generated_table(options))


def fault(phase, second, *, kind="kill", name="f0", targets=(2,)):
    return FaultEvent(
        index=0, time=int(second * S), phase=phase, fault=name, kind=kind, targets=list(targets)
    )


def register(index, f, value, at, *, answer=None, node="1"):
    return Operation(
        index=index,
        process=index,
        f=f,
        key="k1",
        input=value,
        output=answer,
        status="ok",
        invoke_time=int(at * S),
        complete_time=int((at + 0.1) * S),
        invoke_index=2 * index,
        complete_index=2 * index + 1,
        node=node,
    )


STALE = [
    register(0, "write", 3, 1.0),
    register(1, "write", 4, 2.0),
    register(2, "read", None, 12.3, answer=3, node="2"),
]


def test_a_stale_read_under_a_kill_is_one_plain_sentence_made_of_fields():
    spans = fault_spans([fault("applied", 11.6), fault("bitten", 11.7)])
    verdict = judge_key(model_named("cas-register"), "k1", STALE, CheckOptions(faults=spans))
    (finding,) = verdict.findings
    assert finding.sentence == (
        "read of k1 on node 2 returned 3 at 12.400 s, 0.8 s after kill of node 2 (in force);"
        " write 4 (operation 1) had completed before it began and no operation set the value back"
        " (operation 2)"
    )
    assert (finding.fact, finding.node) == ("read of k1 on node 2 returned 3", "2")
    assert (finding.time_ns, finding.events) == (12_400_000_000, (4, 5))
    (near,) = finding.faults
    assert (near.name, near.kind, near.target) == ("f0", "kill", "node 2")
    assert (round(near.seconds_before, 3), near.is_in_force) == (0.8, True)


@pytest.mark.parametrize(
    ("spans", "said"),
    [
        (None, "at 12.400 s; write 4"),
        ((), "at 12.400 s; write 4"),
        ([fault("applied", 20)], "at 12.400 s, before any fault; write 4"),
        (
            [fault("applied", 3), fault("healed", 9)],
            "at 12.400 s, 3.4 s after kill of node 2 was healed; write 4",
        ),
        (
            [
                fault("applied", 12.36, kind="pause", targets=("active", 3)),
                fault("applied", 10.4, name="f1", kind="partition", targets=(1, 3)),
            ],
            "at 12.400 s, 40 ms after pause of active, 3 (in force), 2.0 s after partition of nodes"
            " 1, 3 (in force); write 4",
        ),
    ],
)
def test_the_faults_are_those_in_force_or_the_last_healed(spans, said):
    faults = None if spans is None else fault_spans(spans)
    verdict = judge_key(model_named("cas-register"), "k1", STALE, CheckOptions(faults=faults))
    assert said in verdict.findings[0].sentence


def test_of_many_faults_the_latest_are_named():
    spans = fault_spans([fault("applied", n, name=f"f{n}", targets=(n,)) for n in range(1, 8)])
    assert [one.name for one in faults_near(spans, 6 * S)] == ["f6", "f5", "f4", "f3", "f2", "f1"]
    found = Finding(check="c", kind=FindingKind.SAFETY, sentence="It broke", time_ns=6 * S)
    sentence = findings.located(found, None, spans).sentence
    assert sentence.endswith("2.0 s after kill of node 4 (in force) and 3 more in force")


def test_times_of_a_wall_clock_are_times_of_day():
    assert findings.moment_text(1_767_225_600_123_000_000 + 3_723 * S) == "01:02:03.123 UTC"
    assert findings.moment_text(0) == "0.000 s"


@pytest.mark.parametrize("model", sorted({name for name, _ in KINDS}))
def test_no_operation_of_a_valid_history_has_a_reason_to_be_wrong(model):
    judge = model_named(model)
    looked_at = 0
    for seed in range(8):
        operations = history(model, seed)
        for one in operations:
            if one.status == "ok":
                assert judge.reason(operations, one) is None, (seed, one)
                looked_at += 1
    assert looked_at > 300


@pytest.mark.parametrize(
    "case",
    [
        "bank",
        "bank-overdraft",
        "cas-register",
        "cas-register/cas",
        "fencing-lock",
        "kv-append",
        "kv-append/pieces",
        "list-append",
        "list-append/repeated",
        "multi-register",
        "multi-register/unique",
        "queue",
        "registration",
        "stack",
    ],
)
def test_no_operation_of_a_valid_random_history_has_a_reason_to_be_wrong(case):
    """Lost answers, repeated values and overlaps of every kind; most of the invalid have one."""
    random, model, (apply, _) = Random(f"reasons {case}"), sequential(case), CASES[case]
    looked_at, reasons, invalid = 0, 0, 0
    for _ in range(random_cases(800, share=2)):
        operations = drawn(random, case, range(3, 9))
        first_illegal = find_first_illegal(apply, operations)
        if first_illegal is None:
            answered = [one for one in operations if one.status == "ok"]
            assert [model.reason(operations, one) for one in answered] == [None] * len(answered)
            looked_at += len(answered)
        else:
            invalid += 1
            reasons += model.reason(operations, first_illegal) is not None
    assert looked_at > 300
    assert reasons > invalid / 2, (reasons, invalid)


@pytest.mark.parametrize(("model", "kind"), REASONS)
def test_the_plain_kinds_of_wrong_answers_have_their_reason(model, kind):
    found = []
    for seed in range(4):
        try:
            operations = history(model, seed, kind)
        except CheckerInputError:
            continue
        verdict = judge_key(model_named(model), "0", operations, CheckOptions())
        assert verdict.verdict is Verdict.INVALID
        found.append(verdict.findings[0].reason)
    assert any(REASONS[model, kind] in reason for reason in found), found


def test_a_model_that_fails_to_say_why_leaves_a_general_reason():
    class Failing(type(model_named("cas-register"))):
        def reason(self, operations, wrong):
            raise KeyError(wrong)

    outcome = Outcome(verdict=Verdict.INVALID, engine="e", linearizable=2, states=("value 4",))
    said = reason_of(Failing(), STALE, STALE[2], outcome)
    assert said == (
        "the 2 operations completed earlier have a legal order, which leaves value 4; no legal"
        " order also contains this operation"
    )


def test_a_long_value_is_cut_and_the_cut_is_seen():
    assert shortened("x" * LONGEST_VALUE) == "x" * LONGEST_VALUE
    assert shortened("x" * 1_342_117) == f"{'x' * LONGEST_VALUE}... (1,342,117 characters)"
    long = [msgspec.structs.replace(one, key="k" * 5_000) for one in STALE]
    long[2] = msgspec.structs.replace(long[2], output="y" * 1_000_000)
    verdict = judge_key(model_named("cas-register"), "k" * 5_000, long, CheckOptions())
    sentence = verdict.findings[0].sentence
    assert len(sentence) < 1_000
    assert "(5,000 characters)" in sentence
    assert "(1,000,000 characters)" in sentence


@pytest.mark.parametrize(
    ("model", "f", "value"),
    [
        ("cas-register", "cas", ["x" * 1_342_117]),
        ("cas-register", "w" * 50_000, 1),
        ("list-append", "txn", "x" * 50_000),
        ("counter", "add", "x" * 50_000),
        ("kv-append", "append", ["x" * 50_000]),
        ("topics", "describe", {"name": "x" * 50_000}),
    ],
)
def test_a_refusal_of_a_long_value_is_a_short_line(model, f, value, tmp_path):
    path = tmp_path / "h.jsonl"
    told = {"index": 0, "process": 0, "type": "invoke", "f": f, "key": "k", "value": value}
    path.write_bytes(
        b"\n".join(map(msgspec.json.encode, (told, told | {"index": 1, "type": "ok"})))
    )
    with pytest.raises(CheckerInputError) as refused:
        list(check_paths([path], model, "inline"))
    assert len(str(refused.value)) < 1_000
    assert "characters)" in str(refused.value)


@pytest.mark.parametrize("token", [1, 2])
def test_an_accepted_token_is_not_taken_for_an_answer_equal_to_its_token(token):
    use = register(0, "use", token, 1.0, answer=True)
    assert findings.fact_of(use) == f"use {token} on k1 on node 1 returned true"
