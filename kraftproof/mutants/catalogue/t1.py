"""T1: legacy AlterConfigs keeps the configurations that the request leaves out."""

from kraftproof.mutants.mutant import Edit, Mutant

MUTANT = Mutant(
    mutant_id="T1",
    title="Legacy AlterConfigs keeps the configurations that the request leaves out",
    source="ours; KIP-133",
    expected="ControllerConforms",
    edits=(
        Edit(
            module="kraftproof.node.core.controller.configs.alter",
            old="""    return {**given, **dict.fromkeys(sorted(present.keys() - given.keys()))}""",
            new="""    return given""",
        ),
    ),
)
