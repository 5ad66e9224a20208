"""K7: describeQuorum names no listener of the configuration."""

from kraftproof.mutants.mutant import Edit, Mutant

MUTANT = Mutant(
    mutant_id="K7",
    title="DescribeQuorum names no listener of the configuration",
    source="ours; a survivor of the generated mutants",
    expected="DescribeQuorumIsAccurate",
    edits=(
        Edit(
            module="kraftproof.node.core.raft.describe",
            old=("    name = names[0] if names else CONTROLLER_LISTENER\n"),
            new=("    name = CONTROLLER_LISTENER if names else names[0]\n"),
        ),
    ),
)
