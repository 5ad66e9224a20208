"""The wall clock of one process of this machine, moved by machine code in its vDSO.

Programs read the clock through the vDSO, with or without the C library: Go does, too. The entry of
each clock function becomes a jump to code.py, whose offset is then a word of memory. The kernel
gives the process a copy of the page, so no other process is affected; a fork inherits the copy, and
another program (exec) begins without. The jumps stay until the process ends: without offset they
answer true time, and to remove them would mean to stop the process once more.

A program that makes the system call itself reads true time, and timers of the kernel keep it.
"""

import os
import struct
from typing import Final

from kraftproof.cluster.protocol import ClusterError
from kraftproof.cluster.remote.clocks.vdso.code import CODE, ENTRIES, OFFSET_AT, OFFSET_SIZE
from kraftproof.cluster.remote.clocks.vdso.image import JUMP_SIZE, Image, ImageError, read_image
from kraftproof.cluster.remote.clocks.vdso.proc_folder import ProcFolder
from kraftproof.cluster.remote.clocks.vdso.stopped import held_outside

MOST_BYTES: Final = 1 << 16
"""Largest mapping of a vDSO that is read."""
LARGEST_OFFSET_NS: Final = 1 << 61
"""Largest offset, 73 years: the sum of an offset and the nanoseconds of a second is a word."""
PROTECTED: Final = "its memory can't be written: {}"


class ProcessClock:
    """The clock of a process that has the machine code.

    Attributes:
        pid: The process.
    """

    __slots__ = ("_memory", "_offset_at", "pid")

    def __init__(self, pid: int, memory: int, offset_at: int) -> None:
        self.pid = pid
        self._memory = memory
        self._offset_at = offset_at

    def move(self, offset_ns: int) -> bool:
        """Set the offset of the wall clock; return whether the process still runs its program."""
        word = struct.pack("<q", offset_ns)
        # The descriptor belongs to the memory, so a later process with the same id is safe.
        try:
            return _write(self._memory, self._offset_at, word)
        except OSError as error:
            raise _unable(self.pid, PROTECTED.format(error.strerror)) from error

    def close(self) -> None:
        """Let go of the memory of the process."""
        os.close(self._memory)


def attach(
    pid: int, offset_ns: int, *, is_held: bool = False, is_new: bool = True
) -> ProcessClock | None:
    """Return the clock of a process at an offset; write the machine code if the process lacks it.

    Args:
        pid: The process.
        offset_ns: The offset of its wall clock.
        is_held: Whether a fault holds all threads of the process until the return.
        is_new: Whether to write the code; otherwise a process without the code has no clock.

    Returns:
        None if the process has ended meanwhile, or has no code and `is_new` is False.

    Raises:
        ClusterError: the clock can't be moved; one line says why.
    """
    try:
        vdso = _Vdso(pid)
    except ProcessLookupError:
        return None
    try:
        if not vdso.has_code and not is_new:
            return None
        if not vdso.has_code:
            vdso.write_code(is_held=is_held)
        return vdso.clock(offset_ns)
    except ProcessLookupError:
        return None
    except PermissionError as error:
        raise _unable(pid, f"it can't be stopped: {error.strerror}") from error
    finally:
        vdso.close()


def lack_of(pid: int) -> str | None:
    """Return why the wall clock of a process can't be moved; None if it can, or has ended."""
    try:
        vdso = _Vdso(pid)
    except ProcessLookupError:
        return None
    except ClusterError as error:
        return str(error)
    try:
        vdso.write_nothing()
    except ProcessLookupError:
        return None
    except ClusterError as error:
        return str(error)
    finally:
        vdso.close()
    return None


