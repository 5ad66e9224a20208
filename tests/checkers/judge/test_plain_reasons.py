"""Each finding says in a plain sentence what is wrong, and names the operations that show it."""

import json

import pytest

from kraftproof.checkers import check_paths
from kraftproof.checkers.history.operations import Operation
from kraftproof.checkers.initial import parse_initial
from kraftproof.checkers.judge.keys import judge_key
from kraftproof.checkers.models import model_named
from kraftproof.checkers.options import CheckOptions
from kraftproof.checkers.verdict import Verdict

S = 1_000_000_000
INFO, FAIL = "info", "fail"


def history(*operations):
    """The operations (f, input, answer, start, end) of a key; INFO and FAIL are no answers."""
    times = sorted(time for one in operations for time in one[3:])
    made = []
    for index, (f, asked, answer, start, end) in enumerate(operations):
        status = answer if answer in (INFO, FAIL) else "ok"
        made.append(
            Operation(
                index=index,
                process=index,
                f=f,
                key="k1",
                input=asked,
                output=None if status != "ok" else answer,
                status=status,
                invoke_time=int(start * S),
                complete_time=int(end * S),
                invoke_index=times.index(start),
                complete_index=None if status == INFO else times.index(end),
                node="1",
            )
        )
    return made


def reason(model, *operations):
    verdict = judge_key(model_named(model), "k1", history(*operations), CheckOptions())
    assert verdict.verdict is Verdict.INVALID
    return verdict.findings[0].reason


def cas(old, new, start, end, answer=True):
    return ("cas", [old, new], [old, new] if answer is True else answer, start, end)


def write(value, start, end, answer=True):
    return ("write", value, value if answer is True else answer, start, end)


def read(value, start, end):
    return ("read", None, value, start, end)


REGISTERS = {
    "two cas from one value": (
        [write(1, 0, 1), cas(1, 2, 2, 5), cas(1, 3, 2.5, 4)],
        "lost update: cas [1,3] (operation 2) also replaced the value 1, which only write 1"
        " (operation 0) had set",
    ),
    "two cas from the initial value": (
        [cas(None, 2, 2, 5), cas(None, 3, 2.5, 4)],
        "lost update: cas [null,3] (operation 1) also replaced the initial value null, which no"
        " operation had set again",
    ),
    "three cas from a value that was set twice": (
        [write(1, 0, 1), write(1, 0.5, 3.5), cas(1, 2, 2, 4), cas(1, 3, 2.5, 5), cas(1, 4, 3, 6)],
        "lost update: 2 other operations also replaced the value 1, the last of them cas [1,3]"
        " (operation 3), and 1 had been set only 2 times",
    ),
    "a cas after another cas": (
        [write(1, 0, 1), cas(1, 2, 2, 3), cas(1, 3, 4, 5)],
        "cas [1,2] (operation 1) had completed before it began and no operation set the value back",
    ),
    "a value after a newer one was read": (
        [write(1, 0, 1), write(2, 0.5, 3), read(2, 4, 5), read(1, 6, 7)],
        "read (operation 2) had returned 2 before it began and no operation set the value back",
    ),
}


@pytest.mark.parametrize("case", REGISTERS)
def test_a_register_names_what_replaced_its_value(case):
    operations, said = REGISTERS[case]
    assert reason("cas-register", *operations) == said


def test_a_lost_update_in_transactions_is_named():
    def increment(old, new, start, end):
        asked = [["r", "x", None], ["w", "x", new]]
        return ("txn", asked, [["r", "x", old], ["w", "x", new]], start, end)

    said = reason("multi-register", increment(0, 1, 0, 3), increment(0, 2, 1, 4))
    assert "lost update: txn" in said
    assert "(operation 0) also replaced the initial value 0 in register x" in said


def test_a_value_that_nothing_asks_for_is_called_another_value():
    """The write of 1 has no end that excludes it, so only the orders say that 5 replaced 1."""
    said = reason("cas-register", write(1, 0, 10), read(1, 1, 2), write(5, 3, 4), read(1, 5, 6))
    assert said == (
        "the 2 operations completed earlier have a legal order, which leaves another value; no"
        " legal order also contains this operation"
    )


A, B = {"a": 10, "b": 10}, {"a": 5, "b": 15}


def transfer(source, target, amount, start, end, answer=True):
    asked = {"from": source, "to": target, "amount": amount}
    return ("transfer", asked, asked if answer is True else answer, start, end)


