"""Read the file of --command-config: the properties of a tool's client."""

from typing import Final

from kraftproof.node.storage.disk import Disk
from kraftproof.node.storage.meta_properties import parse_properties
from kraftproof.node.tools.client import ClientError

DEFAULT_TIMEOUT_MS: Final = 60_000
MS_PER_S: Final = 1000


def read_timeout_s(path: str | None) -> float:
    """Return the time-out of a tool in seconds.

    Raises:
        ClientError: the file is unreadable, or asks for a protocol other than PLAINTEXT.
    """
    if path is None:
        return DEFAULT_TIMEOUT_MS / MS_PER_S
    try:
        properties = parse_properties(Disk().read(path).decode())
    except OSError as error:
        raise ClientError(f"{path}: {error.strerror}") from error
    except UnicodeDecodeError as error:
        raise ClientError(f"{path}: is not UTF-8 text") from error
    protocol = properties.get("security.protocol", "PLAINTEXT")
    if protocol != "PLAINTEXT":
        raise ClientError(f"{path}: security.protocol={protocol}: only PLAINTEXT is supported")
    timeout = properties.get("default.api.timeout.ms", str(DEFAULT_TIMEOUT_MS))
    if not timeout.isdecimal() or int(timeout) == 0:
        raise ClientError(f"{path}: default.api.timeout.ms={timeout}: milliseconds are expected")
    return int(timeout) / MS_PER_S
