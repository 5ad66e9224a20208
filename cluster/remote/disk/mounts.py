"""Mount and unmount disks, and find the mounts of dead harnesses.

The source of a mount names its owner, as the labels of a container do, so that the next sweep
removes the mounts of a dead harness. The system calls need root.
"""

import ctypes
import os
import re
import shutil
from pathlib import Path
from typing import Final

from kraftproof.cluster.processes import Identity, is_alive

DEVICE: Final = "/dev/fuse"
KIND: Final = "fuse.kraftproof"
MOUNTS: Final = Path("/proc/self/mountinfo")
NOSUID, NODEV, DETACH = 2, 4, 2
SOURCE: Final = re.compile(r"kraftproof:([^:]+):([0-9]{1,10}):([0-9]{1,20})")
"""Boot id, pid and start time of the harness."""
ESCAPED: Final = re.compile(r"\\([0-7]{3})")

_libc = ctypes.CDLL(None, use_errno=True)


def source_of(owner: Identity) -> str:
    """Return the source of a mount of a process."""
    return f"kraftproof:{owner.boot}:{owner.pid}:{owner.start_time}"


def attic_of(directory: Path) -> Path:
    """Return the directory for files without a name."""
    return directory.with_name(f".{directory.name}.attic")


def mount(target: str, source: str) -> int:
    """Mount a new file system; return the descriptor of the kernel's requests.

    Raises:
        OSError: /dev/fuse is missing, or this process may not mount.
    """
    descriptor = os.open(DEVICE, os.O_RDWR | os.O_CLOEXEC | os.O_NONBLOCK)
    options = (
        f"fd={descriptor},rootmode=40000,user_id={os.getuid()},group_id={os.getgid()},"
        "allow_other,default_permissions"
    )
    status = _libc.mount(
        source.encode(), os.fsencode(target), KIND.encode(), NOSUID | NODEV, options.encode()
    )
    if status:
        number = ctypes.get_errno()
        os.close(descriptor)
        raise OSError(number, os.strerror(number), target)
    return descriptor


def unmount(target: str) -> None:
    """Remove a mount, even with open files.

    Raises:
        OSError: the directory is no mount.
    """
    if _libc.umount2(os.fsencode(target), DETACH):
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number), target)


def mounted() -> list[tuple[str, str]]:
    """Return (directory, source) of each disk's mount, the latest first."""
    found = []
    for line in MOUNTS.read_text(encoding="utf-8").splitlines():
        before, _, after = line.partition(" - ")
        kind, source, *_ = after.split(" ")
        if kind == KIND:
            found.append((_unescaped(before.split(" ")[4]), source))
    return found[::-1]


def sweep() -> list[str]:
    """Remove the mounts of dead harnesses; return a line for each mount."""
    lines = []
    for directory, source in mounted():
        match = SOURCE.fullmatch(source)
        if match is None:
            continue
        boot, pid, start_time = match.groups()
        if is_alive(Identity(boot=boot, pid=int(pid), start_time=int(start_time))):
            continue
        lines.append(f"disk {directory}: its owner {pid} is gone, {_removed(directory)}")
    return lines


def _removed(directory: str) -> str:
    try:
        unmount(directory)
    except OSError as error:
        return f"not unmounted: {error.strerror}"
    shutil.rmtree(attic_of(Path(directory)), ignore_errors=True)
    return "unmounted"


def _unescaped(path: str) -> str:
    """Return a path of the kernel's list, where blanks are octal numbers."""
    return ESCAPED.sub(lambda match: chr(int(match[1], 8)), path)
