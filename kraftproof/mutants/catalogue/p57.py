"""P57: a leader without records of its own knows no latest offset."""

from kraftproof.mutants.mutant import Edit, Mutant

MUTANT = Mutant(
    mutant_id="P57",
    title="A leader without records of its own knows no latest offset",
    source="ours",
    workload="log",
    expected="LeadersMatchReference",
    edits=(
        Edit(
            module="kraftproof.node.core.broker.data.list_offsets",
            old="        is_early = end < found.leader.epoch_start",
            new="        is_early = end <= found.leader.epoch_start",
        ),
    ),
)
