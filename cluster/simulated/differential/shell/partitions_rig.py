"""Log directories of a compared shell, of which one may fail."""

from collections.abc import Callable
from typing import Any, Final, cast

from kraftproof.cluster.simulated.differential.difference import check, same
from kraftproof.node.core.base.log_id import LogId
from kraftproof.node.core.effects import Append, Flush, Reply, Truncate
from kraftproof.node.core.log_effects import LogRead
from kraftproof.node.shell.partition_executor import PartitionExecutor
from kraftproof.node.wire.errors import WireError
from kraftproof.node.wire.types import Uuid

TOPIC_ID: Final = Uuid(b"\6" * 16)
HOME: Final = Uuid(b"\3" * 16)
LOGS: Final = tuple(LogId(TOPIC_ID, number) for number in range(4))
TOPIC: Final = "topic"


class PartitionsRig:
    """Log directories of which one may fail, and workers that finish at once."""

    def __init__(self, *, is_vital: bool) -> None:
        self.vital = is_vital
        self.calls: list[tuple[str, object]] = []
        self.fails = ""
        self.has_failed = False
        self.ended: list[object] = []
        self.failures: list[Callable[[OSError], None]] = []
        """What hears of the failure of each work in the background."""
        self.failed_times = 0
        self.posted: list[object] = []
        self.replies: list[Reply] = []
        self.data: dict[LogId, bytes] = {log: b"x" * (10 * log.partition) for log in LOGS}
        self.executor = PartitionExecutor(
            cast("Any", self),
            cast("Any", self),
            reply=self.replies.append,
            post=self.posted.append,
            post_first=lambda event: self.posted.insert(0, event),
            on_failure=self.ended.append,
        )
        self.handlers: dict[type, Callable[[Any], None]] = {
            **self.executor.handlers(),
            Append: self.executor.append,
            Flush: self.executor.flush,
            Truncate: self.executor.truncate,
        }

    def __getattr__(self, name: str) -> Callable[[Any], Any]:
        return lambda effect: self._call(name, effect)

    def _call(self, name: str, effect: object) -> Any:  # noqa: ANN401
        self.calls.append((name, effect))
        if self.fails == name:
            raise OSError(5, "Input/output error")
        return lambda: None

    def directory_of(self, log: LogId) -> Uuid | None:
        """Return the only directory, until it has failed."""
        return None if self.has_failed and log != LOGS[0] else HOME

    def is_vital(self, directory: Uuid) -> bool:
        """Return whether the metadata log is in the directory."""
        return self.vital and directory == HOME

    def fail(self, directory: Uuid) -> tuple[tuple[LogId, str], ...]:
        """Let go of the directory with all logs but the first."""
        same("the failed directory", directory, HOME)
        self.has_failed = True
        self.failed_times += 1
        return tuple((log, TOPIC) for log in LOGS[1:])

    def read(self, read: LogRead) -> bytes:
        """Return bytes within the limits of a read; a disk takes a negative limit for none."""
        check(f"a read of {read.max_bytes} bytes at most", read.max_bytes >= 0)
        self.calls.append(("read", read))
        if self.fails == "read":
            raise WireError("damaged")
        data = self.data[read.log]
        return data if len(data) <= read.max_bytes or read.may_exceed else b""

    def fsync(self, fsync: Callable[[], None], done: Callable[[], None], failed: Any) -> None:  # noqa: ANN401
        """Finish at once, or fail."""
        if self.fails == "fsync":
            failed(OSError(5, "Input/output error"))
            return
        fsync()
        done()

    def background(self, steps: object, done: object, failed: Callable[[OSError], None]) -> None:
        """Begin work beside the steps, which may fail later."""
        del steps, done
        self.failures.append(failed)

    def write_checkpoints(self, effect: object) -> tuple[tuple[Uuid, Callable[[], object]], ...]:
        """Return the begin of the work in the only directory."""
        del effect
        return ((HOME, self._begin),)

    def _begin(self) -> object:
        if self.fails == "begin":
            raise OSError(5, "Input/output error")
        return iter(())
