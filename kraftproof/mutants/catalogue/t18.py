"""T18: the report of a failed directory counts for the directories that failed since."""

from kraftproof.mutants.mutant import Edit, Mutant

MUTANT = Mutant(
    mutant_id="T18",
    title="The report of one failed directory counts for those that failed since",
    source="ours; KIP-858, of the kind of survivors of the generated mutants",
    expected="MembershipsMatchReference",
    edits=(
        Edit(
            module="kraftproof.node.core.broker.membership",
            old="if reported == self._failed_directories:",
            new="if reported or not self._failed_directories:",
        ),
    ),
)
