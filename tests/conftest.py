"""Hooks for all tests: who runs which test, and the CPU seconds that each test takes."""

import gc
import os
from collections.abc import Callable, Generator, Iterable
from pathlib import Path

import pytest
from hypothesis import settings
from xdist.remote import Producer

from kraftproof.quick_start import collect_seldom
from scripts.run_tests import LEFT_OUT, ROOT, STAGE_MARKERS, WORKER_S, names_marker, recorded
from tests.support.failures import NamesFailures
from tests.support.groups import ByGroup

CPU_SECONDS = "cpu_s"
"""Property of a test in the JUnit report: its CPU seconds, those of ended child processes included.

`python -m scripts.check --record` reads the reports: load does not change CPU seconds.
"""
IS_LEFT_OUT = "left_out_of_check"
"""Property of a test that `make check` never runs."""
_BEGUN = pytest.StashKey[float]()

# A draw must not fail because other work keeps the machine busy; pytest-timeout bounds each test.
settings.register_profile("without deadline", settings(), deadline=None)
settings.load_profile("without deadline")


def pytest_sessionstart(session: pytest.Session) -> None:
    config = session.config
    terminal = config.pluginmanager.get_plugin("terminalreporter")
    if terminal is not None and not hasattr(config, "workerinput"):
        config.pluginmanager.register(NamesFailures(terminal))


def pytest_xdist_make_scheduler(config: pytest.Config, log: Producer) -> ByGroup | None:
    return ByGroup(config, log) if config.getoption("dist") == "loadgroup" else None


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_collection() -> Generator[None, object, object]:
    """Collect without the garbage collector, and keep the tests out of later collections.

    Collecting makes many objects that all live to the end: traversing them again and again took
    two fifths of the CPU seconds of collecting, and a share of each test's. Afterwards garbage is
    collected as seldom as in the command, which saves a sixth of the CPU seconds of the tests.
    """
    gc.disable()
    try:
        return (yield)
    finally:
        gc.collect()
        gc.freeze()
        collect_seldom()
        gc.enable()


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    require_named_markers(items)
    if hasattr(config, "workerinput"):
        # No costly test may be the last to begin, while the other workers have nothing left.
        items.sort(key=order_of(items, is_by_file=not getattr(config.option, "loadgroup", False)))


def order_of(
    items: Iterable[pytest.Item], *, is_by_file: bool
) -> Callable[[pytest.Item], tuple[bool, float]]:
    """Return the sort key of tests: slow tests first, then by the recorded seconds of their files.

    Args:
        items: The tests.
        is_by_file: Whether a worker takes whole files: then a file with a slow test is slow.
    """
    seconds = {str(ROOT / path): spent for path, spent in recorded(column=WORKER_S).items()}
    slow = {id(item) for item in items if item.get_closest_marker("slow")}
    slow_files = {item.path for item in items if is_by_file and id(item) in slow}
    return lambda item: (
        id(item) not in slow and item.path not in slow_files,
        -seconds.get(str(item.path), 0.0),
    )


def require_named_markers(items: list[pytest.Item]) -> None:
    """Refuse a test that no stage would collect: its file does not name the marker of its stage."""
    for item in items:
        for marker in {mark.name for mark in item.iter_markers()}.intersection(STAGE_MARKERS):
            if not names_marker(item.path, marker):
                message = f"{item.nodeid} is marked {marker}; write `mark.{marker}` into its file"
                raise pytest.UsageError(message)


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_runtest_setup(item: pytest.Item) -> Generator[None, None, None]:
    item.stash[_BEGUN] = cpu_seconds()
    return (yield)


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_runtest_teardown(item: pytest.Item) -> Generator[None, None, None]:
    try:
        return (yield)
    finally:
        spent = round(cpu_seconds() - item.stash[_BEGUN], 2)
        item.user_properties.append((CPU_SECONDS, spent))
        if LEFT_OUT.intersection(mark.name for mark in item.iter_markers()):
            item.user_properties.append((IS_LEFT_OUT, "yes"))


def cpu_seconds() -> float:
    """Return the CPU seconds of this process and of its children that have ended."""
    return sum(os.times()[:4])


@pytest.fixture
def runtime(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """A runtime directory of its own, so that a sweep sees the runs of the test only."""
    directory = tmp_path / "runtime"
    directory.mkdir(mode=0o700)
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(directory))
    return directory
