"""P36: the producers are forgotten when the start of the log rises."""

from kraftproof.mutants.mutant import Edit, Mutant

MUTANT = Mutant(
    mutant_id="P36",
    title="The producers are forgotten when the start of the log rises",
    source="ours; KAFKA-7190 is of this class",
    workload="log",
    expected="ProducersAreJudgedByTheLog",
    edits=(
        Edit(
            module="kraftproof.node.core.partition.replica",
            old="""            self.index.raise_start(min(offset, self.index.end_offset))
""",
            new="""            self.index.raise_start(min(offset, self.index.end_offset))
            self.producers.clear()
""",
        ),
    ),
)
