"""T16: a broker tells its directories in a version of the request that does not exist."""

from kraftproof.mutants.mutant import Edit, Mutant

MUTANT = Mutant(
    mutant_id="T16",
    title="A broker tells the directories of its replicas in a version that does not exist",
    source="ours; KIP-858, a survivor of the generated mutants",
    workload="log",
    expected="VersionsCarryRequests",
    edits=(
        Edit(
            module="kraftproof.node.core.broker.data.directory_assignments",
            old="""ASSIGN_VERSION: Final = 0""",
            new="""ASSIGN_VERSION: Final = 1""",
        ),
    ),
)
