"""Takes the time of each phase of a run, and shows the phase as another progress does."""

import time

from typing_extensions import override

from kraftproof.cluster.scope import Scope, Task
from kraftproof.run.history import FaultRecorder, HistoryRecorder
from kraftproof.run.progress import Progress


class PhaseTimes(Progress):
    """Notes how long each phase lasts; the last one lasts until `end`."""

    def __init__(self, shown: Progress) -> None:
        self.seconds: dict[str, float] = {}
        """By phase, in their order; a phase that comes again counts on."""
        self._shown = shown
        self._current: tuple[str, float] | None = None

    @override
    def phase(self, text: str) -> None:
        """End the phase before, and begin one."""
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
        """Show how operations and faults go."""
        return self._shown.watch(scope, history, faults, time_limit_ns)
