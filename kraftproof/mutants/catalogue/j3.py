"""J3: a broker does not tell in which directory it has put a replica."""

from kraftproof.mutants.mutant import Edit, Mutant

MUTANT = Mutant(
    mutant_id="J3",
    title="A broker does not tell in which directory it has put a replica",
    source="KIP-858 (AssignReplicasToDirs)",
    kind="L",
    workload="log",
    expected="PartitionsHeal",
    edits=(
        Edit(
            module="kraftproof.node.core.partition.replicas",
            old="""        if replica.directory != known and not is_reserved(replica.directory):
            self.misplaced[replica.log] = replica.directory
        else:
            self.misplaced.pop(replica.log, None)""",
            new="""        if replica.directory == known or is_reserved(known):
            self.misplaced.pop(replica.log, None)
        else:
            self.misplaced[replica.log] = replica.directory""",
        ),
    ),
)
