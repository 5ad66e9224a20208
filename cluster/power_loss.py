"""The draws of a power loss, the same for simulated and for live disks.

A power loss takes the writes since the last fsync, in whole or from a drawn write on; the disk may
have written a part of the first lost write, or the new size of a file before its blocks.
"""

from typing import Final

LOSE_ALL: Final = 0.6
"""Share of files, and of lists of changed names, that lose every unsynced change."""
TEAR: Final = 0.3
"""Share of the other files that keep a part of the first lost write."""
ZEROS: Final = 0.2
"""Share of the files with lost writes at the end that keep zeros in place of the lost bytes."""
