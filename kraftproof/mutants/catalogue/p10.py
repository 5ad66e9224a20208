"""P10: the high watermark rises, and acks=all succeeds, below min.insync.replicas."""

from kraftproof.mutants.mutant import Edit, Mutant

MUTANT = Mutant(
    mutant_id="P10",
    title="The high watermark rises, and acks=all succeeds, below min.insync.replicas",
    source="ours; KAFKA-15583",
    workload="log",
    expected="MinIsrIsHonoured",
    edits=(
        Edit(
            module="kraftproof.node.core.partition.leader",
            old="if end <= self._index.high_watermark or self.is_under_min_isr:",
            new="if end <= self._index.high_watermark:",
        ),
        Edit(
            module="kraftproof.node.core.broker.data.produce",
            old="        elif len(replica.leader.isr.maximal) < replica.leader.effective_min_isr:",
            new="        elif len(replica.leader.isr.maximal) < 1:",
        ),
    ),
)
