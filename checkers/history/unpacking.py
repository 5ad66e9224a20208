"""Opens a file as plain UTF-8 bytes, unpacked and decoded as its first bytes ask for.

The content decides, not the name: gzip, bzip2, xz, Zstandard and LZ4, one in another up to
MAX_LAYERS deep, then UTF-16 and UTF-32 that begin with a byte order mark or are plainly two or four
bytes a character. pyarrow, which is needed anyway, unpacks Zstandard and LZ4. Archives of several
files are refused by their names. See `checkers.history.read` for what the text means.
"""

import bz2
import codecs
import gzip
import io
import lzma
import zlib
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from functools import partial
from pathlib import Path
from typing import IO, Final, TypeVar, cast

import pyarrow as pa
from typing_extensions import Buffer, override

MAX_LAYERS: Final = 4
UNREADABLE: Final = (OSError, EOFError, zlib.error, lzma.LZMAError, UnicodeError, pa.ArrowException)
"""Raised by what `open_unpacked` returns: the file or an archive in it is damaged."""

PACKED_SUFFIXES: Final = frozenset({".gz", ".bz2", ".xz", ".zst", ".lz4"})

_Unpacker = Callable[[IO[bytes]], IO[bytes]]
Found = TypeVar("Found")


def _by_arrow(codec: str, file: IO[bytes]) -> IO[bytes]:
    return cast("IO[bytes]", pa.CompressedInputStream(pa.PythonFile(file, mode="r"), codec))


def _gunzip(file: IO[bytes]) -> IO[bytes]:
    return cast("IO[bytes]", gzip.GzipFile(fileobj=file))


def _unxz(file: IO[bytes]) -> IO[bytes]:
    return cast("IO[bytes]", lzma.LZMAFile(file))


_UNPACKERS: Final[dict[bytes, _Unpacker]] = {
    b"\x1f\x8b": _gunzip,
    b"BZh": lambda file: cast("IO[bytes]", bz2.BZ2File(file)),
    b"\xfd7zXZ\x00": _unxz,
    b"\x28\xb5\x2f\xfd": partial(_by_arrow, "zstd"),
    b"\x04\x22\x4d\x18": partial(_by_arrow, "lz4"),
}
_ARCHIVES: Final = {b"PK\x03\x04": "zip", b"7z\xbc\xaf\x27\x1c": "7z", b"\x1f\x9d": "compress (.Z)"}
_ENCODINGS: Final = {
    codecs.BOM_UTF32_LE: "utf-32",  # before UTF-16: its mark begins with that of UTF-16
    codecs.BOM_UTF32_BE: "utf-32",
    codecs.BOM_UTF16_LE: "utf-16",
    codecs.BOM_UTF16_BE: "utf-16",
    b"{\0\0\0": "utf-32-le",
    b"[\0\0\0": "utf-32-le",
    b"\0\0\0{": "utf-32-be",
    b"\0\0\0[": "utf-32-be",
    b"{\0": "utf-16-le",
    b"[\0": "utf-16-le",
    b"\0{": "utf-16-be",
    b"\0[": "utf-16-be",
}
_PIECE_BYTES: Final = 8 << 10
_BEGINS_TEXT: Final = b"{[(#;P\xef\xff\xfe\0 \t\r\n"
"""The first bytes of a history without packing, whatever its name."""


@contextmanager
def open_unpacked(path: Path) -> Iterator[IO[bytes]]:
    """Open a file, and gives its content as bytes of UTF-8, or of Parquet.

    Raises:
        OSError: the file can't be opened, or is an archive of a kind that is not read.
    """
    with ExitStack() as opened:
        file = cast("IO[bytes]", opened.enter_context(path.open("rb")))
        is_packed = False
        for _ in range(MAX_LAYERS):
            unpack = _by_first_bytes(file, _UNPACKERS)
            if unpack is None:
                break
            is_packed = True
            file = cast("IO[bytes]", io.BufferedReader(cast("io.RawIOBase", unpack(file))))
        _require_plain(path, file, is_packed=is_packed)
        encoding = _by_first_bytes(file, _ENCODINGS)
        if encoding is not None:
            file = cast("IO[bytes]", io.BufferedReader(_Recoded(file, encoding)))
        yield file


def without_packing(path: Path) -> Path:
    """Return a path without the endings for packing."""
    while path.suffix in PACKED_SUFFIXES:
        path = path.with_suffix("")
    return path


def _by_first_bytes(file: IO[bytes], known: dict[bytes, Found]) -> Found | None:
    begin = _peek(file)
    return next((found for magic, found in known.items() if begin.startswith(magic)), None)


def _peek(file: IO[bytes]) -> bytes:
    return cast("io.BufferedReader", file).peek(8)[:8]


def _require_plain(path: Path, file: IO[bytes], *, is_packed: bool) -> None:
    """Raise OSError for an archive that is left, and for no archive where the name says one."""
    begin = _peek(file)
    archive = _by_first_bytes(file, _ARCHIVES)
    if archive is not None:
        raise OSError(f"a {archive} archive, unpack it first")
    if _by_first_bytes(file, _UNPACKERS) is not None:
        raise OSError(f"packed more than {MAX_LAYERS} times")
    if is_packed or path.suffix not in PACKED_SUFFIXES:
        return
    if not begin:
        raise OSError("an archive without a byte")
    if begin[0] not in _BEGINS_TEXT:
        raise OSError(f"no archive, though its name ends in {path.suffix}")


class _Recoded(io.RawIOBase):
    """The text of a file as UTF-8, converted from its encoding."""

    def __init__(self, file: IO[bytes], encoding: str) -> None:
        self._file = file
        self._decoder = codecs.getincrementaldecoder(encoding)()
        self._left = b""

    @override
    def readable(self) -> bool:
        return True

    @override
    def readinto(self, buffer: Buffer) -> int:
        """Fill a buffer with what is decoded already, or with the next that is."""
        capacity = memoryview(buffer).cast("B")
        piece = b"first"
        while piece and not self._left:
            piece = self._file.read(_PIECE_BYTES)
            self._left = self._decoder.decode(piece, final=not piece).encode()
        taken = self._left[: len(capacity)]
        self._left = self._left[len(capacity) :]
        capacity[: len(taken)] = taken
        return len(taken)
