"""G17: the configurations that CreateTopics answers are the defaults."""

from kraftproof.mutants.mutant import Edit, Mutant

MUTANT = Mutant(
    mutant_id="G17",
    title="The configurations that CreateTopics answers are the defaults",
    source="ours; KIP-525",
    expected="ControllerConforms",
    edits=(
        Edit(
            module="kraftproof.node.core.controller.topics",
            old="            if configs or layers is not NO_LAYERS\n",
            new="            if layers is not NO_LAYERS\n",
        ),
    ),
)
