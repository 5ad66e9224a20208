"""Progress of a Spark job: a live line on a terminal, otherwise a line per step."""

import threading
from collections.abc import Callable
from types import TracebackType
from typing import Final, Self

from rich.console import Console
from rich.markup import escape
from rich.status import Status

from kraftproof.checkers.text import without_long_words

EVERY_S: Final = 0.5


class AnalysisProgress:
    """Prints each step, and on a terminal the number of finished Spark tasks of the step."""

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
        """Set the function that returns the numbers of finished and of all tasks."""
        self._tasks = tasks

    def step(self, text: str) -> None:
        """End the previous step, and start a step."""
        self._stop()
        self._text = escape(without_long_words(text))
        self._console.print(f"[bold cyan]·[/] {self._text}")
        if self._console.is_terminal:
            self._status = self._console.status(self._text)
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
            done, total = tasks()
            status.update(f"{self._text}: {done} of {total} tasks" if total else self._text)
