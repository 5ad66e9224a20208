"""S7: a snapshot does not wait for the one before.

The core asks for one snapshot of its own at a time, so two meet only if the shell begins one again,
or checks a copy meanwhile, which is rare.
"""

from kraftproof.mutants.mutant import Edit, Mutant

MUTANT = Mutant(
    mutant_id="S7",
    title="Two snapshots are written at once: a retry does not wait for the first attempt",
    source="ours; contract 7 of node/core/effects.py",
    expected="OneSnapshotAtATime",
    edits=(
        Edit(
            module="kraftproof.node.shell.snapshot_executor",
            old="""        self._waiting.append(effect)
        if not self._is_busy:
            self._start()
""",
            new="""        self._waiting.extend((effect, effect))
        while self._waiting:
            self._start()
""",
        ),
    ),
)
