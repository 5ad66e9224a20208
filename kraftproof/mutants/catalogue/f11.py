"""F11: a downloaded snapshot gets its name after the sync of the directory."""

from kraftproof.mutants.mutant import Edit, Mutant

MUTANT = Mutant(
    mutant_id="F11",
    title="A downloaded snapshot gets its name after the sync of the directory",
    source="ours",
    expected="FilesMatchReference",
    edits=(
        Edit(
            module="kraftproof.node.storage.snapshots",
            old=(
                "self._filesystem.replace("
                "self._copy_path(copy, snapshot), self._path(snapshot))\n"
                "        self._filesystem.fsync_directory(self._directory)\n"
            ),
            new=(
                "self._filesystem.fsync_directory(self._directory)\n"
                "        self._filesystem.replace("
                "self._copy_path(copy, snapshot), self._path(snapshot))\n"
            ),
        ),
    ),
)
