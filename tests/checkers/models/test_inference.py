"""A model is inferred only where functions and the shape of values fit exactly one."""

import pytest

from kraftproof.checkers.history.operations import Operation
from kraftproof.checkers.models.inference import infer_model
from kraftproof.checkers.verdict import CheckerInputError


def inferred(*triples):
    """The model inferred for operations (f, input, output), or the refusal."""
    some = [
        Operation(
            index=place, process=0, f=f, key="null", input=asked, output=told, status="ok",
            invoke_index=2 * place, complete_index=2 * place + 1,
        )
        for place, (f, asked, told) in enumerate(triples)
    ]  # fmt: skip
    try:
        return infer_model("h", {one.f for one in some}, some).name
    except CheckerInputError as error:
        return str(error)


@pytest.mark.parametrize(
    ("triples", "model"),
    [
        ([("write", 1, 1), ("read", None, 1)], "cas-register"),
        ([("write", [1], [1]), ("read", None, [1])], "cas-register"),
        ([("write", {"a": 1}, None), ("read", None, {"a": 2})], "cas-register"),
        ([("add", 1, None), ("read", None, [1])], "set"),
        ([("add", 1, None), ("read", None, 1)], "counter"),
        ([("txn", [["r", "x", None]], [["r", "x", 1]])], "multi-register"),
        ([("txn", [["append", "x", 1]], [["append", "x", 1]])], "list-append"),
    ],
)
def test_one_that_fits(triples, model):
    assert inferred(*triples) == model


@pytest.mark.parametrize(
    ("triples", "problem"),
    [
        ([("read", None, 1)], "h: the operations read alone tell no model: give --model (cas-r"),
        ([("read", None, {"0": 60})], "h: the operations read alone tell no model: give --model ("),
        ([("get", "x", 1)], "h: the operations get alone tell no model: give --model ("),
        (
            [("write", 1, 1), ("read", None, {"0": 1})],
            "no model fits the operations read, write",
        ),
        ([("write", 1, 1), ("read", None, [1])], "with such values: give --model (cas-register)"),
        ([("add", 1, None), ("read", None, "x")], "with such values: give --model (counter, set)"),
        ([("add", 1, None)], "h: more than one model fits the operations add: give --model ("),
        ([("frob", 1, None)], "h: no model fits the operations frob: give --model ("),
    ],
)
def test_what_is_not_guessed(triples, problem):
    assert problem in inferred(*triples)
    assert "\n" not in inferred(*triples)


@pytest.mark.parametrize("asked", [None, 5, True, "x", [], [1], [1, 2, 3], {"from": [1]}])
def test_the_only_model_that_knows_the_functions_names_the_mistake(asked):
    assert inferred(("write", 1, 1), ("cas", asked, None)) == "cas-register"
