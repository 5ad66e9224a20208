"""K28: a refused renewal of a token has an expiry."""

from kraftproof.mutants.mutant import Edit, Mutant

MUTANT = Mutant(
    mutant_id="K28",
    title="A refused renewal of a token has an expiry",
    source="ours; KIP-48, of the kind of survivors of the generated mutants",
    expected="RefusalsMatchReference",
    edits=(
        Edit(
            module="kraftproof.node.core.controller.credential_refusals",
            old="""        error_code=error, expiry_timestamp_ms=-1
    )


def _expire_token""",
            new="""        error_code=error
    )


def _expire_token""",
        ),
    ),
)
