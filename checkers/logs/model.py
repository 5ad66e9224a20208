"""The model `log`: partitions to which producers send values, and which readers poll.

A history has one of two forms: one partition a key, with final reads
(`checkers.logs.reading.forms`), or that of Jepsen's Kafka tests, with several partitions in an
operation (`checkers.logs.jepsen`).
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Final

import pyarrow as pa
import pyarrow.compute as pc
from typing_extensions import override

from kraftproof.checkers.calls.append_log import GREATEST
from kraftproof.checkers.history.operations import Operation
from kraftproof.checkers.history.tables import iterate_rows, operations_table
from kraftproof.checkers.logs.actions import polled, require_actions, sent
from kraftproof.checkers.logs.declared import is_loss_declared
from kraftproof.checkers.logs.jepsen import ACTING, MANAGEMENT, jepsen_findings, nothing_checked
from kraftproof.checkers.logs.judge import judge
from kraftproof.checkers.logs.reading import forms
from kraftproof.checkers.logs.reading.unpack import unpacked
from kraftproof.checkers.logs.states import FUNCTIONS as OF_STATES
from kraftproof.checkers.logs.states import require_state, state_findings
from kraftproof.checkers.logs.wording import findings_of
from kraftproof.checkers.models import PropertyModel, TableModel, unknown_function
from kraftproof.checkers.models.starting import Step, require_records
from kraftproof.checkers.options import CheckOptions
from kraftproof.checkers.text import as_json
from kraftproof.checkers.verdict import Finding


class Log(PropertyModel, TableModel):
    """Logs by name, with offsets."""

    name = "log"
    functions = frozenset({"txn", *forms.FUNCTIONS, *OF_STATES, *MANAGEMENT})

    @override
    def validate(self, operation: Operation) -> None:
        if operation.f not in self.functions:
            raise unknown_function(self, operation)
        if operation.f in OF_STATES:
            require_state(operation)
        elif operation.f in forms.UNREAD:
            return
        elif isinstance(operation.input, dict) and operation.f in forms.FUNCTIONS:
            forms.require_form(operation)
        elif operation.f == "final":
            raise ValueError('field value: final takes {"position": offset or null}')
        elif operation.f not in MANAGEMENT:
            require_actions(operation)

    def places(self, key: str, operations: Iterable[Operation]) -> Mapping[str, str]:
        """Return the logs named by operations in Jepsen's form."""
        own = [one for one in operations if one.f in ACTING]
        seen = (record.log for one in own for record in (*sent(one), *polled(one)))
        return {log: log for log in seen}

    def starting_with(self, value: object) -> Sequence[Step]:
        """Return the sends of the records that the logs hold at first."""
        assert isinstance(value, dict)
        steps: list[Step] = []
        for log, held in value.items():
            for offset, one in require_records(held, "a log starts with", GREATEST):
                steps.append(("send", [["send", log, one]], [["send", log, [offset, one]]]))
        return steps

    @override
    def check(
        self, key: str, operations: Sequence[Operation], options: CheckOptions
    ) -> list[Finding]:
        return self.judge_rows(key, operations_table(operations), options)[0]

    @override
    def judge_rows(
        self, key: str, rows: pa.Table, options: CheckOptions
    ) -> tuple[list[Finding], str | None]:
        if not has_own_form(rows):
            operations = list(iterate_rows(rows))
            for operation in operations:
                self.validate(operation)
                _require_actions(operation)
            return jepsen_findings(key, operations), nothing_checked(operations)
        facts, values = unpacked(rows)
        judged = judge(facts, values, is_loss_declared=is_loss_declared(options))
        states = rows.filter(pc.equal(rows.column("f"), "state"))
        found = [*findings_of(key, judged.problems, values)]
        return [*found, *state_findings(key, iterate_rows(states))], judged.reason


def has_own_form(rows: pa.Table) -> bool | None:
    """Return whether operations have the form with one partition a key; None if none shows it.

    The first operation that sends, reads or describes shows the form. Others may have any value.
    """
    shows = pc.is_in(rows.column("f"), pa.array(sorted(_SHOWING_FORM)))
    first = pc.index(shows, pa.scalar(value=True)).as_py()
    return None if first < 0 else rows.column("input")[first].as_py().startswith("{")


_SHOWING_FORM: Final = frozenset({"final", "state", *ACTING})


def _require_actions(operation: Operation) -> None:
    """Raise ValueError for an operation of the other form."""
    if operation.f in _SHOWING_FORM and isinstance(operation.input, dict):
        raise ValueError(
            f"field value: operation {operation.index}, {operation.f} "
            f"{as_json(operation.input)}: a list of sends and polls is expected, as in the first"
            " send or poll of the history"
        )
