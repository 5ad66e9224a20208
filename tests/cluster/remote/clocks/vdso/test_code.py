"""The machine code is that of its source, and does to a clock what its comments say."""

import ctypes
import mmap
import platform
import shutil
import struct
import subprocess
import time

import pytest

from kraftproof.cluster.remote.clocks.vdso.code import CODE, ENTRIES, OFFSET_AT, SOURCE

SECOND_NS = 1_000_000_000
REALTIME, MONOTONIC, REALTIME_COARSE, NO_CLOCK = 0, 1, 5, 99
SHIFTS = [0, 1, -1, 999_999_999, -999_999_999, 60 * SECOND_NS, -86_400 * SECOND_NS + 7]
needs_x86_64 = pytest.mark.skipif(platform.machine() != "x86_64", reason="the code is of x86_64")


@pytest.mark.skipif(shutil.which("as") is None, reason="the other tests run the same code")
def test_the_bytes_are_those_of_the_source(tmp_path):
    (tmp_path / "code.s").write_text(SOURCE)
    for command in (
        ("as", "--64", "-o", "code.o", "code.s"),
        ("objcopy", "-O", "binary", "-j", ".text", "code.o", "code.bin"),
    ):
        subprocess.run(command, cwd=tmp_path, check=True, timeout=20)
    assert (tmp_path / "code.bin").read_bytes() == CODE
    named = subprocess.run(
        ("nm", "code.o"), cwd=tmp_path, check=True, timeout=20, capture_output=True, text=True
    )
    places = {name: int(at, 16) for at, _, name in map(str.split, named.stdout.splitlines())}
    offset = places.pop("skew")
    assert {f"__vdso_{name}": at for name, at in places.items()} == ENTRIES
    assert (offset, len(CODE), CODE[offset:]) == (OFFSET_AT, OFFSET_AT + 8, bytes(8))


class Timespec(ctypes.Structure):
    _fields_ = (("seconds", ctypes.c_int64), ("nanoseconds", ctypes.c_int64))


@pytest.fixture
def code():
    """The code in memory that may be run, with a function that sets the offset."""
    memory = mmap.mmap(-1, mmap.PAGESIZE, prot=mmap.PROT_READ | mmap.PROT_WRITE | mmap.PROT_EXEC)
    memory[: len(CODE)] = CODE
    place = ctypes.addressof(ctypes.c_char.from_buffer(memory))

    def function(name, *arguments):
        kind = ctypes.CFUNCTYPE(
            ctypes.c_int64 if name == "__vdso_time" else ctypes.c_int, *arguments
        )
        return kind(place + ENTRIES[name])

    def shift(offset_ns):
        memory[OFFSET_AT : OFFSET_AT + 8] = struct.pack("<q", offset_ns)

    return function, shift


def is_between(found_ns, before_ns, offset_ns, precision_ns):
    true_ns = found_ns - offset_ns
    return before_ns - precision_ns <= true_ns <= time.time_ns() + precision_ns


@needs_x86_64
@pytest.mark.parametrize("offset_ns", SHIFTS)
def test_the_wall_clock_has_the_offset_to_the_nanosecond(code, offset_ns):
    function, shift = code
    clock_gettime = function("__vdso_clock_gettime", ctypes.c_int, ctypes.POINTER(Timespec))
    shift(offset_ns)
    for clock, precision_ns in ((REALTIME, 0), (REALTIME_COARSE, 20_000_000)):
        before_ns, found = time.time_ns(), Timespec()
        assert clock_gettime(clock, found) == 0
        assert 0 <= found.nanoseconds < SECOND_NS
        found_ns = found.seconds * SECOND_NS + found.nanoseconds
        assert is_between(found_ns, before_ns, offset_ns, precision_ns)


@needs_x86_64
def test_other_clocks_are_true_and_an_error_stays_an_error(code):
    function, shift = code
    clock_gettime = function("__vdso_clock_gettime", ctypes.c_int, ctypes.POINTER(Timespec))
    shift(60 * SECOND_NS)
    before_ns, found = time.monotonic_ns(), Timespec()
    assert clock_gettime(MONOTONIC, found) == 0
    assert before_ns <= found.seconds * SECOND_NS + found.nanoseconds <= time.monotonic_ns()
    assert clock_gettime(NO_CLOCK, found) < 0


@needs_x86_64
@pytest.mark.parametrize("offset_ns", SHIFTS)
def test_the_older_calls_have_the_offset_in_their_own_units(code, offset_ns):
    function, shift = code
    gettimeofday = function("__vdso_gettimeofday", ctypes.POINTER(Timespec), ctypes.c_void_p)
    seconds = function("__vdso_time", ctypes.POINTER(ctypes.c_int64))
    shift(offset_ns)
    before_ns, found = time.time_ns(), Timespec()
    assert gettimeofday(found, None) == 0
    assert 0 <= found.nanoseconds < 1_000_000  # microseconds here
    found_ns = found.seconds * SECOND_NS + found.nanoseconds * 1000
    assert is_between(found_ns, before_ns, offset_ns, 1000)
    assert gettimeofday(None, None) == 0
    stored = ctypes.c_int64()
    told = seconds(stored)
    assert told == stored.value
    assert is_between(told * SECOND_NS, before_ns, offset_ns, SECOND_NS)
    assert 0 <= seconds(None) - told <= 1
