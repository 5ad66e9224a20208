"""The life cycle of a topic (KIP-631, CreateTopics and DeleteTopics of the active controller).

One key a topic name. `create`, `delete` and `lookup` are answered by the active controller and are
linearizable: a name is absent, or present with an id. `describe` is answered from one broker's own
image and is not linearizable: `checkers.kraft.describe` checks it apart, and that no id is given
twice.

A create with a lost answer may have created a topic with an unknown id. Such a topic matches any id
that no answered create of the name received; two such topics are not distinguished, so the model
accepts slightly more than the real behaviour and never less.
"""

from collections.abc import Callable, Collection, Hashable, Sequence
from enum import Enum, auto
from typing import Final

from typing_extensions import override

from kraftproof.checkers.calls.topics import Said, TopicCalls, topic_calls
from kraftproof.checkers.history.columns import Columns
from kraftproof.checkers.history.operations import Operation
from kraftproof.checkers.kraft.describe import illegal_names, lags, shown_before_create
from kraftproof.checkers.kraft.topic_facts import created_id
from kraftproof.checkers.kraft.topic_shapes import validate_shape
from kraftproof.checkers.models import PropertyModel, unknown_function
from kraftproof.checkers.models.reducible import ReducibleModel
from kraftproof.checkers.models.starting import Step
from kraftproof.checkers.models.topic_reasons import topic_reason
from kraftproof.checkers.options import CheckOptions
from kraftproof.checkers.text import as_json
from kraftproof.checkers.verdict import Finding

_OUTCOMES: Final = {
    "create": ("created", "exists"),
    "delete": ("deleted", "absent"),
    "lookup": ("exists", "absent"),
    "describe": ("present", "absent"),
}
_ABSENT: Final = ""
_UNTOLD: Final = "?"
_UNASKED: Final = "!"
"""Stands for every id that no call asks for; no more a topic id than the two above."""


class _Action(Enum):
    """The action of a call on the topic.

    MAY_DELETE and MAY_DELETE_ID are indeterminate deletes. MAKE is a create reduced for an
    explanation: after MAKE the topic exists, whatever the earlier state.
    """

    CREATE = auto()
    FIND = auto()
    MISS = auto()
    DELETE = auto()
    DELETE_ID = auto()
    MISS_ID = auto()
    MAY_DELETE = auto()
    MAY_DELETE_ID = auto()
    MAKE = auto()


_ACTIONS: Final = {
    ("create", "created"): _Action.CREATE,
    ("create", "exists"): _Action.FIND,
    ("create", None): _Action.CREATE,
    ("delete", "deleted"): _Action.DELETE,
    ("delete", "absent"): _Action.MISS,
    ("delete", None): _Action.MAY_DELETE,
    ("lookup", "exists"): _Action.FIND,
    ("lookup", "absent"): _Action.MISS,
}
_BY_ID: Final = {
    _Action.DELETE: _Action.DELETE_ID,
    _Action.MISS: _Action.MISS_ID,
    _Action.MAY_DELETE: _Action.MAY_DELETE_ID,
}
_PURE: Final = frozenset({_Action.FIND, _Action.MISS, _Action.MISS_ID})
_MAKES: Final = frozenset({_Action.CREATE, _Action.MAKE})
_NEEDS_NONE: Final = frozenset({_Action.CREATE, _Action.MISS, _Action.MISS_ID})
_NEEDS_ANY: Final = frozenset({_Action.FIND, _Action.DELETE})
_ENDED: Final = (_Action.MAY_DELETE, None, False)
_WEAKER: Final = {
    _Action.DELETE_ID: (_ENDED,),
    _Action.DELETE: (_ENDED,),
    _Action.MISS: (_ENDED,),
}


