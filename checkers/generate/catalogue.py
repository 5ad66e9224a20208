"""All subjects, by the name of their model."""

from typing import Final

from checkers.generate.containers import PriorityQueueSubject, QueueSubject, StackSubject
from checkers.generate.counters import CounterSubject
from checkers.generate.locks import MutexSubject
from checkers.generate.logs import AppendLogSubject
from checkers.generate.maps import MapSubject
from checkers.generate.register import RegisterSubject
from checkers.generate.registrations import RegistrationSubject
from checkers.generate.sequences import KvAppendSubject, ListAppendSubject
from checkers.generate.sets import SetSubject
from checkers.generate.subjects import Subject
from checkers.generate.tokens import FencingLockSubject
from checkers.generate.topics import TopicsSubject
from checkers.generate.transactions import MultiRegisterSubject
from checkers.generate.versions import VersionedRegisterSubject
from checkers.verdict import CheckerInputError

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
    """Returns the subject of a model, or raises CheckerInputError with those there are."""
    try:
        return SUBJECTS[model]
    except KeyError:
        known = ", ".join(SUBJECTS)
        raise CheckerInputError(f"--model {model}: one of {known} is expected") from None
