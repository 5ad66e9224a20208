"""C3: of a request with several topics only the first is created."""

from kraftproof.mutants.mutant import Edit, Mutant

MUTANT = Mutant(
    mutant_id="C3",
    title="Of a request with several topics only the first is created",
    source="ours; KIP-4 (CreateTopics)",
    expected="ControllerConforms",
    edits=(
        Edit(
            module="kraftproof.node.core.controller.topics",
            old="if topic.name not in names_refused]",
            new="if topic.name not in names_refused][:1]",
        ),
    ),
)