class Topics(ReducibleModel, PropertyModel):
    """Topics that are created, deleted, looked up and described."""

    name = "topics"
    functions = frozenset(_OUTCOMES)

    @override
    def validate(self, operation: Operation) -> None:
        if operation.f not in self.functions:
            raise unknown_function(self, operation)
        if operation.f == "describe" and not isinstance(_field(operation.input, "id"), str):
            raise ValueError(
                f'field value: describe takes {{"id": ID}}, not {as_json(operation.input)}'
            )
        if operation.f == "delete":
            _validate_delete(operation)
        if operation.status == "ok":
            _validate_outcome(operation)
            validate_shape(operation)

    def calls_of(self, columns: Columns) -> TopicCalls:
        """Return the calls on all topic names."""
        found: list[Said | None] = []
        for key in range(len(columns.keys)):
            operations = columns.operations(key)
            for operation in operations:
                self.validate(operation)
            found += map(_said, self.calls(operations))
        return topic_calls(columns, found)

    def starting_with(self, value: object) -> Sequence[Step]:
        """Return the create of the initial topic, by its id."""
        if value is not None and not isinstance(value, str):
            raise ValueError(f"a topic starts with its id, or null, not {as_json(value)}")
        return [("create", None, {"outcome": "created", "id": value})] if value else []

    def reason(self, operations: Sequence[Operation], wrong: Operation) -> str | None:
        """Return which create or delete leaves no capacity for an answer."""
        return topic_reason(operations, wrong)

    @override
    def init(self) -> Hashable:
        return _ABSENT

    @override
    def calls(self, operations: Sequence[Operation]) -> list[Hashable | None]:
        observed = frozenset(
            topic_id for operation in operations if (topic_id := created_id(operation))
        )
        return [_call(operation, observed) for operation in operations]

    @override
    def step(self, state: Hashable, call: Hashable) -> Hashable | None:
        assert isinstance(call, tuple)
        assert isinstance(state, str)
        action, topic_id, is_observed = call
        assert isinstance(action, _Action)
        is_absent = state == _ABSENT
        match action:
            case _Action.CREATE:
                return str(topic_id) if is_absent else None
            case _Action.MAKE:
                return str(topic_id)
            case _Action.FIND:
                return None if is_absent else state
            case _Action.MISS:
                return state if is_absent else None
            case _Action.DELETE:
                return None if is_absent else _ABSENT
            case _Action.DELETE_ID:
                return _ABSENT if _may_be(state, topic_id, is_observed=is_observed) else None
            case _Action.MISS_ID:
                return None if state == topic_id else state
            case _Action.MAY_DELETE:
                return _ABSENT
            case _Action.MAY_DELETE_ID:
                return _ABSENT if _may_be(state, topic_id, is_observed=is_observed) else state

    @override
    def is_pure(self, call: Hashable) -> bool:
        assert isinstance(call, tuple)
        return call[0] in _PURE

    @override
    def normal_form(self, calls: Sequence[Hashable]) -> Callable[[Hashable], Hashable]:
        kept = {_ABSENT, _UNTOLD, *_asked_for(calls)}
        return lambda state: state if state in kept else _UNASKED

    @override
    def weaker(self, call: Hashable) -> Sequence[Hashable]:
        assert isinstance(call, tuple)
        action, topic_id, is_observed = call
        if action is _Action.CREATE:
            return ((_Action.MAKE, topic_id, is_observed),)
        if action is _Action.MISS_ID:
            return ((_Action.MAY_DELETE_ID, topic_id, True),)
        return _WEAKER.get(action, ())

    @override
    def candidate_causes(
        self, calls: Collection[Hashable], others: Collection[Hashable]
    ) -> Collection[Hashable]:
        asking = [call for call in others if isinstance(call, tuple)]
        actions = {call[0] for call in asking}
        if not actions.isdisjoint(_NEEDS_NONE):
            return calls  # a create, too: a delete of its id may follow it
        is_any = not actions.isdisjoint(_NEEDS_ANY)
        ended = [call for call in asking if call[0] is _Action.DELETE_ID]
        named = {call[1] for call in ended} | {_UNTOLD for call in ended if not call[2]}
        made = [call for call in calls if isinstance(call, tuple) and call[0] in _MAKES]
        return [call for call in made if is_any or call[1] in named]

    @override
    def any_state(
        self, starts: Sequence[Hashable], history: Sequence[Hashable], window: Sequence[Hashable]
    ) -> Sequence[Hashable] | None:
        made = {call[1] for call in history if isinstance(call, tuple)} | set(starts)
        return [_ABSENT, _UNTOLD, _UNASKED, *sorted(map(str, made & _asked_for(window)))]

    @override
    def describe_call(self, call: Hashable) -> str | None:
        assert isinstance(call, tuple)
        return {
            _Action.MAY_DELETE: "the topic does not exist afterwards",
            _Action.MAY_DELETE_ID: "that topic is not there after it",
            _Action.MAKE: "the topic exists afterwards",
        }.get(call[0])

    @override
    def describe(self, state: Hashable) -> str:
        if state == _ABSENT:
            return "absent"
        observed = {_UNTOLD: "with an unknown id", _UNASKED: "with an id that no operation names"}
        return f"present {observed.get(str(state), f'as {state}')}"

    @override
    def check(
        self, key: str, operations: Sequence[Operation], options: CheckOptions
    ) -> list[Finding]:
        found = [*illegal_names(operations), *shown_before_create(operations)]
        return [*found, *lags(operations, options.leases)]


