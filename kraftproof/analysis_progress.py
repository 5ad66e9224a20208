"""How a Spark job goes, for people: one live line on a terminal, one line a step elsewhere."""

import threading
from collections.abc import Callable
from types import TracebackType
from typing import Final, Self

from rich.console import Console
from rich.status import Status

EVERY_S: Final = 0.5


class AnalysisProgress:
    """Tells of steps, and while one lasts of the tasks that Spark has done."""

    def __init__(self) -> None:
        self._console = Console(stderr=True, highlight=False, soft_wrap=True)
        self._status: Status | None = None
        self._text = ""
        self._tasks: Callable[[], tuple[int, int]] | None = None
        self._ended = threading.Event()
        self._watcher = threading.Thread(target=self._watch, daemon=True)

    def __enter__(self) -> Self:
        if self._console.is_terminal:
            self._watcher.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self._ended.set()
        if self._watcher.is_alive():
            self._watcher.join()
        self._stop()

    def watch(self, tasks: Callable[[], tuple[int, int]]) -> None:
        """From now on ask for the tasks that are done, and how many there are."""
        self._tasks = tasks

    def step(self, text: str) -> None:
        """End the step before, and begin one."""
        self._stop()
        self._text = text
        self._console.print(f"[bold cyan]·[/] {text}")
        if self._console.is_terminal:
            self._status = self._console.status(text)
            self._status.start()

    def _stop(self) -> None:
        if self._status is not None:
            self._status.stop()
            self._status = None

    def _watch(self) -> None:
        while not self._ended.wait(EVERY_S):
            status, tasks = self._status, self._tasks
            if status is None or tasks is None:
                continue
            done, there = tasks()
            status.update(f"{self._text}: {done} of {there} tasks" if there else self._text)
