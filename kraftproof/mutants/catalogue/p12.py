"""P12: a follower keeps the records that the leader has deleted."""

from kraftproof.mutants.mutant import Edit, Mutant

MUTANT = Mutant(
    mutant_id="P12",
    title="A follower keeps the records that the leader has deleted",
    source="ours; KIP-107",
    kind="L",
    workload="log",
    expected="PartitionsHeal",
    edits=(
        Edit(
            module="kraftproof.node.core.partition.replica",
            old="""        if log_start <= index.high_watermark:
            self.raise_start(log_start)""",
            new="        del log_start",
        ),
    ),
)
