"""Images of a vDSO for tests: an ELF file with one segment and a table of dynamic symbols."""

import struct

X86_64 = 62
ARM_64 = 183
SIZE = 0x1000
TEXT = 0x400
NAMES = ("__vdso_clock_gettime", "__vdso_gettimeofday", "__vdso_time")


def image(machine=X86_64, *, bits=2, names=NAMES, address=TEXT, size=64, end=0x700, kind=11):
    """Return an image whose sections end at `end`; `kind` is that of its table of symbols."""
    strings = b"\0" + b"\0".join(name.encode() for name in names) + b"\0"
    symbols = bytes(24)
    for number, name in enumerate(names):
        name_at = strings.index(name.encode() + b"\0")
        symbols += struct.pack("<IBBHQQ", name_at, 0x12, 0, 1, address + 64 * number, size)
    sections = [
        (0, 0, 0, 0),
        (kind, 0x100, len(symbols), 2),
        (3, 0x200, len(strings), 0),
        (1, TEXT, end - TEXT, 0),
    ]
    header = struct.pack(
        *("<4sBBB9xHHIQQQIHHHHHH", b"\x7fELF", bits, 1, 1, 3, machine, 1, 0, 0x40, 0x300, 0),
        *(64, 56, 1, 64, len(sections), 0),
    )
    data = bytearray(SIZE)
    data[: len(header)] = header
    data[0x40:0x78] = struct.pack("<IIQQQQQQ", 1, 5, 0, 0, 0, end, end, 0x1000)
    data[0x100 : 0x100 + len(symbols)] = symbols
    data[0x200 : 0x200 + len(strings)] = strings
    for number, (of, offset, length, link) in enumerate(sections):
        section = struct.pack("<IIQQQQIIQQ", 0, of, 0, 0, offset, length, link, 0, 1, 24)
        data[0x300 + 64 * number : 0x340 + 64 * number] = section
    return bytes(data)
