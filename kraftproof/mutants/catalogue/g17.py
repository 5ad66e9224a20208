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
            old="configs=_shown_configs(configs) if configs else _DEFAULT_CONFIGS",
            new="configs=_DEFAULT_CONFIGS",
        ),
    ),
)