BANKS = {
    "a transfer is not there": (
        [read(A, 0, 1), transfer("a", "b", 5, 2, 3), read(A, 4, 5)],
        "it read 10 of account a, which held 5 then: read (operation 0) read 10, and"
        " transfer from=a to=b amount=5 (operation 1) had changed it since",
    ),
    "a failed transfer is there": (
        [read(A, 0, 1), transfer("a", "b", 5, 2, 3, FAIL), read(B, 4, 5)],
        "it read 5 of account a, which held 10 then: read (operation 0) read 10, and no"
        " transfer had changed it since",
    ),
    "too little for an open transfer": (
        [read(A, 0, 1), transfer("a", "b", 2, 2, 9, INFO), read(B, 4, 5)],
        "it read 5 of account a, which held 8 to 10 then: read (operation 0) read 10, and"
        " no transfer had surely changed it since",
    ),
    "more than is there was moved": (
        [read(A, 0, 1), transfer("b", "a", 2, 2, 3), transfer("a", "b", 15, 4, 5)],
        "it took 15 from account a, which held 12 then: read (operation 0) read 10, and"
        " transfer from=b to=a amount=2 (operation 1) had changed it since",
    ),
    "an account is missing": (
        [transfer("a", "c", 5, 0, 1), read(A, 2, 3)],
        "account c is missing, which transfer from=a to=c amount=5 (operation 0) had changed",
    ),
    "another total": (
        [read(A, 0, 1), read({"a": 0, "b": 0}, 2, 3)],
        "its balances come to 0, those of read (operation 0) to 20",
    ),
}


@pytest.mark.parametrize("case", BANKS)
def test_a_bank_names_the_account_and_its_balance(case):
    operations, said = BANKS[case]
    assert reason("bank", *operations) == said


def lock(token, start, end):
    return ("lock", None, token, start, end)


def use(token, start, end, accepted=True):
    return ("use", token, accepted, start, end)


LOCKS = {
    "a larger token was granted": (
        [lock(1, 0, 1), lock(2, 2, 3), use(1, 4, 5)],
        "token 2 had been granted before it began (operation 1)",
    ),
    "nobody got the token": (
        [lock(1, 0, 1), use(7, 2, 3)],
        "no lock had answered token 7 by then",
    ),
    "the token was given back": (
        [lock(1, 0, 1), ("unlock", 1, 1, 2, 3), use(1, 4, 5)],
        "unlock 1 (operation 1) had completed before it began",
    ),
    "the token was refused": (
        [lock(1, 0, 1), use(1, 2, 3, accepted=False), use(1, 4, 5)],
        "use 1 (operation 1) had been refused before it began",
    ),
    "a token was granted twice": (
        [lock(1, 0, 1), use(1, 2, 3), lock(1, 4, 5)],
        "token 1 had been granted before it began (operation 0)",
    ),
}


@pytest.mark.parametrize("case", LOCKS)
def test_a_lock_names_why_a_token_is_dead(case):
    operations, said = LOCKS[case]
    assert reason("fencing-lock", *operations) == said


def put(element, start, end):
    return ("enqueue", element, element, start, end)


def take(element, start, end):
    return ("dequeue", None, element, start, end)


THREE = [put(1, 0, 1), put(2, 2, 3), put(3, 4, 5)]
QUEUES = {
    "empty in spite of three elements": (
        [*THREE, take(INFO, 6, 7), take(None, 8, 9)],
        "enqueue 1 (operation 0) and 2 others had completed before it began; no answered dequeue"
        " took their elements, and only one dequeue is without an answer",
    ),
    "the last of four elements": (
        [*THREE, take(INFO, 6, 7), put(4, 8, 9), take(4, 10, 11)],
        "enqueue 1 (operation 0) and 2 others had completed before 4 was put in; no answered"
        " dequeue took their elements, and only one dequeue is without an answer",
    ),
    "empty in spite of one element": (
        [put(1, 0, 1), take(None, 2, 3)],
        "enqueue 1 (operation 0) had completed before it began and no operation took that element"
        " out",
    ),
}


@pytest.mark.parametrize("case", QUEUES)
def test_a_queue_counts_the_elements_that_are_left(case):
    operations, said = QUEUES[case]
    assert reason("queue", *operations) == said


@pytest.mark.parametrize(
    ("first", "said"),
    [
        ({"a": 9, "b": 10}, "its balances come to 19, those at first to 20"),
        (
            {"a": 9, "b": 11},
            "it read 9 of account a, which held 10 then: it held 10 at first, and no transfer had"
            " changed it since",
        ),
    ],
)
def test_wrong_first_balances_are_named(tmp_path, first, said):
    events = [{"type": "invoke", "f": "read"}, {"type": "ok", "f": "read", "value": first}]
    lines = [
        json.dumps({"index": index, "process": 0, "key": "k1", **event})
        for index, event in enumerate(events)
    ]
    path = tmp_path / "history.jsonl"
    path.write_text("\n".join(lines))
    initial = parse_initial([json.dumps(A)])
    (verdict,) = check_paths([path], "bank", initial=initial)
    assert [said in finding.sentence for finding in verdict.findings] == [True], verdict.findings
