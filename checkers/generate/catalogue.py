"""The subjects by the name of their model."""

from typing import Final

from kraftproof.checkers.generate.subjects.containers import (
    PriorityQueueSubject,
    QueueSubject,
    StackSubject,
)
from kraftproof.checkers.generate.subjects.counters import CounterSubject
from kraftproof.checkers.generate.subjects.locks import MutexSubject
from kraftproof.checkers.generate.subjects.logs import AppendLogSubject
from kraftproof.checkers.generate.subjects.maps import MapSubject
from kraftproof.checkers.generate.subjects.register import RegisterSubject
from kraftproof.checkers.generate.subjects.registrations import RegistrationSubject
from kraftproof.checkers.generate.subjects.sequences import KvAppendSubject, ListAppendSubject
from kraftproof.checkers.generate.subjects.sets import SetSubject
from kraftproof.checkers.generate.subjects.subject import Subject
from kraftproof.checkers.generate.subjects.tokens import FencingLockSubject
from kraftproof.checkers.generate.subjects.topics import TopicsSubject
from kraftproof.checkers.generate.subjects.transactions import MultiRegisterSubject
from kraftproof.checkers.generate.subjects.versions import VersionedRegisterSubject
from kraftproof.checkers.verdict import CheckerInputError
from kraftproof.spelling import nearest

_SUBJECTS: Final[tuple[Subject, ...]] = (
    RegisterSubject(),
    AppendLogSubject(),
    CounterSubject(),
    FencingLockSubject(),
    KvAppendSubject(),
    ListAppendSubject(),
    MapSubject(),
    MultiRegisterSubject(),
    MutexSubject(),
    PriorityQueueSubject(),
    QueueSubject(),
    RegistrationSubject(),
    SetSubject(),
    StackSubject(),
    TopicsSubject(),
    VersionedRegisterSubject(),
)
SUBJECTS: Final = {subject.model: subject for subject in _SUBJECTS}


def subject_named(model: str) -> Subject:
    """Return the subject of a model, or raises CheckerInputError with those there are."""
    try:
        return SUBJECTS[model]
    except KeyError:
        known = ", ".join(SUBJECTS)
        raise CheckerInputError(
            f"--model {model}{nearest(model, SUBJECTS)}: one of {known} is expected"
        ) from None
