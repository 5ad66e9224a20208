"""C15: the first ISR of a partition contains fenced brokers."""

from kraftproof.mutants.mutant import Edit, Mutant

MUTANT = Mutant(
    mutant_id="C15",
    title="The first ISR of a partition contains fenced brokers",
    source="ours; KIP-631 (Membership States)",
    expected="FencedBrokersLeadNothing",
    edits=(
        Edit(
            module="kraftproof.node.core.controller.assignment",
            old="""    if not active.issuperset(replicas):
        isr""",
            new="""    if not active.intersection(replicas):
        isr""",
        ),
    ),
)
