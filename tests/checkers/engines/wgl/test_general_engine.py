"""The general engine against brute force on small histories, and by construction on large ones."""

from collections.abc import Hashable, Sequence
from random import Random

import msgspec
import pytest

from kraftproof.checkers.engines.wgl.relaxed_search import check_linearizable
from kraftproof.checkers.history.operations import Operation
from kraftproof.checkers.models import SequentialModel
from kraftproof.checkers.models.cas_register import CasRegister
from kraftproof.checkers.models.kv_append import KvAppend
from kraftproof.checkers.models.mutex import Mutex
from kraftproof.checkers.models.topics import Topics
from kraftproof.checkers.options import Limits
from kraftproof.checkers.verdict import Verdict

LIMITS = Limits(seconds=20)


def brute_force(
    model: SequentialModel, operations: Sequence[Operation], end: int = 1 << 60
) -> bool:
    """Tries every order that keeps real time, up to an event; what is pending may be left out."""
    happened = [operation for operation in operations if operation.status != "fail"]
    calls = model.calls(happened)
    ends = [o.complete_index if o.status == "ok" else None for o in happened]

    def search(state: Hashable, left: frozenset[int]) -> bool:
        required = [done for i in left if (done := ends[i]) is not None and done < end]
        if not required:
            return True
        for i in sorted(left):
            if happened[i].invoke_index > min(required) or calls[i] is None:
                continue
            following = model.step(state, calls[i])
            if following is not None and search(following, left - {i}):
                return True
        return False

    return search(model.init(), frozenset(range(len(happened))))


def random_history(random: Random, draw, size: int, processes: int) -> list[Operation]:
    """Operations with random overlaps; `draw` says (f, input, output) of each."""
    operations: list[Operation] = []
    open_by_process: dict[int, Operation] = {}
    event = 0
    while len(operations) < size or open_by_process:
        process = random.randrange(processes)
        opened = open_by_process.pop(process, None)
        if opened is not None:
            status = random.choices(["ok", "info", "fail"], [75, 18, 7])[0]
            done = opened.output if status == "ok" else None
            index = event if status == "ok" else None
            operations[opened.index] = msgspec.structs.replace(
                opened, status=status, complete_index=index, output=done
            )
        elif len(operations) < size:
            f, asked, answered = draw(random)
            operation = Operation(
                index=len(operations),
                process=process,
                f=f,
                key="k",
                input=asked,
                output=answered,
                invoke_index=event,
            )
            operations.append(operation)
            if random.random() < 0.95:
                open_by_process[process] = operation
        event += 1
    return operations


def draw_cas(random: Random) -> tuple[str, object, object]:
    value = random.randrange(3)
    return random.choice(
        [
            ("read", None, random.choice([None, 0, 1, 2])),
            ("write", value, value),
            ("cas", [random.randrange(3), value], None),
        ]
    )


def draw_append(random: Random) -> tuple[str, object, object]:
    text = random.choice(["a", "b"])
    seen = "".join(random.choice("ab") for _ in range(random.randrange(3)))
    f = random.choice(["get", "append", "put"])
    return (f, None, seen) if f == "get" else (f, text, text)


def draw_mutex(random: Random) -> tuple[str, object, object]:
    return random.choice(["acquire", "release"]), None, None


def draw_topics(random: Random) -> tuple[str, object, object]:
    topic_id = random.choice(["A", "B", "C"])
    by = random.choice([{"by": "name"}, {"by": "id", "id": topic_id}])
    return random.choice(
        [
            ("create", None, {"outcome": "created", "id": topic_id}),
            ("create", None, {"outcome": "exists"}),
            ("delete", by, {"outcome": random.choice(["deleted", "absent"])}),
            ("lookup", None, {"outcome": random.choice(["exists", "absent"])}),
        ]
    )


MODELS = [
    (CasRegister(), draw_cas),
    (KvAppend(), draw_append),
    (Mutex(), draw_mutex),
    (Topics(), draw_topics),
]


