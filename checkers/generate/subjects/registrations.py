"""Broker ids that are registered, kept alive and unregistered, and their wrong answers.

Virtual time is far shorter than a session: only a granted shutdown or an unregistration ends a
registration. Epochs grow. Why the guaranteed kinds are invalid:
- stale-epoch: a heartbeat is accepted though a greater epoch was granted before it began.
- repeated-epoch: another incarnation gets an epoch that is not greater than one granted before.
- unregistered: a heartbeat is accepted though the broker was unregistered after every grant of its
  epoch was over and before the heartbeat began.
- live-refused: a heartbeat is refused though its epoch was granted before it began, and whatever
  else may have registered or unregistered the broker was over before the grant began or was asked
  for after the heartbeat was over.
"""

from collections import deque
from collections.abc import Iterator
from random import Random
from typing import Final, NamedTuple, cast

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
"""Heartbeats use one of the latest leases; number of leases."""
_SAME_SHARE: Final = 0.3
"""The share of registrations by an incarnation that was registered before."""
_SHUT_DOWN_SHARE: Final = 0.05
_WIDEST_STEP: Final = 3
"""Epochs are offsets of the log: they leave gaps."""

Value = dict[str, object]
_ALIVE: Final[Value] = {"outcome": "alive", "fenced": False, "should_shut_down": False}
_STALE: Final[Value] = {"outcome": "stale"}


class _Lease(NamedTuple):
    """A granted incarnation and epoch; the first lease belongs to no client."""

    incarnation: str
    epoch: int


class _BrokerId(SequentialObject):
    """The controller's state of one broker id."""

    def __init__(self) -> None:
        self._lease: _Lease | None = None
        self._is_stopping = False
        self._largest = 0
        self._step = 1
        self._asked = ""
        self._answered = deque([_Lease("0" * 32, 0)], maxlen=_REMEMBERED)

    @override
    def ask(self, f: str, random: Random) -> Value | None:
        """Ask; how much greater the next epoch is, is drawn for `answer`."""
        self._step = random.randint(1, _WIDEST_STEP)
        if f == "unregister":
            return None
        description = random.choice(self._answered)
        if f == "heartbeat":
            return {
                "incarnation": description.incarnation,
                "epoch": description.epoch,
                "want_fence": random.random() < 0.5,
                "want_shut_down": random.random() < _SHUT_DOWN_SHARE,
            }
        is_same = description.epoch > 0 and random.random() < _SAME_SHARE
        self._asked = description.incarnation if is_same else f"{random.getrandbits(128):032x}"
        return {"incarnation": self._asked}

    @override
    def answer(self, f: str, asked: object) -> Value:
        value = cast("Value", asked)
        if f == "register":
            return self._register(cast("str", value["incarnation"]))
        if f == "heartbeat":
            return self._heartbeat(value)
        outcome = "absent" if self._lease is None else "unregistered"
        self._lease, self._is_stopping = None, False
        return {"outcome": outcome}

    def _register(self, incarnation: str) -> Value:
        if self._lease is None or self._is_other(incarnation):
            if self._lease is not None and not self._is_stopping:
                return {"outcome": "duplicate"}
            self._largest += self._step
            self._lease, self._is_stopping = _Lease(incarnation, self._largest), False
        return {"outcome": "registered", "epoch": self._lease.epoch}

    def _is_other(self, incarnation: str) -> bool:
        return self._lease is not None and self._lease.incarnation != incarnation

    def _heartbeat(self, value: Value) -> Value:
        if self._lease is None or self._lease.epoch != value["epoch"]:
            return _STALE
        self._is_stopping = self._is_stopping or bool(value["want_shut_down"])
        return {**_ALIVE, "fenced": value["want_fence"], "should_shut_down": self._is_stopping}

    @override
    def hear(self, f: str, said: object) -> None:
        value = cast("Value", said)
        if value["outcome"] == "registered":
            self._answered.append(_Lease(self._asked, cast("int", value["epoch"])))


def _outcome(act: Act) -> object:
    """Return the answer, None if unknown."""
    return cast("Value", act.output)["outcome"] if act.is_ok else None


