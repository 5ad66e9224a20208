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
            old="""if not is_known or has_new_settings(before, image, topic_id, self._node_id):""",
            new="""same = before is None or before.partitions is image.partitions
            is_set = same and has_new_settings(before, image, topic_id, self._node_id)
            if not is_known or is_set:""",
        ),
    ),
)
