"""P5: a new follower truncates to its high watermark, as before KIP-101."""

from kraftproof.mutants.mutant import Edit, Mutant

MUTANT = Mutant(
    mutant_id="P5",
    title="A new follower truncates to its high watermark, as before KIP-101",
    source="KIP-101; KAFKA-3410",
    workload="log",
    expected="VisibleIsOnTheIsr",
    edits=(
        Edit(
            module="kraftproof.node.core.partition.replica",
            old="            self.follower = Follower(",
            new="""            self.truncate(self.index.high_watermark)
            self.follower = Follower(""",
        ),
    ),
)
