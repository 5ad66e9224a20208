"""Write a case to a file, and read the file again: JSON, frames in base64."""

from pathlib import Path

import msgspec

from kraftproof.cluster.systems.reference.requests.case import Case

FORMAT = 1


class CaseFile(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A case with the problem that it caused."""

    case: Case
    finding: str = ""
    """The finding in one line; empty if the case has caused none."""
    mutant: str | None = None
    """The bug that was planted in the nodes."""
    format: int = FORMAT


class CaseFileError(ValueError):
    """A file is no case; the message is one line with the file's name."""


def write_case(path: Path, content: CaseFile) -> None:
    """Write a case, replacing the file."""
    path.write_bytes(msgspec.json.format(msgspec.json.encode(content), indent=1) + b"\n")


def read_case(path: Path) -> CaseFile:
    """Return the case of a file.

    Raises:
        CaseFileError: there is no such file, or the file is no case.
    """
    try:
        content = msgspec.json.decode(path.read_bytes(), type=CaseFile)
    except OSError as error:
        raise CaseFileError(f"{path}: {error.strerror}") from error
    except msgspec.MsgspecError as error:
        raise CaseFileError(f"{path}: no case of kraftproof fuzz: {error}") from error
    if content.format != FORMAT:
        raise CaseFileError(f"{path}: format {content.format}, this Kraftproof reads {FORMAT}")
    count = len(content.case.nodes)
    if any(not 0 <= send.connection < count for send in content.case.sends):
        raise CaseFileError(f"{path}: a send names a connection that the case does not have")
    return content
