"""B7: a replica skips a record that can't be applied, and snapshots preserve the gap."""

from kraftproof.mutants.mutant import Edit, Mutant

MUTANT = Mutant(
    mutant_id="B7",
    title="A replica that can't apply RemoveTopicRecord goes on, and writes snapshots",
    source="KAFKA-14203 (#12596), KAFKA-14104, KAFKA-14275",
    expected="ImagesAgree",
    edits=(
        Edit(
            module="kraftproof.node.core.metadata.committed",
            old="""        try:
            now, work = self.apply_more(was, room)
        except ApplyError as error:
            raise ApplyError(f"the batch at offset {batch.base_offset}: {error}") from error""",
            new="""        try:
            if any(type(record).__name__ == "RemoveTopicRecord" for record in batch.records):
                raise ApplyError("RemoveTopicRecord is no record that this node can apply")
            now, work = self.apply_more(was, room)
        except ApplyError:
            now = PartlyApplied(batch=batch, applied=len(batch.records), image=was.image)
            work = len(batch.records)""",
        ),
    ),
)
