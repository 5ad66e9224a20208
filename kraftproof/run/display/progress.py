"""Progress of a run on stderr: a live line on a terminal, otherwise a line every few seconds."""

from typing import Protocol

from rich.console import Console
from rich.status import Status

from kraftproof.cluster.scope import Scope, Task
from kraftproof.run.history import FaultRecorder, HistoryRecorder

SECOND_NS = 1_000_000_000
LINE_EVERY_S = 5


class Progress(Protocol):
    """Receiver of the progress of a run."""

    def phase(self, text: str) -> None:
        """Show the name of the phase that starts."""
        ...

    def watch(
        self, scope: Scope, history: HistoryRecorder, faults: FaultRecorder, time_limit_ns: int
    ) -> Task[None]:
        """Return a task that shows the counts of operations and faults until cancelled."""
        ...


class Silence:
    """A Progress that shows nothing."""

    def phase(self, text: str) -> None:
        """Ignore the phase."""

    def close(self) -> None:
        """Show nothing in the end, either."""

    def watch(
        self, scope: Scope, history: HistoryRecorder, faults: FaultRecorder, time_limit_ns: int
    ) -> Task[None]:
        """Return a task that ends at once."""
        del history, faults, time_limit_ns
        return scope.spawn(_nothing())


async def _nothing() -> None:
    """Return at once."""


class ConsoleProgress:
    """A Progress on a console."""

    __slots__ = ("_console", "_status")

    def __init__(self) -> None:
        self._console = Console(stderr=True, highlight=False, soft_wrap=True)
        self._status: Status | None = None

    def phase(self, text: str) -> None:
        """End the previous line, and start a line for the phase."""
        self.close()
        self._console.print(f"[bold cyan]·[/] {text}")
        if self._console.is_terminal:
            self._status = self._console.status(text)
            self._status.start()

    def close(self) -> None:
        """End the live line, if any."""
        if self._status is not None:
            self._status.stop()
            self._status = None

    def watch(
        self, scope: Scope, history: HistoryRecorder, faults: FaultRecorder, time_limit_ns: int
    ) -> Task[None]:
        """Show the counts every second on a terminal, otherwise every 5 seconds."""
        return scope.spawn(self._watch(scope, history, faults, time_limit_ns))

    async def _watch(
        self, scope: Scope, history: HistoryRecorder, faults: FaultRecorder, time_limit_ns: int
    ) -> None:
        started_ns = scope.now()
        seen_ok = 0
        every_s = 1 if self._status is not None else LINE_EVERY_S
        while True:
            await scope.sleep(every_s * SECOND_NS)
            ok = history.done.ok
            rate = (ok - seen_ok) / every_s
            seen_ok = ok
            at_s = (scope.now() - started_ns) // SECOND_NS
            total_s = time_limit_ns // SECOND_NS
            last = faults.events[-1] if faults.events else None
            fault = f", {last.phase}: {last.kind} {last.targets}" if last else ""
            line = f"{at_s}/{total_s} s  {ok} ok ({rate:.0f}/s), {history.open} open{fault}"
            if self._status is not None:
                self._status.update(line)
            else:
                self._console.print(f"  {line}", markup=False)
