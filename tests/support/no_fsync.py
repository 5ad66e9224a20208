"""A node whose fsync does nothing, for `--mutant FILE`."""

from kraftproof.mutants.mutant import Edit, Mutant

MODULE = "kraftproof.node.storage.disk"
MUTANT = Mutant(
    mutant_id="no-fsync",
    title="fsync of a file or a directory does nothing",
    source="a test",
    edits=(
        Edit(module=MODULE, old="os.fsync(self._descriptor)", new="os.fstat(self._descriptor)"),
        Edit(module=MODULE, old="os.fsync(descriptor)", new="os.fstat(descriptor)"),
    ),
)
