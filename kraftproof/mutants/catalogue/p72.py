"""P72: DeleteRecords is refused for a topic that is compacted and deleted."""

from kraftproof.mutants.mutant import Edit, Mutant

MUTANT = Mutant(
    mutant_id="P72",
    title="DeleteRecords is refused for a topic that is compacted and deleted",
    source="ours; KIP-107",
    workload="log",
    expected="PartsMatchReference",
    edits=(
        Edit(
            module="kraftproof.node.core.broker.data.delete_records",
            old="""if not found.replica.settings.is_deleted:""",
            new="""if found.replica.settings.is_compacted:""",
        ),
    ),
)
