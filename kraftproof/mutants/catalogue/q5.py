"""Q5: a replica takes a slice from another place of the snapshot than it has asked for."""

from kraftproof.mutants.mutant import Edit, Mutant

MUTANT = Mutant(
    mutant_id="Q5",
    title="A replica stores a slice from another place of the snapshot than it has asked for",
    source="ours; KIP-630, a survivor of the generated mutants",
    expected="FetchingMatchesReference",
    edits=(
        Edit(
            module="kraftproof.node.core.raft.snapshots.download",
            old="        and fetched.position == download.position\n",
            new="",
        ),
    ),
)
