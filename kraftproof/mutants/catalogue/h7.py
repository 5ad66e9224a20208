"""H7: a removed entry goes on to give its right."""

from kraftproof.mutants.mutant import Edit, Mutant

MUTANT = Mutant(
    mutant_id="H7",
    title="A removed entry stays in the index of entries",
    source="KIP-631 (RemoveAccessControlEntryRecord)",
    expected="ControllerConforms",
    edits=(
        Edit(
            module="kraftproof.node.core.metadata.changes",
            old="""        acls = acls.minus(was)
""",
            new="""        acls = acls if entry is None else acls.minus(was)
""",
        ),
    ),
)
