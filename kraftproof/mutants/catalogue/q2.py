"""Q2: the leader describes each replica by its own high watermark."""

from kraftproof.mutants.mutant import Edit, Mutant

MUTANT = Mutant(
    mutant_id="Q2",
    title="DescribeQuorum answers the high watermark as the log end of every replica",
    source="ours; KIP-595 (DescribeQuorum)",
    expected="DescribeQuorumIsAccurate",
    edits=(
        Edit(
            module="kraftproof.node.core.raft.describe",
            old="    voters = [*_states(role.replicas.voters, has_times=has_times)]\n",
            new="""    for replica in role.replicas.voters.values():
        replica.acknowledged = min(replica.acknowledged, state.high_watermark)
    voters = [*_states(role.replicas.voters, has_times=has_times)]
""",
        ),
    ),
)
