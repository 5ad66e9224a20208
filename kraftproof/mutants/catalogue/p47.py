"""P47: a leader forgets the progress of its followers with each image."""

from kraftproof.mutants.mutant import Edit, Mutant

MUTANT = Mutant(
    mutant_id="P47",
    title="A leader forgets the progress of its followers with each image",
    source="ours",
    kind="L",
    workload="log",
    expected="MembersAreRemovedForLag",
    edits=(
        Edit(
            module="kraftproof.node.core.partition.leader",
            old=(
                "            replica: self.followers.get(replica, FollowerProgress())"
                " for replica in others"
            ),
            new="            replica: FollowerProgress() for replica in others",
        ),
    ),
)
