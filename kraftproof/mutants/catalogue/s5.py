"""S5: files of the log are changed while an fsync is under way.

The core cuts its log only when all is flushed (see A31), so it is CleanLog that shows the bug.
"""

from kraftproof.mutants.mutant import Edit, Mutant

MUTANT = Mutant(
    mutant_id="S5",
    title="A Truncate, an InstallSnapshot or a CleanLog overtakes a running flush",
    source="ours; contract 8 of node/core/effects.py",
    expected="FlushesAreWaitedFor",
    edits=(
        Edit(
            module="kraftproof.node.shell.effect_executor",
            old="AWAITS_FLUSH: Final = frozenset((Truncate, InstallSnapshot, CleanLog))",
            new="AWAITS_FLUSH: Final[frozenset[type]] = frozenset()",
        ),
    ),
)
