"""Compare the epochs of logs, and their files, with plain lists."""

from random import Random
from typing import Final

from kraftproof.cluster.simulated.differential.difference import named, refused, same
from kraftproof.cluster.simulated.differential.storage.files import crashed, put
from kraftproof.cluster.simulated.differential.storage.offset_files import lines_of, new_disk
from kraftproof.cluster.simulated.disk.filesystem import SimulatedFileSystem
from kraftproof.node.storage.epochs import FILE_NAME, EpochCheckpoint
from kraftproof.node.storage.errors import StorageError

EPOCHS: Final = f"/a/{FILE_NAME}"


def compare_epoch_files(random: Random) -> None:
    """Follow the epochs of logs, and start with logs and files that agree or contradict.

    Raises:
        DifferenceError: the node has another result than the reference.
    """
    _compare_epochs(random)
    _compare_rebuilt(random)


def _compare_epochs(random: Random) -> None:
    """Follow the epochs of a log through appends, truncations and a new start."""
    disk, is_durable = new_disk(), random.random() < 0.5
    epochs = EpochCheckpoint(disk, "/a", is_durable=is_durable)
    expected, end, epoch = list[tuple[int, int]](), 0, 0
    for _ in range(12):
        before = list(expected)
        match random.choice("aaatcn"):
            case "a":
                epoch += random.choice((0, 1, 1, 3))
                epochs.appended(epoch, end)
                _note(expected, epoch, end)
                end += random.randrange(1, 4)
            case "n":  # a leader without records
                epoch += 1
                epochs.appended(epoch, end)
                _note(expected, epoch, end)
            case "t":
                end = random.randrange(max(end - 3, 0), end + 1)
                epochs.truncated(end)
                expected = [one for one in expected if one[1] < end]
            case _:
                start = random.randrange(end + 1)
                epochs.cleaned(start)
                below = [one for one in expected if one[1] <= start]
                above = [one for one in expected if one[1] > start]
                expected = [(one[0], start) for one in below[-1:]] + above
        same("the epochs of a log", epochs.entries, tuple(expected))
        is_changed = before != expected
        if is_changed:
            same("a changed file of epochs", epochs.take_changed(), is_changed)
            _compare_epoch_file(crashed(disk, random) if is_durable else disk, expected)
        epochs.take_changed()
        same("an unchanged file of epochs", int(epochs.take_changed()), 0)
    epochs.reset()
    same("the epochs of an empty log", epochs.entries, ())
    _compare_epoch_file(disk, [])


def _note(entries: list[tuple[int, int]], epoch: int, start: int) -> None:
    """Enter an epoch: it replaces epochs without records."""
    if entries and entries[-1][0] >= epoch:
        return
    entries[:] = [one for one in entries if one[1] < start] + [(epoch, start)]


def _compare_epoch_file(disk: SimulatedFileSystem, entries: list[tuple[int, int]]) -> None:
    rows = [f"{epoch} {start}" for epoch, start in entries]
    if disk.exists(EPOCHS) or rows:
        same("the file of epochs", lines_of(disk, EPOCHS), ["0", str(len(rows)), *rows, ""])


def _compare_rebuilt(random: Random) -> None:
    """Start with a log and a file of epochs, which agree or contradict each other."""
    log = [(2, 10), (2, 12), (3, 15), (6, 20)]
    right = b"0\n3\n2 10\n3 15\n6 20\n"
    accepted = (
        b"0\n3\n2 5\n3 15\n6 20\n",
        b"0\n4\n1 4\n2 10\n3 15\n6 20\n",
        b"0\n4\n2 10\n3 15\n6 20\n9 30\n",
        b"0\n2\n2 10\n3 15\n",
        b"0\n2\n3 15\n6 20\n",
        b"?",
        b"0\n1\nx y\n",
        b"0\n3\n2 10\n3 15\n6 20 1\n",
        right,
        None,
    )
    for content in accepted:
        disk = new_disk()
        if content is not None:
            put(disk, EPOCHS, content)
        epochs = EpochCheckpoint(disk, "/a")
        epochs.rebuild(log, 18)
        same(f"epochs rebuilt over {content!r}", epochs.entries, ((2, 10), (3, 15), (6, 20)))
        same(f"the file over {content!r}", crashed(disk, random).read(EPOCHS), right)
    for content, epoch in (
        (b"0\n3\n2 10\n3 16\n6 20\n", 3),
        (b"0\n3\n2 10\n3 14\n6 20\n", 3),
        (b"0\n2\n2 10\n6 20\n", 3),
        (b"0\n2\n3 10\n6 20\n", 2),
        (b"0\n2\n3 9\n6 20\n", 2),
        (b"0\n3\n2 10\n3 15\n6 21\n", 6),
        (b"0\n3\n2 10\n3 15\n7 22\n", 6),
        (b"0\n1\n2 10\n", 3),
    ):
        disk = new_disk()
        put(disk, EPOCHS, content)
        text = refused(str(content), StorageError, EpochCheckpoint(disk, "/a").rebuild, log, 18)
        named(str(content), text, EPOCHS, f"epoch {epoch} from offset {dict(log[::-1])[epoch]}")
        same("a refused file of epochs", disk.read(EPOCHS), content)
    _compare_recovered(random)


def _compare_recovered(random: Random) -> None:
    """Start with a partition's log: epochs without records come from the file."""
    starts = [(2, 10), (4, 20)]
    for row, is_kept in (
        ((3, 15), 1),
        ((5, 25), 1),
        ((5, 30), 1),
        ((5, 31), 0),
        ((1, 5), 1),
        ((1, 10), 0),
        ((3, 20), 0),
        ((3, 10), 0),
        ((5, 20), 0),
        ((4, 18), 0),
    ):
        disk = new_disk()
        put(disk, EPOCHS, f"0\n1\n{row[0]} {row[1]}\n".encode())
        epochs = EpochCheckpoint(disk, "/a", is_durable=False)
        epochs.recovered(starts, 30)
        expected = sorted([*starts, row] if is_kept else starts)
        same(f"epochs recovered with {row}", epochs.entries, tuple(expected))
        _compare_epoch_file(disk, expected)
    disk = new_disk()
    put(disk, EPOCHS, b"0\n2\n2 10\n4 20\n")
    epochs = EpochCheckpoint(disk, "/a", is_durable=random.random() < 0.5)
    epochs.recovered(starts, 30)
    same("a file that says the same", (int(epochs.take_changed()), epochs.path), (0, EPOCHS))
