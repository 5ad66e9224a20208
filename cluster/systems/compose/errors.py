"""Errors of a Compose file, each one line with the file and the place in it."""

from pathlib import Path

from kraftproof.cluster.systems.system import SystemUnavailableError


class ComposeFileError(SystemUnavailableError):
    """A Compose file has a mistake, or a setting that Kraftproof can't give to nodes."""


class Place:
    """A place in a Compose file, for errors."""

    __slots__ = ("_file", "_line", "_path")

    def __init__(self, file: Path, path: str = "", line: int | None = None) -> None:
        self._file = file
        self._path = path
        self._line = line

    def at(self, key: str, line: int | None = None) -> "Place":
        """Return the place of a key below this place."""
        path = f"{self._path}.{key}" if self._path else key
        return Place(self._file, path, self._line if line is None else line)

    def error(self, reason: str) -> ComposeFileError:
        """Return the error for a reason at this place."""
        line = "" if self._line is None else f"line {self._line}: "
        path = f"{self._path}: " if self._path else ""
        return ComposeFileError(f"{self._file}: {line}{path}{reason}")
