"""Measure the time of each phase of a run, and forward the phases to another Progress."""

import time

from typing_extensions import override

from kraftproof.cluster.scope import Scope, Task
from kraftproof.run.display.progress import Progress
from kraftproof.run.history import FaultRecorder, HistoryRecorder


class PhaseTimes(Progress):
    """Measures the duration of each phase; the last phase lasts until `end`."""

    def __init__(self, shown: Progress) -> None:
        self.seconds: dict[str, float] = {}
        """Seconds by phase, in order; a repeated phase adds to its time."""
        self._shown = shown
        self._current: tuple[str, float] | None = None

    @override
    def phase(self, text: str) -> None:
        """End the previous phase, and start a phase."""
        self.end()
        self._current = text, time.monotonic()
        self._shown.phase(text)

    def end(self) -> None:
        """End the last phase."""
        if self._current is not None:
            text, begun = self._current
            self.seconds[text] = self.seconds.get(text, 0.0) + time.monotonic() - begun
            self._current = None

    @override
    def watch(
        self, scope: Scope, history: HistoryRecorder, faults: FaultRecorder, time_limit_ns: int
    ) -> Task[None]:
        """Forward the counts of operations and faults."""
        return self._shown.watch(scope, history, faults, time_limit_ns)