@pytest.mark.parametrize(("model", "draw"), MODELS, ids=lambda value: getattr(value, "name", ""))
def test_agrees_with_brute_force_and_names_the_first_hopeless_completion(model, draw):
    random = Random(7)
    told = {Verdict.VALID: 0, Verdict.INVALID: 0}
    for _ in range(1500):
        size = random.randrange(1, 8)
        operations = random_history(random, draw, size, random.randrange(1, 5))
        outcome = check_linearizable(model, operations, LIMITS)
        assert (outcome.verdict is Verdict.VALID) == brute_force(model, operations), operations
        told[outcome.verdict] += 1
        if outcome.first_illegal is not None:
            end = outcome.first_illegal.complete_index
            assert end is not None
            assert brute_force(model, operations, end)
            assert not brute_force(model, operations, end + 1)
    assert min(told.values()) > 150, told


def linearizable_history(
    random: Random, size: int, processes: int, info_share: float
) -> list[Operation]:
    """A history of a real register: each operation takes effect between its events."""
    value: object = None
    operations: list[Operation] = []
    pending: dict[int, list] = {}
    event = 0
    while len(operations) < size or pending:
        process = random.randrange(processes)
        if process not in pending:
            if len(operations) < size:
                f = random.choice(["read", "write", "cas"])
                new = random.randrange(5)
                asked = {"read": None, "write": new, "cas": [random.randrange(5), new]}[f]
                pending[process] = [len(operations), None]
                operations.append(
                    Operation(
                        index=len(operations),
                        process=process,
                        f=f,
                        key="k",
                        input=asked,
                        invoke_index=event,
                    )
                )
        elif pending[process][1] is None:
            operation = operations[pending[process][0]]
            status, answer = "ok", operation.input
            if operation.f == "read":
                answer = value
            elif operation.f == "write":
                value = operation.input
            elif isinstance(operation.input, list) and operation.input[0] == value:
                value = operation.input[1]
            else:
                status = "fail"
            pending[process][1] = (status, answer)
        else:
            number, (status, answer) = pending.pop(process)
            lost = random.random() < info_share
            operations[number] = msgspec.structs.replace(
                operations[number],
                status="info" if lost else status,
                output=None if lost else answer,
                complete_index=None if lost else event,
            )
        event += 1
    return operations


@pytest.mark.parametrize(("processes", "info_share"), [(3, 0.0), (5, 0.0), (5, 0.01)])
def test_a_large_history_of_a_real_register_is_valid(processes, info_share):
    operations = linearizable_history(Random(processes), 4000, processes, info_share)
    assert check_linearizable(CasRegister(), operations, LIMITS).verdict is Verdict.VALID


def test_a_large_history_with_one_impossible_read_is_invalid_at_that_read():
    operations = linearizable_history(Random(11), 4000, 4, 0.0)
    reads = [o for o in operations if o.f == "read" and o.status == "ok" and o.index > 2000]
    broken = msgspec.structs.replace(reads[0], output=99)
    operations[broken.index] = broken
    outcome = check_linearizable(CasRegister(), operations, LIMITS)
    assert outcome.verdict is Verdict.INVALID
    assert outcome.first_illegal == broken
    completed = [o for o in operations if o.status == "ok"]
    before = [o for o in completed if (o.complete_index or 0) < (broken.complete_index or 0)]
    assert outcome.linearizable == len(before)


def hard_history() -> list[Operation]:
    """Lost appends of even lengths, and a read of an odd one: sums that no order reaches."""
    appends = [
        Operation(index=i, process=i, f="append", key="k", input="a" * (2 * i + 2), invoke_index=i)
        for i in range(24)
    ]
    read = Operation(
        index=24,
        process=24,
        f="get",
        key="k",
        input=None,
        output="a" * 301,
        status="ok",
        invoke_index=24,
        complete_index=25,
    )
    return [*appends, read]


@pytest.mark.parametrize(
    ("limits", "reason"),
    [
        (Limits(seconds=0.05), "no verdict within 0.05 s"),
        (Limits(seconds=60, memory_bytes=400_000), "no verdict within 400000 bytes"),
    ],
)
def test_a_limit_leaves_the_key_unknown_and_says_which(limits, reason):
    outcome = check_linearizable(KvAppend(), hard_history(), limits)
    assert outcome.verdict is Verdict.UNKNOWN
    assert outcome.reason == reason
