"""P66: a start without a directory creates an unassigned replica anew in another one."""

from kraftproof.mutants.mutant import Edit, Mutant

MUTANT = Mutant(
    mutant_id="P66",
    title="A start without a directory creates an unassigned replica anew in another one",
    source="ours; KIP-858",
    workload="log",
    expected="ReplicasFollowTheImage",
    edits=(
        Edit(
            module="kraftproof.node.core.partition.replicas",
            old="""        if is_start and assigned not in self.directories.online:
            return None
""",
            new="""        del is_start
""",
        ),
    ),
)
