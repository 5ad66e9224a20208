"""T2: APPEND and SUBTRACT begin with the default of a list."""

from kraftproof.mutants.mutant import Edit, Mutant

MUTANT = Mutant(
    mutant_id="T2",
    title="APPEND and SUBTRACT begin with the default of a list",
    source="ours; KIP-339",
    expected="ControllerConforms",
    edits=(
        Edit(
            module="kraftproof.node.core.controller.configs.alter",
            old="present.get(name, definitions_of(kind)[name].default",
            new="(definitions_of(kind)[name].default",
        ),
    ),
)
