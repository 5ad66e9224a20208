"""Topics that are created, deleted, looked up and described, and their wrong answers.

An id is given once. A describe is answered from an image that is behind by a few operations and
never goes back, as a broker's is. Why the guaranteed kinds are invalid:
- gone-id: a delete by some id is answered `deleted` although another was, whenever that was; or
  although, after the create of that id was over and before this delete began, the name was found
  absent, emptied or given another topic.
- absent: the topic of some id was made before the operation began, and whatever may have deleted it
  was over before its create began or was asked for after the operation was over.
- made-twice: likewise, and a create is answered `created` while that topic is there.
- present: an earlier operation removed the topic or found the name absent, and every create that
  may have succeeded completed before the earlier operation began or was requested after this
  operation completed.
"""

from base64 import urlsafe_b64encode
from collections import deque
from collections.abc import Iterator
from random import Random
from typing import Final, cast

from typing_extensions import override

from kraftproof.checkers.generate.subjects.objects import (
    Act,
    Acts,
    Elements,
    ObjectSubject,
    SequentialObject,
)
from kraftproof.checkers.generate.subjects.subject import ANY, TRIES, Corruption

_REMEMBERED: Final = 3
"""Clients ask for one of the latest ids; number of ids."""
_BEHIND: Final = 3
"""A broker's image lacks at most so many operations."""
_BY_ID_SHARE: Final = 0.4
_SHAPED_SHARE: Final = 0.3

Value = dict[str, object]


class _Topic(SequentialObject):
    """One topic name."""

    def __init__(self) -> None:
        self._id: str | None = None
        self._next = ""
        self._answered: deque[str] = deque(maxlen=_REMEMBERED)
        self._recent: deque[str | None] = deque([None], maxlen=_BEHIND + 1)
        self._behind = 0

    @override
    def ask(self, f: str, random: Random) -> Value | None:
        """Ask; what else is drawn, an id to give and a broker's progress, is kept for `answer`."""
        self._next = _some_id(random)
        if f == "create" and random.random() < _SHAPED_SHARE:
            retention = {"retention.ms": str(random.randrange(1_000, 1_000_000))}
            return {"partitions": random.randint(1, 3), "configs": retention}
        description = random.choice(self._answered) if self._answered else None
        if f == "describe":
            self._behind = random.randrange(self._behind + 1)
            return {"id": description or self._next}
        if f == "delete":
            is_by_id = description is not None and random.random() < _BY_ID_SHARE
            return {"by": "id", "id": description} if is_by_id else {"by": "name"}
        return None

    @override
    def answer(self, f: str, asked: object) -> Value:
        said = self._done(f, asked)
        self._recent.append(self._id)
        self._behind = min(self._behind + 1, len(self._recent) - 1)
        return said

    def _done(self, f: str, asked: object) -> Value:
        if f == "create" and self._id is None:
            self._id = self._next
            return {"outcome": "created", "id": self._id}
        if f == "describe":
            shown = self._recent[-1 - self._behind]
            return {"outcome": "present" if _id(asked) == shown else "absent"}
        if f == "delete":
            is_there = self._id is not None and _id(asked) in {None, self._id}
            self._id = None if is_there else self._id
            return {"outcome": "deleted" if is_there else "absent"}
        return {"outcome": "absent" if self._id is None else "exists"}

    @override
    def hear(self, f: str, said: object) -> None:
        if (made := _id(said)) is not None:
            self._answered.append(made)


def _id(value: object) -> str | None:
    """Return the id in the input or the answer, None without an id."""
    return cast("str | None", value.get("id")) if isinstance(value, dict) else None


def _some_id(random: Random) -> str:
    """Return a topic id as Kafka prints them."""
    return urlsafe_b64encode(random.randbytes(16)).rstrip(b"=").decode()


def _outcome(act: Act) -> str | None:
    """Return the answer, None if unknown."""
    return cast("dict[str, str]", act.output)["outcome"] if act.is_ok else None


