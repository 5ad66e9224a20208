"""Finds the meaning of a history's values from all of its operations.

Histories write some things as values like any other, whatever the file's form:

- keys: each value is [key value]. Values contain keys if a read asks for [key null], or another
  operation does and is answered [key value]; then all values have to be pairs. Without such a
  question, values contain keys if all values, answers included, are pairs with the key of the
  invocation, and a cas has a pair as its value. A key may be any value, a list too. A history with
  a key field has no keys in its values. The options `--keyed` and `--unkeyed` override this rule.
- transactions: each value is a list of actions, such as ["r" k v], ["w" k v] and ["append" k v].
  Then each operation is a `txn`, whatever the function's name: the actions decide, as in Elle.
- drains: `drain` answers a list of what it took (`checkers.history.read.drains`).
"""

from collections.abc import Iterable, Sequence
from typing import Final

import msgspec
import pyarrow as pa
import pyarrow.compute as pc

from kraftproof.checkers.history.operations import Operation, as_text, same_text
from kraftproof.checkers.history.read.drains import drained, take_of, takes_of
from kraftproof.checkers.history.tables import iterate_rows, operations_table

TRANSACTION: Final = "txn"
ACTIONS: Final = frozenset({"r", "w", "read", "write", "append"})
LOG_ACTIONS: Final = frozenset({"send", "poll", "rebalance"})
_NO_KEY: Final = "null"


class ValueForm(msgspec.Struct, frozen=True, kw_only=True):
    """The form of a history's values.

    Attributes:
        is_keyed: each value is [key, value].
        is_transactional: each value is a list of actions on registers or lists.
        take: the take function of a drain; None without a drain function.
    """

    is_keyed: bool = False
    is_transactional: bool = False
    take: str | None = None

    def meaning(self, operation: Operation) -> list[Operation]:
        """Return what an operation means: itself mostly, several for a drain.

        Raises:
            ValueError: its values are not of this form; the message names the field.
        """
        if self.is_keyed:
            operation = _split(operation)
        if self.is_transactional:
            operation = msgspec.structs.replace(operation, f=TRANSACTION)
        return [operation] if self.take is None else takes_of(operation, self.take)


_PLAIN: Final = ValueForm()


def value_form_of(table: pa.Table, *, is_keyed: bool | None = None) -> ValueForm:
    """Return how a history writes its values.

    Args: table: the operations as recorded.
        is_keyed: whether each value is [key, value]; None to infer the form from the values.
    """
    if len(table) == 0:
        return _PLAIN
    if is_keyed is None:
        is_keyed = _may_be_keyed(table) and _are_keyed(iterate_rows(table))
    return ValueForm(
        is_keyed=is_keyed,
        is_transactional=_may_be_transactions(table) and _are_transactions(table, is_keyed),
        take=take_of(table.column("f").unique().to_pylist()),
    )


def with_meaning(table: pa.Table, form: ValueForm) -> pa.Table:
    """Return the operations as they are meant.

    Raises:
        ValueError: a value is not of this form.
    """
    if form == _PLAIN:
        return table
    operations = list(iterate_rows(table))
    whole = msgspec.structs.replace(form, take=None)
    if form.is_keyed:
        key_texts = KeyTexts()
        for operation in operations:
            key_texts.require_distinct(operation)
    meant = [one for operation in operations for one in whole.meaning(operation)]
    if form.take is not None:
        meant = drained(meant, form.take)
    return operations_table(meant)


class KeyTexts:
    """The keys that values have named; 1 and "1" would be one key as text."""

    def __init__(self) -> None:
        self._is_text: dict[str, bool] = {}

    def require_distinct(self, operation: Operation) -> None:
        """Refuse a key whose text another key has already.

        Raises:
            ValueError: the message names the field and both keys.
        """
        asked = operation.input
        if not isinstance(asked, list) or not asked:
            return
        key, is_text = as_text(asked[0]), isinstance(asked[0], str)
        if self._is_text.setdefault(key, is_text) != is_text:
            raise ValueError(f"field key: {same_text(key)}")


