"""Q7: the first record of a leader names every voter as a voter for the leader."""

from kraftproof.mutants.mutant import Edit, Mutant

MUTANT = Mutant(
    mutant_id="Q7",
    title="The first record of a leader says that each voter has voted for the leader",
    source="ours; KIP-595 (LeaderChangeMessage), a survivor of the generated mutants",
    expected="ElectionsMatchReference",
    edits=(
        Edit(
            module="kraftproof.node.core.raft.elections",
            old="LeaderChangeVoter(voter_id=v) for v in candidate.granted)",
            new="LeaderChangeVoter(voter_id=v) for v in state.voters)",
        ),
    ),
)
