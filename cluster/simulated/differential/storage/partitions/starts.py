"""Compare the log that a node finds at its start with the model of the log."""

from kraftproof.cluster.simulated.differential.difference import check, same
from kraftproof.cluster.simulated.differential.storage.open_files import CountedFileSystem
from kraftproof.cluster.simulated.differential.storage.partitions.model import (
    HOMES,
    ModelLog,
    facts_of,
)
from kraftproof.node.core.log.recovered import RecoveredLog


def compare_recovered(
    files: dict[str, bytes],
    model: ModelLog,
    found: RecoveredLog,
    *,
    is_clean: bool,
    has_exact_epochs: bool,
    has_gaps: bool,
) -> None:
    """Compare the log that a start has found with its model, and let the model lose the rest.

    Raises:
        DifferenceError: the node has another result than the model.
    """
    what = f"the log {found.log}, clean {is_clean}"
    is_empty = found.end_offset == model.start < model.end and not found.size
    if is_empty and model.segments[0][0] < model.start:
        model.restart(model.start)  # the records above the start were lost
    ends = [one.next_offset for one in model.batches] + [model.segments[0][0], model.end]
    check(f"{what} ends between batches", found.end_offset in ends)
    durable = [one for one in ends[:-1] if one <= model.durable_end]  # a cut may leave a gap
    check(f"{what} has what was durable", found.end_offset >= max(durable, default=0))
    kept = [one for one in model.epochs if one[1] <= found.end_offset]
    is_kept = model.has_durable_epochs and bool(model.batches)
    bases = _bases(files)
    if found.end_offset < model.end:
        model.segments = [
            (base, [one for one in batches if one.next_offset <= found.end_offset])
            for base, batches in model.segments
        ]
    model.segments = [one for one in model.segments if one[0] in bases or one[1]]
    model.end = found.end_offset
    model.flush()
    model.flushed_names = None
    same(f"the start of {what}", found.start_offset, model.start)
    # the creation of a log of an earlier name writes the file of all logs again
    written = {model.written_watermark, model.high_watermark}
    watermarks = {min(max(one, model.start), model.end) for one in written}
    check(f"the high watermark of {what}", found.high_watermark in watermarks)
    model.high_watermark = found.high_watermark
    epochs = [(int(epoch), int(start)) for epoch, start in found.epochs]
    if has_exact_epochs:
        same(f"the epochs of {what}", epochs, model.epochs)
    elif is_kept and not has_gaps:
        same(f"the durable epochs of {what}", epochs, kept)
    model.epochs = epochs
    _compare_spans(what, model, found)
    if not is_clean and not model.kept:  # a crash may bring a removed file back
        first = model.segments[0][0]
        model.kept = [one for one in found.producer_batches if one.base_offset < first]
    producers = [facts_of(one) for one in found.producer_batches]
    every = [
        model.producers_at_start(one)
        for one in sorted(written)
        if min(max(one, model.start), model.end) == found.high_watermark
    ]
    if producers not in every:
        same(f"the producers of {what}", producers, every[-1])


def recovery_points(disk: CountedFileSystem) -> dict[str, int]:
    """Return the recovery point of each log in the checkpoint files, by the log's directory."""
    found = dict[str, int]()
    for home in HOMES:
        path = f"{home}/recovery-point-offset-checkpoint"
        rows = disk.read(path).decode().splitlines()[2:] if disk.exists(path) else ()
        for topic, partition, offset in map(str.split, rows):
            found[f"{home}/{topic}-{partition}"] = int(offset)
    return found


def compare_rewritten(
    disk: CountedFileSystem, directory: str, model: ModelLog, point: int, *, is_clean: bool
) -> None:
    """Compare the segments that a start has written again: none that was durable before.

    Raises:
        DifferenceError: the start has written a durable segment again.
    """
    ends = [base for base, _ in model.segments[1:]] + [model.end]
    for (base, _), end in zip(model.segments, ends, strict=True):
        is_again = f"{directory}/{base:020d}.log" in disk.replaced
        is_durable = is_clean or end <= point
        check(f"segment {base} is written again, durable to {point}", not (is_again and is_durable))


def _compare_spans(what: str, model: ModelLog, found: RecoveredLog) -> None:
    position, spans = 0, list[tuple[int, int, int]]()
    for base, batches in model.segments:
        if batches:
            newest_ms = max(-1, *(one.max_timestamp_ms for one in batches))
            spans.append((base, position, newest_ms))
        position += sum(len(one.data) for one in batches)
    same(f"the size of {what}", found.size, position)
    same(
        f"the spans of {what}",
        [(o.offset, o.position, o.newest_ms) for o in found.spans],
        spans,
    )


def _bases(files: dict[str, bytes]) -> set[int]:
    return {int(path[-24:-4]) for path in files if path.endswith(".log")}