def is_transaction(value: object, actions: frozenset[str] = ACTIONS) -> bool:
    """Return whether a value is a list of actions, one at least."""
    return (
        isinstance(value, list) and bool(value) and all(_is_action(one, actions) for one in value)
    )


def _is_action(value: object, actions: frozenset[str]) -> bool:
    if not isinstance(value, list) or not value or not isinstance(value[0], str):
        return False
    return value[0] in actions and len(value) <= 3 and (len(value) > 1 or value[0] == "poll")


def _may_be_keyed(table: pa.Table) -> bool:
    """Return, without decoding, whether an operation may ask for, or all may name, a key."""
    keys = table.column("key").unique().to_pylist()
    if keys != [_NO_KEY]:
        return False
    asked = table.column("input")
    if pc.all(pc.starts_with(asked, "[")).as_py():
        return True
    return bool(pc.any(pc.match_substring_regex(asked, r"^\[.*,\s*null\]$")).as_py())


def _are_keyed(operations: Iterable[Operation]) -> bool:
    """Return whether the values are pairs of a key and a value; see the module."""
    are_pairs = True
    for one in operations:
        if _asks_for_key(one):
            return True
        are_pairs = are_pairs and _names_key(one)
    return are_pairs


def _is_pair(value: object) -> bool:
    if not isinstance(value, list) or len(value) != 2:
        return False
    return not is_transaction(value, ACTIONS | LOG_ACTIONS)


def _asks_for_key(operation: Operation) -> bool:
    asked, observed = operation.input, operation.output
    if not isinstance(asked, list) or not _is_pair(asked) or asked[0] is None:
        return False
    if asked[1] is not None:
        return False
    is_observed = operation.status == "ok" and isinstance(observed, list) and _is_pair(observed)
    if operation.f == "read":
        return operation.status != "ok" or is_observed
    return (
        is_observed
        and isinstance(observed, list)
        and observed[0] == asked[0]
        and observed[1] is not None
    )


def _names_key(operation: Operation) -> bool:
    asked, observed = operation.input, operation.output
    if not isinstance(asked, list) or not _is_pair(asked):
        return False
    if operation.f == "cas" and not isinstance(asked[1], list):
        return False
    if operation.status != "ok" or observed is None:
        return True
    return isinstance(observed, list) and _is_pair(observed) and observed[0] == asked[0]


def _split(operation: Operation) -> Operation:
    """Return an operation under its key.

    A failed or indeterminate operation may have any answer.
    """
    asked, observed, is_ok = operation.input, operation.output, operation.status == "ok"
    if not isinstance(asked, list) or len(asked) != 2:
        raise _no_pair(asked)
    key = as_text(asked[0])
    if isinstance(observed, list) and len(observed) == 2:
        if is_ok and as_text(observed[0]) != key:
            problem = f"{as_text(observed[0])} completes what was invoked under {key}"
            raise ValueError(f"field key: {problem}")
        observed = observed[1]
    elif is_ok and observed is not None:
        raise _no_pair(observed)
    return msgspec.structs.replace(operation, key=key, input=asked[1], output=observed)


def _no_pair(value: object) -> ValueError:
    shown = msgspec.json.encode(value).decode()
    return ValueError(
        f"field value: Expected [key value], got {shown}: give --unkeyed if values name no keys"
    )


def _may_be_transactions(table: pa.Table) -> bool:
    """Return quickly, without decoding, whether each value may contain a list of actions."""
    observed = table.column("input")
    return bool(pc.all(pc.starts_with(observed, "[")).as_py())


def _are_transactions(table: pa.Table, is_keyed: bool) -> bool:  # noqa: FBT001
    decode = msgspec.json.Decoder().decode
    values: Sequence[object] = [decode(text) for text in table.column("input").to_pylist()]
    if is_keyed:
        values = [value[1] for value in values if isinstance(value, list) and len(value) == 2]
    return any(map(is_transaction, values)) and all(
        value == [] or is_transaction(value) for value in values
    )
