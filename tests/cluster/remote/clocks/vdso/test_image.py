"""What another process has for a vDSO is read within its bounds, or refused with the reason."""

import struct

import pytest

from kraftproof.cluster.remote.clocks.vdso.image import FUNCTIONS, ImageError, read_image
from tests.cluster.remote.clocks.vdso import elf


def test_functions_and_the_end_of_the_used_bytes_are_found():
    found = read_image(elf.image(end=0x6F1))
    assert dict(found.functions) == {
        name: elf.TEXT + 64 * number for number, name in enumerate(FUNCTIONS)
    }
    assert found.end == 0x700


def patched(offset, kind, value):
    data = bytearray(elf.image())
    struct.pack_into(kind, data, offset, value)
    return bytes(data)


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (elf.image(elf.ARM_64), "its vDSO is not that of a process of x86_64"),
        (elf.image(bits=1), "its vDSO is not that of a process of x86_64"),
        (bytes(4096), "its vDSO is not that of a process of x86_64"),
        (elf.image(kind=2), "its vDSO has no symbols"),
        (patched(0x340 + 40, "<I", 99), "its vDSO has no symbols"),
        (elf.image(names=elf.NAMES[:2]), "its vDSO has no __vdso_time"),
        (elf.image(size=4), "its vDSO has no room at __vdso_clock_gettime"),
        (elf.image(address=elf.SIZE), "its vDSO has no room at __vdso_clock_gettime"),
        (elf.image(address=1 << 60), "its vDSO has no room at __vdso_clock_gettime"),
        (elf.image(end=elf.SIZE + 1), "its vDSO names bytes behind its end"),
        (elf.image()[:50], "its vDSO names bytes behind its end"),
        (patched(40, "<Q", 1 << 63), "its vDSO names bytes behind its end"),
        (patched(0x340 + 24, "<Q", elf.SIZE - 1), "its vDSO names bytes behind its end"),
        (patched(60, "<H", 65535), "its vDSO has more than 256 headers or symbols"),
        (patched(0x340 + 32, "<Q", 1 << 40), "its vDSO names bytes behind its end"),
    ],
)
def test_an_image_that_can_not_be_used_is_refused(data, reason):
    with pytest.raises(ImageError) as refusal:
        read_image(data)
    assert str(refusal.value) == reason
