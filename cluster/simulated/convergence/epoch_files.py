"""Compare the file of epochs beside a log with the log on the simulated disk (KIP-595, 595-10)."""

from kraftproof.cluster.simulated.disk.log_mirror import LogMirror

HEADER_LINES = 2
"""The version, and the number of entries."""


def epoch_file_fault(content: bytes, log: LogMirror) -> str | None:
    """Describe a difference of leader-epoch-checkpoint from the batches of a log; None if none.

    The file has `epoch start_offset` a line. An entry of an older epoch may precede the entries of
    the batches, since the last record below the log's start may be of that epoch.
    """
    entries = [tuple(map(int, line.split())) for line in content.splitlines()[HEADER_LINES:]]
    expected: list[tuple[int, ...]] = []
    for batch in log.batches:
        if not expected or expected[-1][0] != batch.epoch:
            expected.append((batch.epoch, batch.base_offset))
    older = entries[: len(entries) - len(expected)]
    is_older = len(older) <= 1 and all(start <= log.start.end_offset for _, start in older)
    if entries[len(older) :] == expected and is_older:
        return None
    return f"the file has the epochs {entries}, the log from {log.start} has {expected}"
