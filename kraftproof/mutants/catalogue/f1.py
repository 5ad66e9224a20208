"""F1: a torn record stays at the end of the log."""

from kraftproof.mutants.mutant import Edit, Mutant

MUTANT = Mutant(
    mutant_id="F1",
    title="Recovery leaves a torn write in the file, and appends after it",
    source="ours; the class of torn records in write-ahead logs",
    expected="RecoversFromCrashes",
    edits=(
        Edit(
            module="kraftproof.node.storage.log",
            old="        segment.cut(error.position)\n",
            new="        segment.size = len(data)\n",
        ),
    ),
)
