"""W11: a setting that stands beside unclean.leader.election.enable hides it from elections."""

from kraftproof.mutants.mutant import Edit, Mutant

MUTANT = Mutant(
    mutant_id="W11",
    title="A setting that stands beside unclean.leader.election.enable hides it from elections",
    source="ours",
    expected="ControllerConforms",
    edits=(
        Edit(
            module="kraftproof.node.core.controller.configs.alter",
            old="    if not any(map(allows_more, written)):",
            new="    if not all(map(allows_more, written)):",
        ),
    ),
)
