"""P35: a new epoch of a producer may begin at any sequence number."""

from kraftproof.mutants.mutant import Edit, Mutant

MUTANT = Mutant(
    mutant_id="P35",
    title="A new epoch of a producer may begin at any sequence number",
    source="ours; KIP-360",
    workload="log",
    expected="ProducersWriteInOrder",
    edits=(
        Edit(
            module="kraftproof.node.core.partition.producers",
            old="""            return None if batch.base_sequence == 0 else _out_of_order(batch, 0)
""",
            new="""            return None
""",
        ),
    ),
)
