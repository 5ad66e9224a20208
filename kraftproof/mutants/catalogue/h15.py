"""H15: the quota of the client id wins over the quota of user and client id."""

from kraftproof.mutants.mutant import Edit, Mutant

MUTANT = Mutant(
    mutant_id="H15",
    title="The quota of the client id wins over the quota of user and client id",
    source="KIP-55",
    workload="quotas",
    expected="quotas/needless",
    edits=(
        Edit(
            module="kraftproof.node.core.quotas.applied",
            old="""    for of_user, of_client in _LEVELS:
""",
            new="""    for of_user, of_client in reversed(_LEVELS):
""",
        ),
    ),
)
