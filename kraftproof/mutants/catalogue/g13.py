"""G13: A registration that arrives again ends the controlled shutdown."""

from kraftproof.mutants.mutant import Edit, Mutant

MUTANT = Mutant(
    mutant_id="G13",
    title="A registration that arrives again ends the controlled shutdown",
    source="ours; KIP-631 (Controlled Shutdown)",
    expected="ControllerConforms",
    edits=(
        Edit(
            module="kraftproof.node.core.controller.brokers",
            old="""            in_controlled_shutdown=registered.in_controlled_shutdown,
""",
            new="",
        ),
    ),
)
