"""The model of configurations: old answers are allowed, answers that go back are not."""

import pytest

from kraftproof.checkers.history.operations import Operation
from kraftproof.checkers.models.configs import Configs
from kraftproof.checkers.options import CheckOptions


def operation(index, f, begin, end, *, value=None, configs=None, node="1", status="ok"):
    asked = None if value is None else {"configs": value}
    return Operation(
        index=index,
        process=0,
        f=f,
        key="t",
        input=asked,
        output=None if configs is None else {"configs": configs},
        status=status,
        invoke_time=begin,
        complete_time=end,
        invoke_index=2 * index,
        node=node,
    )


def alter(index, begin, end, value, status="ok"):
    return operation(index, "alter", begin, end, value={"a": value}, status=status)


def create(index, begin, end):
    return operation(index, "create", begin, end)


def describe(index, begin, end, value, node="1", f="describe"):
    return operation(index, f, begin, end, configs={"a": value}, node=node)


@pytest.mark.parametrize(
    ("operations", "checks"),
    [
        ((alter(0, 0, 1, "5"), describe(1, 2, 3, None), describe(2, 4, 5, "5")), []),
        ((alter(0, 0, 1, "5"), describe(1, 2, 3, "6")), ["configs/altered"]),
        ((describe(0, 0, 1, "5"), alter(1, 2, 3, "5")), ["configs/altered"]),
        ((describe(0, 0, 1, "4"), alter(1, 2, 3, "5"), describe(2, 4, 5, "4", node="2")), []),
        (
            (describe(0, 0, 1, "4"), alter(1, 2, 3, "5"), describe(2, 4, 5, "3", node="2")),
            ["configs/altered"],
        ),
        ((alter(0, 0, 3, "5"), describe(1, 1, 2, "4")), ["configs/altered"]),
        (
            (
                describe(0, 0, 1, "4"),
                alter(1, 2, 3, "5"),
                describe(2, 4, 5, "5"),
                describe(3, 6, 7, "4"),
            ),
            ["configs/order"],
        ),
        (
            (create(0, 0, 1), describe(1, 2, 3, "4"), alter(2, 4, 5, "5")),
            ["configs/altered"],
        ),
        ((alter(0, 0, 1, "5", "fail"), describe(1, 2, 3, "5")), ["configs/altered"]),
        (
            (
                alter(0, 0, 1, "5"),
                alter(1, 2, 3, "6"),
                describe(2, 4, 5, "6"),
                describe(3, 6, 7, "5"),
            ),
            ["configs/order"],
        ),
        (
            (
                alter(0, 0, 1, "5"),
                alter(1, 2, 3, "6"),
                describe(2, 4, 5, "6"),
                describe(3, 6, 7, "5", node="2"),
            ),
            [],
        ),
        (
            (
                alter(0, 0, 3, "5"),
                alter(1, 2, 3, "6"),
                describe(2, 4, 5, "6"),
                describe(3, 6, 7, "5"),
            ),
            [],
        ),
        ((alter(0, 0, 1, "5"), describe(1, 2, 3, "5"), describe(2, 4, 5, None)), ["configs/order"]),
        (
            (alter(0, 0, 1, "5"), alter(1, 2, 3, "6"), describe(2, 4, 5, "5", f="final")),
            ["configs/latest"],
        ),
        (
            (
                alter(0, 0, 9, "5", "info"),
                describe(1, 2, 3, "5", f="final"),
                describe(2, 2, 3, None, node="2", f="final"),
            ),
            ["configs/agree"],
        ),
    ],
)
def test_a_history_of_configurations(operations, checks):
    model = Configs()
    for one in operations:
        model.validate(one)
    found = model.check("t", operations, CheckOptions())
    assert [finding.check for finding in found] == checks


def test_a_legacy_alteration_removes_what_it_does_not_name():
    legacy = Operation(
        index=1,
        process=0,
        f="alter",
        key="t",
        input={"configs": {"b": "7"}, "is_legacy": True},
        status="ok",
        invoke_time=4,
        complete_time=5,
        invoke_index=9,
    )
    final = describe(2, 6, 7, "5", f="final")
    found = Configs().check("t", (alter(0, 0, 1, "5"), legacy, final), CheckOptions())
    assert [finding.check for finding in found] == ["configs/latest"]
    assert found[0].reason == "it was altered to the default afterwards"


def test_another_form_is_refused():
    with pytest.raises(ValueError, match="field value: alter takes"):
        Configs().validate(operation(0, "alter", 0, 1))
    with pytest.raises(ValueError, match="swap"):
        Configs().validate(operation(0, "swap", 0, 1))
