"""C10-together: two brokers that expire at once overwrite each other's ISR changes."""

from kraftproof.mutants.mutant import Edit, Mutant

MUTANT = Mutant(
    mutant_id="C10-together",
    title="Two brokers that expire at once overwrite each other's ISR changes",
    source="KAFKA-13173 (b1b872bd4ea)",
    expected="ControllerConforms",
    edits=(
        Edit(
            module="kraftproof.node.core.controller.active",
            old="                image = apply_all(image, fencing)",
            new="                image = apply_all(image, fencing[:1])",
        ),
    ),
)
