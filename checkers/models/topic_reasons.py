"""Names the create or delete of a topic that contradicts an answer of the active controller.

A topic id is given once. See `checkers.models.topics` for the model, which decides.
"""

from collections.abc import Sequence

from kraftproof.checkers.history.operations import Operation
from kraftproof.checkers.models.reasons import end_of, is_over, may_count


def topic_reason(operations: Sequence[Operation], wrong: Operation) -> str | None:
    """Return why a topic can't have been there, or can't have been absent.

    Args: operations: the operations of one name; a describe shows the image of one broker and
        proves nothing.
        wrong: the first illegal operation.
    """
    if wrong.f == "describe":
        return None
    said = _field(wrong.output, "outcome")
    if said in {"exists", "deleted"}:
        return _gone(operations, wrong)
    is_by_id = wrong.f == "delete" and _field(wrong.input, "id") is not None
    if said in {"absent", "created"} and not is_by_id:
        return _there(operations, wrong)
    return None


def _gone(operations: Sequence[Operation], wrong: Operation) -> str | None:
    """Return why there can't have been a topic."""
    makers = [one for one in operations if _may_make(one) and one is not wrong]
    able = [one for one in makers if may_count(one, wrong)]
    if not able:
        return "no create had begun by then"
    last = max(map(end_of, able))
    deletes = [one for one in operations if _deleted(one) and is_over(one, wrong)]
    since = [one for one in deletes if one.invoke_index > last and one is not wrong]
    if not since:
        return None
    return f"{_named(since[0])} had removed it before that began, and no create had begun since"


def _there(operations: Sequence[Operation], wrong: Operation) -> str | None:
    """Return why there can't have been no topic."""
    deletes = [one for one in operations if _may_delete(one) and may_count(one, wrong)]
    last = max(map(end_of, (one for one in deletes if one is not wrong)), default=-1)
    creates = [one for one in operations if _created(one) and is_over(one, wrong)]
    since = [one for one in creates if one.invoke_index > last and one is not wrong]
    if not since:
        return None
    return f"{_named(since[-1])} had made it before that began, and no delete had begun since"


def _may_make(operation: Operation) -> bool:
    if operation.f != "create":
        return False
    return operation.status != "ok" or _created(operation)


def _may_delete(operation: Operation) -> bool:
    if operation.f != "delete":
        return False
    return operation.status != "ok" or _deleted(operation)


def _created(operation: Operation) -> bool:
    return operation.f == "create" and _field(operation.output, "outcome") == "created"


def _deleted(operation: Operation) -> bool:
    return operation.f == "delete" and _field(operation.output, "outcome") == "deleted"


def _named(operation: Operation) -> str:
    return f"{operation.f} (operation {operation.index})"


def _field(value: object, name: str) -> object:
    return value.get(name) if isinstance(value, dict) else None
