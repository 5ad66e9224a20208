"""C10: a validating request creates the topic."""

from kraftproof.mutants.mutant import Edit, Mutant

MUTANT = Mutant(
    mutant_id="C10",
    title="A validating request creates the topic",
    source="ours; KIP-4 (validateOnly)",
    expected="ControllerConforms",
    edits=(
        Edit(
            module="kraftproof.node.core.controller.topics",
            old="records=() if request.validate_only else tuple(written))",
            new="records=tuple(written))",
        ),
        Edit(
            module="kraftproof.node.core.controller.topics",
            old="        topic_id = ZERO_UUID if request.validate_only else _new_id(image, random)",
            new="        topic_id = _new_id(image, random)",
        ),
    ),
)