def _field(value: object, name: str) -> int:
    return cast("dict[str, int]", value)[name]


def _grants(acts: Acts) -> list[Act]:
    return [act for act in acts if _outcome(act) == "registered"]


def _some(acts: Acts, outcome: str, random: Random) -> Iterator[Act]:
    """Yield operations with that answer, at random."""
    found = [act for act in acts if _outcome(act) == outcome]
    yield from random.sample(found, min(TRIES, len(found)))


def _of_epoch(acts: Acts, heartbeat: Act) -> list[Act]:
    """Return the grants of the epoch that a heartbeat carries."""
    epoch = _field(heartbeat.input, "epoch")
    return [grant for grant in _grants(acts) if _field(grant.output, "epoch") == epoch]


def _largest_before(acts: Acts, act: Act) -> int:
    """Return the greatest epoch that was granted before the operation began; 0 for none."""
    before = (grant for grant in _grants(acts) if grant.before(act))
    return max((_field(grant.output, "epoch") for grant in before), default=0)


def _accepted(heartbeat: Act) -> Acts:
    return [heartbeat.answering({**_ALIVE, "fenced": _field(heartbeat.input, "want_fence")})]


def _stale(acts: Acts, random: Random) -> Acts | None:
    for heartbeat in _some(acts, "stale", random):
        if _field(heartbeat.input, "epoch") < _largest_before(acts, heartbeat):
            return _accepted(heartbeat)
    return None


def _repeated(acts: Acts, random: Random) -> Acts | None:
    for grant in _some(acts, "registered", random):
        largest = _largest_before(acts, grant)
        held = {_field(one.output, "epoch") for one in _grants(acts) if one.input == grant.input}
        smaller = sorted(set(range(1, largest + 1)) - held)
        if smaller:
            return [grant.answering({"outcome": "registered", "epoch": random.choice(smaller)})]
    return None


def _unregistered(acts: Acts, random: Random) -> Acts | None:
    ends = [act for act in acts if act.f == "unregister" and act.is_ok]
    for heartbeat in _some(acts, "stale", random):
        grants = _of_epoch(acts, heartbeat)
        between = (end for end in ends if end.before(heartbeat))
        if grants and any(all(grant.before(end) for grant in grants) for end in between):
            return _accepted(heartbeat)
    return None


def _live_refused(acts: Acts, random: Random) -> Acts | None:
    changes = [
        act
        for act in acts
        if act.may_happen and act.f != "heartbeat" and _outcome(act) not in {"duplicate", "absent"}
    ]
    for heartbeat in _some(acts, "alive", random):
        grants = _of_epoch(acts, heartbeat)
        before = [grant for grant in grants if grant.before(heartbeat)]
        others = [act for act in changes if act not in grants]
        for grant in before[:1]:
            if all(act.before(grant) or heartbeat.complete < act.invoke for act in others):
                return [heartbeat.answering(_STALE)]
    return None


def _any(acts: Acts, random: Random) -> Acts | None:
    beats = [act for act in acts if act.f == "heartbeat" and act.is_ok]
    for heartbeat in random.sample(beats, min(1, len(beats))):
        is_stale = _outcome(heartbeat) == "stale"
        return _accepted(heartbeat) if is_stale else [heartbeat.answering(_STALE)]
    return None


class RegistrationSubject(ObjectSubject):
    """A broker id for which incarnations contend, as the registration workload records it."""

    model = "registration"
    mix = {"register": 1.0, "heartbeat": 3.0, "unregister": 0.3}
    spoils = {
        "stale-epoch": (
            _stale,
            Corruption(description="a heartbeat is accepted after a greater epoch"),
        ),
        "repeated-epoch": (_repeated, Corruption(description="a grant's epoch is not greater")),
        "unregistered": (
            _unregistered,
            Corruption(description="a heartbeat is accepted after the broker was unregistered"),
        ),
        "live-refused": (_live_refused, Corruption(description="a live epoch is refused as stale")),
        "any": (_any, ANY),
    }

    @override
    def make(self, elements: Elements) -> _BrokerId:
        return _BrokerId()
