"""P1: the high watermark follows the committed ISR while an expansion is pending."""

from kraftproof.mutants.mutant import Edit, Mutant

MUTANT = Mutant(
    mutant_id="P1",
    title="The high watermark follows the committed ISR while an expansion is pending",
    source="ours; KIP-497 (Maximal ISR)",
    workload="log",
    expected="VisibleIsOnTheIsr",
    edits=(
        Edit(
            module="kraftproof.node.core.partition.leader",
            old="""            if progress.end_offset < end and (
                replica in isr.committed
                or replica in isr.proposed
                or (self._is_caught_up(replica, now) and self._is_eligible(replica))
            ):""",
            new="            if progress.end_offset < end and replica in isr.committed and now:",
        ),
    ),
)
