"""A node whose fsync does nothing, for `--mutant FILE`."""

from kraftproof.mutants.mutant import Edit, Mutant

MODULE = "kraftproof.node.storage.disk"
MUTANT = Mutant(
    mutant_id="no-fsync",
    title="fsync of a file or a directory does nothing",
    source="a test",
    edits=(
        Edit(module=MODULE, old="\n                os.fsync(", new="\n                os.fstat("),
        Edit(module=MODULE, old="\n            os.fsync(", new="\n            os.fstat("),
    ),
)
