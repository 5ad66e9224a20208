"""P7: a truncation leaves the state of producers as it was."""

from kraftproof.mutants.mutant import Edit, Mutant

MUTANT = Mutant(
    mutant_id="P7",
    title="A truncation leaves the state of producers as it was",
    source="ours; KIP-98",
    workload="log",
    expected="DescriptionsAreTrue",
    edits=(
        Edit(
            module="kraftproof.node.core.partition.replica",
            old="""        self.producers.truncate(self.index.end_offset)
""",
            new="",
        ),
    ),
)
