"""Sizes, processors, signals and privileges of a service, checked as Docker checks them."""

import math
import re
import signal
from typing import Final

from kraftproof.cluster.systems.compose.errors import Place
from kraftproof.cluster.systems.compose.values import text, texts

LEAST_MEMORY: Final = 6 << 20
"""Docker refuses a smaller limit of memory, in bytes."""
_SIZE: Final = re.compile(r"(\d+(?:\.\d+)?) *([bkmg]?)b?", re.IGNORECASE)
_UNITS: Final = {"": 1, "b": 1, "k": 1 << 10, "m": 1 << 20, "g": 1 << 30}
_REAL_TIME: Final = re.compile(r"RTM(?:IN|AX)[+-]\d+")
_PRIVILEGES: Final = (
    "ALL AUDIT_CONTROL AUDIT_READ AUDIT_WRITE BLOCK_SUSPEND BPF CHECKPOINT_RESTORE CHOWN "
    "DAC_OVERRIDE DAC_READ_SEARCH FOWNER FSETID IPC_LOCK IPC_OWNER KILL LEASE LINUX_IMMUTABLE "
    "MAC_ADMIN MAC_OVERRIDE MKNOD NET_ADMIN NET_BIND_SERVICE NET_BROADCAST NET_RAW PERFMON SETFCAP "
    "SETGID SETPCAP SETUID SYSLOG SYS_ADMIN SYS_BOOT SYS_CHROOT SYS_MODULE SYS_NICE SYS_PACCT "
    "SYS_PTRACE SYS_RAWIO SYS_RESOURCE SYS_TIME SYS_TTY_CONFIG WAKE_ALARM"
)
_NOT_ABSOLUTE: Final = "an absolute path in the container is expected"


def size(value: object, place: Place) -> str:
    """Return a size such as 64m.

    Raises:
        ComposeFileError: the value is no size.
    """
    given = text(value, place)
    _bytes(given, place)
    return given


def memory(value: object, place: Place) -> str:
    """Return a limit of memory such as 300m.

    Raises:
        ComposeFileError: the value is no size, or less than Docker takes.
    """
    given = text(value, place)
    found = _bytes(given, place)
    if 0 < found < LEAST_MEMORY:
        raise place.error(f"{given!r}: at least 6m is expected")
    return given


def _bytes(given: str, place: Place) -> int:
    match = _SIZE.fullmatch(given)
    if match is None:
        raise place.error(f"{given!r}: a size such as 300m or 2g is expected")
    return int(float(match[1]) * _UNITS[match[2].lower()])


def nano_cpus(value: object, place: Place) -> int:
    """Return a number of processors such as 0.5 in billionths.

    Raises:
        ComposeFileError: the value is no such number.
    """
    try:
        found = float(text(value, place))
    except ValueError:
        found = math.nan
    if not 0 <= found < math.inf:
        raise place.error(f"{value!r}: a number of processors such as 0.5 is expected")
    return int(found * 1e9)


def stop_signal(value: object, place: Place) -> str:
    """Return the name or the number of a signal.

    Raises:
        ComposeFileError: there is no such signal.
    """
    given = text(value, place)
    name = given.upper().removeprefix("SIG")
    numbers = {str(int(one)) for one in signal.Signals}
    is_known = f"SIG{name}" in signal.Signals.__members__ or given in numbers
    if not is_known and _REAL_TIME.fullmatch(name) is None:
        raise place.error(f"{given!r}: a signal such as SIGTERM is expected")
    return given


def privileges(value: object, place: Place) -> list[str]:
    """Return a list of capabilities of Linux such as NET_ADMIN.

    Raises:
        ComposeFileError: there is no such capability.
    """
    found = list(texts(value, place))
    for name in found:
        if name.upper().removeprefix("CAP_") not in _PRIVILEGES.split():
            raise place.error(f"{name!r}: a capability of Linux such as NET_ADMIN is expected")
    return found


def absolute_path(value: object, place: Place) -> str:
    """Return an absolute path in the container.

    Raises:
        ComposeFileError: the value is no such path.
    """
    given = text(value, place)
    if not given.startswith("/"):
        raise place.error(f"{given!r}: {_NOT_ABSOLUTE}")
    return given
