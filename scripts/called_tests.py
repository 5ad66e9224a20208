"""Record the tests that call each function, so that an edited function needs few tests.

The record is a speed-up only: a function that no recorded test misses is tried with all tests,
since calls while modules are imported, and those of other processes, are not in the record.
"""

import sys
import threading
import time
from collections import defaultdict
from collections.abc import Generator, Iterable
from dataclasses import dataclass, field
from types import FrameType

import pytest

Function = tuple[str, int]
"""A source file and the line of the function's first decorator, or of its `def`."""


@dataclass(slots=True)
class Calls:
    """The tests that call each function, and the seconds that each test takes."""

    tests: dict[Function, list[str]] = field(default_factory=lambda: defaultdict(list))
    seconds: dict[str, float] = field(default_factory=dict)

    def of(self, function: Function) -> tuple[str, ...]:
        """Return the tests that call a function, the shortest first."""
        return tuple(sorted(self.tests.get(function, ()), key=lambda test: self.seconds[test]))


class CallRecorder:
    """Plug-in of pytest that records the calls of functions below a folder, test by test."""

    def __init__(self, folder: str) -> None:
        self.calls = Calls()
        self._folder = folder

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> Generator[None, object, object]:
        """Trace the calls of a test and its fixtures."""
        called: set[Function] = set()

        def trace(frame: FrameType, event: str, argument: object) -> None:
            called.add((frame.f_code.co_filename, frame.f_code.co_firstlineno))

        begun = time.monotonic()
        threading.settrace(trace)
        sys.settrace(trace)
        try:
            return (yield)
        finally:
            sys.settrace(None)
            threading.settrace(None)
            self.calls.seconds[item.nodeid] = time.monotonic() - begun
            for file, line in called:
                if file.startswith(self._folder):
                    self.calls.tests[file, line].append(item.nodeid)


class OnlyThese:
    """Plug-in of pytest that runs the tests of a list only, in the order of the list."""

    def __init__(self, tests: Iterable[str]) -> None:
        self._places = {test: place for place, test in enumerate(tests)}

    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        """Keep only the given tests, and sort the rest."""
        kept = [item for item in items if item.nodeid in self._places]
        items[:] = sorted(kept, key=lambda item: self._places[item.nodeid])
