"""A18: the election restriction is dropped."""

from kraftproof.mutants.mutant import Edit, Mutant

MUTANT = Mutant(
    mutant_id="A18",
    title="A voter grants its vote to a candidate whose log is behind its own",
    source="liferaft#8 (term AND index compare)",
    expected="LeaderCompleteness",
    kafka="killed",
    edits=(
        Edit(
            module="kraftproof.node.core.raft.elections",
            old="return (last_epoch, end_offset) >= (log.last_epoch, log.end_offset)",
            new="return (last_epoch, end_offset) >= (0, log.start_offset)",
        ),
    ),
)
