"""The figures of a run, as the report and the last line of a run show them.

See `doubts` for the counts.
"""

import msgspec

Window = tuple[int, int]
"""Start and end, ns."""


class Figures(msgspec.Struct, frozen=True, kw_only=True):
    """A run in numbers.

    Attributes:
        ok, fail, info: how many operations ended so, the final reads left out.
        ok_in_faults: how many operations succeeded while faults were in force.
        quiet_share: the part of the run's time that was quiet.
        quiet_ok_rate: ok operations a second over the quiet windows.
        quiet: the quiet windows.
        busy: the windows in which faults were in force.
        bitten: how many faults of each kind had an effect.
        moot: how many faults found nothing to act on.
        failed: how many faults could not be applied or healed.
        unread_keys: how many keys could not be read after everything was healed.
    """

    ok: int
    fail: int
    info: int
    ok_in_faults: int
    quiet_share: float
    quiet_ok_rate: float
    quiet: tuple[Window, ...]
    busy: tuple[Window, ...]
    bitten: tuple[tuple[str, int], ...]
    moot: int
    failed: int
    unread_keys: int
