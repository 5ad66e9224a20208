"""Short histories written by hand, judged as the command judges them."""

from kraftproof.checkers.engines import registry
from kraftproof.checkers.engines.wgl.relaxed_search import check_linearizable
from kraftproof.checkers.history.columns import columns_of
from kraftproof.checkers.history.operations import Operation
from kraftproof.checkers.history.tables import operations_table
from kraftproof.checkers.judge.keys import judge_columns
from kraftproof.checkers.models import model_named
from kraftproof.checkers.options import CheckOptions, Limits

LIMITS = Limits(seconds=20)


def history(*steps):
    """Operations of steps (f, input, output, invoked, completed); not completed is info."""
    return [
        Operation(
            index=number,
            process=number,
            f=f,
            key="k",
            input=asked,
            output=answered if completed is not None else None,
            status="info" if completed is None else "ok",
            invoke_index=invoked,
            complete_index=completed,
        )
        for number, (f, asked, answered, invoked, completed) in enumerate(steps)
    ]


def in_turn(*steps):
    """Operations of steps (f, input, output), one after the other."""
    return history(*((*step, 2 * n, 2 * n + 1) for n, step in enumerate(steps)))


def decided(model, operations):
    """What the compiled engine of a model says; it agrees with the general engine, or is None."""
    (outcome,) = registry.decide(calls_of(model, operations), LIMITS)
    if outcome is not None:
        general = check_linearizable(model_named(model), operations, LIMITS).among(operations)
        assert (outcome.verdict, outcome.first_illegal_row) == (
            general.verdict,
            general.first_illegal_row,
        )
        assert outcome.linearizable == general.linearizable
    return outcome


def calls_of(model, operations):
    return model_named(model).calls_of(columns_of(operations_table(operations)))


def judged(model, operations):
    """The verdict of the command on one key."""
    columns = columns_of(operations_table(operations))
    (verdict,) = judge_columns(model_named(model), columns, CheckOptions(limits=LIMITS))
    return verdict
