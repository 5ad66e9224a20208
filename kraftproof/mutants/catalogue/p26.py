"""P26: followers keep no state of producers."""

from kraftproof.mutants.mutant import Edit, Mutant

MUTANT = Mutant(
    mutant_id="P26",
    title="Followers keep no state of producers",
    source="ours; KIP-98",
    workload="log",
    expected="IdempotentOnce",
    edits=(
        Edit(
            module="kraftproof.node.core.partition.replica",
            old="        self.producers.record(batch, self.index.high_watermark, now_ms)",
            new="""        if self.leader is not None:
            self.producers.record(batch, self.index.high_watermark, now_ms)""",
        ),
    ),
)