class _Vdso:
    """The vDSO of a process, open for writing."""

    def __init__(self, pid: int) -> None:
        self._pid = pid
        self._folder = ProcFolder(pid)
        self._memory: int | None = None
        try:
            # First the memory, then its map: after an exec in between, the memory is gone.
            self._memory = self._folder.open("mem", os.O_RDWR)
            self._start, size = self._mapping()
            self._data = _read(self._memory, self._start, size)
            self._image = read_image(self._data)
            self._refuse_other_bytes()
        except PermissionError as error:
            self.close()
            raise _unable(self._pid, PROTECTED.format(error.strerror)) from error
        except ImageError as error:
            self.close()
            raise _unable(self._pid, str(error)) from error
        except BaseException:
            self.close()
            raise

    @property
    def has_code(self) -> bool:
        """Whether the process has the machine code already, such as from before a fork."""
        end = self._image.end
        return self._data[end : end + OFFSET_AT] == CODE[:OFFSET_AT] and all(
            self._data[place : place + JUMP_SIZE] == jump for place, jump in self._jumps()
        )

    def write_code(self, *, is_held: bool) -> None:
        """Write the machine code, then the jumps, while no thread is within their bytes."""
        places = [self._start + place for place in self._image.functions.values()]

        def within(address: int) -> bool:
            return any(place < address < place + JUMP_SIZE for place in places)

        with held_outside(self._folder, within, is_held=is_held):
            self._write(self._image.end, CODE)
            for place, jump in self._jumps():
                self._write(place, jump)

    def write_nothing(self) -> None:
        """Write the offset as it is, to see whether the kernel allows to write."""
        place = self._image.end + OFFSET_AT
        self._write(place, self._data[place : place + OFFSET_SIZE])

    def clock(self, offset_ns: int) -> ProcessClock:
        """Return the clock, which owns a descriptor of the memory."""
        assert self._memory is not None, "open until close"
        place = self._start + self._image.end + OFFSET_AT
        clock = ProcessClock(self._pid, os.dup(self._memory), place)
        if not clock.move(offset_ns):
            clock.close()
            raise ProcessLookupError
        return clock

    def close(self) -> None:
        """Close all descriptors."""
        self._folder.close()
        if self._memory is not None:
            os.close(self._memory)

    def _mapping(self) -> tuple[int, int]:
        """Return the address and the size of the mapping."""
        maps = self._folder.read("maps").splitlines()
        line = next((one for one in maps if one.endswith("[vdso]")), None)
        if line is None:
            if not maps:
                raise ProcessLookupError
            raise ImageError("it has no vDSO")
        start, end = (int(word, 16) for word in line.split()[0].split("-"))
        if end - start > MOST_BYTES:
            raise ImageError(f"its vDSO has more than {MOST_BYTES} bytes")
        return start, end - start

    def _refuse_other_bytes(self) -> None:
        """Refuse a vDSO without room behind its end."""
        image: Image = self._image
        rest = self._data[image.end :]
        if len(rest) < len(CODE):
            raise ImageError(f"its vDSO has {len(rest)} unused bytes, and {len(CODE)} are needed")
        if any(rest) and not self.has_code:
            raise ImageError("the bytes behind its vDSO are used")

    def _jumps(self) -> list[tuple[int, bytes]]:
        """Return the jump at the beginning of each function, by its offset."""
        return [
            (
                place,
                b"\xe9" + struct.pack("<i", self._image.end + ENTRIES[name] - place - JUMP_SIZE),
            )
            for name, place in self._image.functions.items()
        ]

    def _write(self, place: int, data: bytes) -> None:
        assert self._memory is not None, "open until close"
        assert 0 <= place <= len(self._data) - len(data), "never outside of the mapping"
        try:
            is_written = _write(self._memory, self._start + place, data)
        except OSError as error:
            raise _unable(self._pid, PROTECTED.format(error.strerror)) from error
        if not is_written:
            raise ProcessLookupError


def _unable(pid: int, reason: str) -> ClusterError:
    return ClusterError(f"the clock of process {pid} can't be moved: {reason}")


def _read(memory: int, address: int, size: int) -> bytes:
    data = os.pread(memory, size, address)
    if len(data) != size:
        raise ProcessLookupError
    return data


def _write(memory: int, address: int, data: bytes) -> bool:
    """Write all bytes; return False if the process has ended or runs another program."""
    return os.pwrite(memory, data, address) == len(data)
