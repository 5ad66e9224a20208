"""T24: a leader ignores new settings of its topic until it leads again."""

from kraftproof.mutants.mutant import Edit, Mutant

MUTANT = Mutant(
    mutant_id="T24",
    title="A leader keeps the settings of its topic until the next leadership",
    source="ours; a state that no comparison drew",
    expected="LeadersMatchReference",
    edits=(
        Edit(
            module="kraftproof.node.core.partition.replica",
            old="        self.settings = settings\n\n    def _note_epoch",
            new=(
                "        if self.leader is None:\n"
                "            self.settings = settings\n\n    def _note_epoch"
            ),
        ),
    ),
)
