"""H17: a credential is stored with the smallest number of iterations."""

from kraftproof.mutants.mutant import Edit, Mutant

MUTANT = Mutant(
    mutant_id="H17",
    title="A credential is stored with the smallest number of iterations",
    source="KIP-554",
    workload="credentials",
    expected="ControllerConforms",
    edits=(
        Edit(
            module="kraftproof.node.core.controller.security.scram",
            old="""                iterations=upsertion.iterations,
""",
            new="""                iterations=MIN_ITERATIONS,
""",
        ),
    ),
)