def _asked_for(calls: Sequence[Hashable]) -> frozenset[Hashable]:
    """Return the ids that distinguish states."""
    by_id = _BY_ID.values()
    return frozenset(call[1] for call in calls if isinstance(call, tuple) and call[0] in by_id)


def _may_be(state: str, topic_id: str, *, is_observed: bool) -> bool:
    """Return whether the present topic may be the one of that id."""
    return state == topic_id or (state == _UNTOLD and not is_observed)


def _call(operation: Operation, observed: frozenset[str]) -> Hashable | None:
    """A call is (action, the topic's id if relevant, whether a create's answer has the id)."""
    outcome = _field(operation.output, "outcome") if operation.status == "ok" else None
    action = _ACTIONS.get((operation.f, outcome if isinstance(outcome, str) else None))
    if action is None:
        return None
    if action is _Action.CREATE:
        return (action, created_id(operation) or _UNTOLD, True)
    topic_id = _field(operation.input, "id")
    if isinstance(topic_id, str) and action in _BY_ID:
        return (_BY_ID[action], topic_id, topic_id in observed)
    return (action, None, False)


def _said(call: Hashable | None) -> Said | None:
    """Return a call as an engine reads it: the action, and the id if a client received the id."""
    if call is None:
        return None
    assert isinstance(call, tuple)
    action, topic_id, _ = call
    return (action.name, None if topic_id == _UNTOLD else topic_id)


def _field(value: object, name: str) -> object:
    return value.get(name) if isinstance(value, dict) else None


def _validate_delete(operation: Operation) -> None:
    by, topic_id = _field(operation.input, "by"), _field(operation.input, "id")
    if by == "name" and topic_id is None:
        return
    if by != "id" or not isinstance(topic_id, str):
        wanted = '{"by": "name"} or {"by": "id", "id": ID}'
        raise ValueError(f"field value: delete takes {wanted}, not {as_json(operation.input)}")


def _validate_outcome(operation: Operation) -> None:
    outcome = _field(operation.output, "outcome")
    known = _OUTCOMES[operation.f]
    if outcome not in known:
        shown = as_json(operation.output)
        raise ValueError(
            f"field value: outcome of {operation.f} is one of {', '.join(known)}, not {shown}"
        )
    if outcome == "created" and created_id(operation) is None:
        raise ValueError(f"field value: created lacks its id: {as_json(operation.output)}")
