"""U2: the continuation of a request is kept after the answer."""

from kraftproof.mutants.mutant import Edit, Mutant

MUTANT = Mutant(
    mutant_id="U2",
    title="The continuation of a request is kept after the answer",
    source="ours; the class of memory leaks",
    expected="TablesAreBounded",
    edits=(
        Edit(
            module="kraftproof.node.core.outbox",
            old="self._continuations.pop(correlation, None)",
            new="self._continuations.get(correlation)",
        ),
    ),
)
