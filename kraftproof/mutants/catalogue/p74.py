"""P74: a topic's new configurations are lost if partitions change in the same image."""

from kraftproof.mutants.mutant import Edit, Mutant

MUTANT = Mutant(
    mutant_id="P74",
    title="A topic's new configurations are lost if partitions change in the same image",
    source="ours; KIP-631 (ConfigRecord)",
    workload="log",
    expected="ReplicasFollowTheImage",
    edits=(
        Edit(
            module="kraftproof.node.core.partition.replicas",
            old="""if not is_known or configs_changed:""",
            new="""same = before is None or before.partitions is image.partitions
            if not is_known or (configs_changed and same):""",
        ),
    ),
)
