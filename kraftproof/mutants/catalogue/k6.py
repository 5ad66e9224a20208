"""K6: an open metadata transaction of a former controller stays open."""

from kraftproof.mutants.mutant import Edit, Mutant

MUTANT = Mutant(
    mutant_id="K6",
    title="An open metadata transaction of a former controller stays open",
    source="ours; KIP-868 (AbortTransactionRecord)",
    expected="BrokersServeAfterCatchUp",
    kind="L",
    edits=(
        Edit(
            module="kraftproof.node.core.controller.active",
            old=("        if committed.has_open_transaction:\n"),
            new=("        if committed.has_open_transaction and self._expired:\n"),
        ),
    ),
)
