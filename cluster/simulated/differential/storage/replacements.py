"""Replace files after a process that was killed amid a replacement, and compare the content."""

from random import Random

from kraftproof.cluster.simulated.differential.difference import check, same
from kraftproof.cluster.simulated.differential.storage.files import crashed, put
from kraftproof.cluster.simulated.disk.filesystem import SimulatedFileSystem
from kraftproof.node.storage import filesystem

PATH = "/a/file"


def compare_replacements(random: Random, disk: SimulatedFileSystem) -> None:
    """Replace and copy a file by the steps that every disk shares, and lose the power.

    Args:
        random: Draws the contents, and the file that an interrupted replacement has left.
        disk: A disk with the directory /a.

    Raises:
        DifferenceError: the file has another content than the last replacement.
    """
    content = b""
    for _ in range(4):
        if random.random() < 0.5:
            put(disk, f"{PATH}.tmp", random.randbytes(random.randrange(1, 9)))
        if content and random.random() < 0.3:
            filesystem.rewrite_durably(disk, PATH)
        else:
            content = random.randbytes(random.randrange(1, 9))
            filesystem.replace_durably(disk, PATH, content)
        check("no file is left over", not disk.exists(f"{PATH}.tmp"))
        if random.random() < 0.5:
            disk = crashed(disk, random)
        same("the content of a replaced file", disk.read(PATH), content)
