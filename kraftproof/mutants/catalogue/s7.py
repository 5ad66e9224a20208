"""S7: no snapshot waits for another.

The core asks for one of its own at a time, so the shell's queue by itself is seldom needed: for a
copy that is checked while a snapshot is written. Here the core asks for the next one at once.
"""

from kraftproof.mutants.mutant import Edit, Mutant

MUTANT = Mutant(
    mutant_id="S7",
    title="Two snapshots are written at once: neither the shell nor the core waits",
    source="ours; contract 7 of node/core/effects.py",
    expected="OneSnapshotAtATime",
    edits=(
        Edit(
            module="kraftproof.node.shell.snapshot_executor",
            old="""        if not self._is_busy:
            self._start()

    def close""",
            new="""        self._start()

    def close""",
        ),
        Edit(
            module="kraftproof.node.core.snapshots",
            old="if self._is_writing or self._chosen is not None",
            new="if self._chosen is not None",
        ),
    ),
)
