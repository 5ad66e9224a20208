"""Read the vDSO of a process: the functions that read the wall clock, and the unused bytes.

The bytes come from another process, so each offset is checked against the length of the image.
Source: System V ABI, "Object Files"; vdso(7).
"""

import struct
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Final

FUNCTIONS: Final = ("__vdso_clock_gettime", "__vdso_gettimeofday", "__vdso_time")
"""The functions of the vDSO that read the wall clock, on x86_64."""
JUMP_SIZE: Final = 5
"""Bytes of `jmp rel32`, which replaces the beginning of a function."""
ALIGNMENT: Final = 16
MOST: Final = 256
"""Most headers and symbols that are read; the vDSO has about twenty of each."""

_HEADER: Final = struct.Struct("<16xHHIQQQIHHHHHH")
_PROGRAM: Final = struct.Struct("<IIQQQQQQ")
_SECTION: Final = struct.Struct("<IIQQQQIIQQ")
_SYMBOL: Final = struct.Struct("<IBBHQQ")
_ELF64_LITTLE: Final = b"\x7fELF\x02\x01"
_X86_64: Final = 62
_LOAD: Final = 1
_NO_BITS: Final = 8
_DYNAMIC_SYMBOLS: Final = 11


class ImageError(ValueError):
    """The vDSO can't be used; the text is a reason in a few words."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Image:
    """What the vDSO of a process has.

    Attributes:
        functions: The offset of each of FUNCTIONS in the image.
        end: The offset behind the last byte that the ELF file uses, rounded up to 16.
    """

    functions: Mapping[str, int]
    end: int


@dataclass(frozen=True, slots=True)
class _Section:
    kind: int
    offset: int
    size: int
    link: int


def read_image(data: bytes) -> Image:
    """Find the functions and the end of the used bytes in the image of a vDSO.

    Args:
        data: The whole mapping.

    Raises:
        ImageError: the image is no vDSO of x86_64, or lacks a function.
    """
    header = _one(_HEADER, data, 0)
    if not data.startswith(_ELF64_LITTLE) or header[1] != _X86_64:
        raise ImageError("its vDSO is not that of a process of x86_64")
    programs_at, sections_at, programs, sections = header[4], header[5], header[9], header[11]
    segments = list(_all(_PROGRAM, data, programs_at, programs))
    found = [
        _Section(one[1], one[4], one[5], one[6])
        for one in _all(_SECTION, data, sections_at, sections)
    ]
    base = next((one[3] for one in segments if one[0] == _LOAD), 0)
    ends = [
        _HEADER.size,
        programs_at + programs * _PROGRAM.size,
        sections_at + sections * _SECTION.size,
        *(one[2] + one[5] for one in segments),
        *(one.offset + one.size for one in found if one.kind != _NO_BITS),
    ]
    if max(ends) > len(data):
        raise ImageError("its vDSO names bytes behind its end")
    functions = _functions(data, found, base)
    return Image(functions=functions, end=-(-max(ends) // ALIGNMENT) * ALIGNMENT)


def _functions(data: bytes, sections: list[_Section], base: int) -> dict[str, int]:
    symbols = next((one for one in sections if one.kind == _DYNAMIC_SYMBOLS), None)
    if symbols is None or symbols.link >= len(sections):
        raise ImageError("its vDSO has no symbols")
    strings = sections[symbols.link]
    names = data[strings.offset : strings.offset + strings.size]
    found: dict[str, int] = {}
    count = symbols.size // _SYMBOL.size
    for name_at, _, _, _, address, size in _all(_SYMBOL, data, symbols.offset, count):
        name = names[name_at : names.find(b"\0", name_at)].decode("ascii", errors="replace")
        if name in FUNCTIONS:
            offset = address - base
            if size < JUMP_SIZE or not 0 <= offset <= len(data) - JUMP_SIZE:
                raise ImageError(f"its vDSO has no room at {name}")
            found[name] = offset
    for name in FUNCTIONS:
        if name not in found:
            raise ImageError(f"its vDSO has no {name}")
    return found


def _one(kind: struct.Struct, data: bytes, offset: int) -> tuple[int, ...]:
    if offset + kind.size > len(data):
        raise ImageError("its vDSO names bytes behind its end")
    return kind.unpack_from(data, offset)


def _all(kind: struct.Struct, data: bytes, offset: int, count: int) -> Iterator[tuple[int, ...]]:
    if count > MOST:
        raise ImageError(f"its vDSO has more than {MOST} headers or symbols")
    for number in range(count):
        yield _one(kind, data, offset + number * kind.size)
