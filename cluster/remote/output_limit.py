"""Limit of a node's output: the file keeps its first and its last part, around a line.

A node that meets a failed disk may log in a loop. The harness cuts the file while the node appends
to it, so a few bytes may be lost that the node writes at the moment of the cut. This module runs on
a host behind ssh as well (see machine.py there): it needs the standard library only.
"""

from __future__ import annotations

import fcntl
import os
import re
import subprocess
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path
from typing import BinaryIO

KEPT_BYTES = 16 << 20
"""Bytes that stay at the beginning of the output, and at its end."""
PARTS = 4
"""Size at which an output is cut, as a multiple of KEPT_BYTES."""
LOOK_S = 1.0
"""Time between two looks at the size of an output."""
MARK = "\n[kraftproof: {:>20} bytes of the output were left out here]\n"
MARK_BYTES = len(MARK.format(0))
_MARK = re.compile(re.escape(MARK.encode()).replace(re.escape(b"{:>20}"), rb" *([0-9]{1,20})"))
_BLOCK = 1 << 20
_LONGEST_LINE = 1 << 16
"""Largest part of a line that is left out, so that the last part begins with a whole line."""


def limit_output(path: Path, kept: int = KEPT_BYTES) -> None:
    """Leave out the middle of an output that has become too long; no file is left alone.

    Raises:
        OSError: the file can't be read or written.
    """
    try:
        if path.stat().st_size > PARTS * kept:
            with path.open("r+b", buffering=0) as output:
                fcntl.flock(output, fcntl.LOCK_EX)
                _cut(output, kept)
    except FileNotFoundError:
        return


def wait_with_limit(process: subprocess.Popen[bytes], output: Path) -> int:
    """Wait for the end of a node, whose output is limited meanwhile; return the exit status."""
    status: int | None = None
    while status is None:
        with suppress(subprocess.TimeoutExpired):
            status = process.wait(LOOK_S)
        with suppress(OSError):  # the exit status is wanted also on a host with a broken disk
            limit_output(output)
    return status


def write_output(path: Path, blocks: Iterable[bytes], kept: int = KEPT_BYTES) -> None:
    """Write an output anew that comes in blocks, and leave out its middle if it is too long."""
    path.write_bytes(b"")
    with path.open("ab", buffering=0) as output:
        for block in blocks:
            output.write(block)
            limit_output(path, kept)


def left_out_bytes(path: Path, kept: int = KEPT_BYTES) -> int:
    """Return how many bytes of an output were left out.

    Raises:
        OSError: the file can't be read.
    """
    with path.open("rb") as output:
        return _left_out(output, kept)


def output_size(path: Path, kept: int = KEPT_BYTES) -> int:
    """Return how many bytes were printed, with those that were left out; 0 without a file."""
    try:
        with path.open("rb", buffering=0) as output:
            fcntl.flock(output, fcntl.LOCK_SH)
            left_out, size = _left_out(output, kept), output.seek(0, os.SEEK_END)
    except FileNotFoundError:
        return 0
    return size + left_out - MARK_BYTES if left_out else size


def read_output(path: Path, place: int, most: int, kept: int = KEPT_BYTES) -> tuple[int, bytes]:
    """Return bytes of an output from a place on, in all that the node printed, and their place.

    The returned place is a later one where the bytes at the wanted place were left out.

    Raises:
        OSError: the file can't be read.
    """
    with path.open("rb", buffering=0) as output:
        fcntl.flock(output, fcntl.LOCK_SH)  # no cut meanwhile
        left_out = _left_out(output, kept)
        if left_out and place < kept:
            most = min(most, kept - place)
        elif left_out:
            place = max(place, kept + left_out)
        output.seek(place + MARK_BYTES - left_out if left_out and place >= kept else place)
        return place, output.read(most)


def _left_out(output: BinaryIO, kept: int) -> int:
    output.seek(kept)
    found = _MARK.fullmatch(output.read(MARK_BYTES))
    return 0 if found is None else int(found[1])


def _cut(output: BinaryIO, kept: int) -> None:
    """Move the last part of the output to the end of the first part, and end the file there."""
    before = _left_out(output, kept)
    size = output.seek(0, os.SEEK_END)
    begin = size - kept
    output.seek(begin - 1)
    begin += output.read(_LONGEST_LINE).find(b"\n")  # -1 without one, after the byte at begin - 1
    begin = max(begin, size - kept)
    was_in_file = kept + (MARK_BYTES if before else 0)
    output.seek(kept)
    output.write(MARK.format(before + begin - was_in_file).encode())
    end = kept + MARK_BYTES
    while True:
        output.seek(begin)
        block = output.read(_BLOCK)
        if not block:
            break
        output.seek(end)
        output.write(block)
        begin, end = begin + len(block), end + len(block)
    output.truncate(end)
