"""K23: a list of reassignments leaves out those that only remove replicas."""

from kraftproof.mutants.mutant import Edit, Mutant

MUTANT = Mutant(
    mutant_id="K23",
    title="A list of reassignments leaves out those that only remove replicas",
    source="ours; KIP-455",
    expected="DecisionsConform",
    edits=(
        Edit(
            module="kraftproof.node.core.controller.partitions.reassignment",
            old="if one is not None and one.is_moving)",
            new="if one is not None and one.adding)",
        ),
        Edit(
            module="kraftproof.node.core.controller.partitions.reassignment",
            old="""        for partition in image.reassigned():
""",
            new="""        for partition in image.reassigned():
            if not partition.adding:
                continue
""",
        ),
    ),
)