def _some(acts: Acts, random: Random, *answered: tuple[str, str]) -> Iterator[Act]:
    """Yield operations with one of the answers, (f, outcome) each, in any order.

    Those that were open for the shortest time, as least can have happened meanwhile.
    """
    found = [act for act in acts if act.is_ok and (act.f, _outcome(act)) in answered]
    shortest = sorted(found, key=lambda act: act.complete - act.invoke)[:TRIES]
    yield from random.sample(shortest, len(shortest))


def _may(acts: Acts, f: str, outcome: str) -> list[Act]:
    """Return the operations with this outcome, or with an unknown outcome."""
    return [a for a in acts if a.f == f and a.may_happen and _outcome(a) in {None, outcome}]


def _is_kept(start: Act, act: Act, ending: Acts) -> bool:
    """Return whether nothing of `ending` can have come between two operations."""
    return start.before(act) and all(
        one.before(start) or act.complete < one.invoke for one in ending if one is not start
    )


def _is_there(acts: Acts, act: Act) -> bool:
    """Return whether the topic surely is there while the operation is open."""
    deletes = _may(acts, "delete", "deleted")
    creates = [one for one in acts if _answered(one, "create", "created") and one.before(act)]
    latest = max(creates, key=lambda create: create.invoke, default=None)
    if latest is None:
        return False
    ending = [one for one in deletes if _id(one.input) in {None, _id(latest.output)}]
    return _is_kept(latest, act, ending)


def _empty(acts: Acts) -> list[Act]:
    """Return the operations that found or left the name absent."""
    return [
        act
        for act in acts
        if act.is_ok
        and ((act.f, act.input) == ("delete", {"by": "name"}) or _answered(act, "lookup", "absent"))
    ]


def _answered(act: Act, f: str, outcome: str) -> bool:
    return act.f == f and _outcome(act) == outcome


def _gone_id(acts: Acts, random: Random) -> Acts | None:
    creates = {_id(act.output): act for act in acts if _answered(act, "create", "created")}
    deleted = {_id(act.input) for act in acts if _answered(act, "delete", "deleted")}
    ends = [*_empty(acts), *creates.values()]
    for delete in _some(acts, random, ("delete", "absent")):
        create = creates.get(_id(delete.input))
        if create is None:
            continue
        is_gone = any(create.before(end) and end.before(delete) for end in ends)
        if is_gone or _id(delete.input) in deleted:
            return [delete.answering({"outcome": "deleted"})]
    return None


def _absent(acts: Acts, random: Random) -> Acts | None:
    for lookup in _some(acts, random, ("lookup", "exists")):
        if _is_there(acts, lookup):
            return [lookup.answering({"outcome": "absent"})]
    return None


def _made_twice(acts: Acts, random: Random) -> Acts | None:
    for create in _some(acts, random, ("create", "exists")):
        if _is_there(acts, create):
            return [create.answering({"outcome": "created", "id": _some_id(random)})]
    return None


def _present(acts: Acts, random: Random) -> Acts | None:
    creates = _may(acts, "create", "created")
    empty = _empty(acts)
    for lookup in _some(acts, random, ("lookup", "absent")):
        before = [act for act in empty if act.before(lookup)]
        latest = max(before, key=lambda act: act.invoke, default=None)
        if latest is not None and _is_kept(latest, lookup, creates):
            return [lookup.answering({"outcome": "exists"})]
    return None


def _any(acts: Acts, random: Random) -> Acts | None:
    for lookup in _some(acts, random, ("lookup", "absent"), ("lookup", "exists")):
        other = "exists" if _outcome(lookup) == "absent" else "absent"
        return [lookup.answering({"outcome": other})]
    return None


class TopicsSubject(ObjectSubject):
    """The name of a topic and its life cycle, as the topics workload records it."""

    model = "topics"
    mix = {"create": 0.35, "lookup": 0.25, "delete": 0.25, "describe": 0.15}
    spoils = {
        "gone-id": (_gone_id, Corruption(description="one topic id is deleted twice")),
        "absent": (_absent, Corruption(description="a lookup does not find an existing topic")),
        "made-twice": (
            _made_twice,
            Corruption(description="a create succeeds though the topic exists"),
        ),
        "present": (_present, Corruption(description="a lookup finds a deleted topic")),
        "any": (_any, ANY),
    }

    @override
    def make(self, elements: Elements) -> _Topic:
        return _Topic()
