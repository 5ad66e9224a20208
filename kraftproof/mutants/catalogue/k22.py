"""K22: a cancelled reassignment leaves the added replicas in the ISR."""

from kraftproof.mutants.mutant import Edit, Mutant

MUTANT = Mutant(
    mutant_id="K22",
    title="A cancelled reassignment leaves the added replicas in the ISR",
    source="ours; KIP-455",
    expected="DecisionsConform",
    edits=(
        Edit(
            module="kraftproof.node.core.controller.partitions.reassignment",
            old="""    isr = tuple(node for node in was.isr if node not in was.adding)
""",
            new="""    isr = was.isr
""",
        ),
    ),
)
