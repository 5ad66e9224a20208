"""A19a: too few votes elect."""

from kraftproof.mutants.mutant import Edit, Mutant

MUTANT = Mutant(
    mutant_id="A19a",
    title="The quorum of votes is off by one",
    source="a class; camunda#1068 (two leaders in one term)",
    expected="ElectedByAMajority",
    kafka="killed",
    edits=(
        Edit(
            module="kraftproof.node.core.raft.quorum",
            old="if granted >= majority(voters):",
            new="if granted >= majority(voters) - 1:",
        ),
    ),
)
