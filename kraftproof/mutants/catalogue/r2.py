"""R2: damage in the middle of the log is cut off with all that follows."""

from kraftproof.mutants.mutant import Edit, Mutant

MUTANT = Mutant(
    mutant_id="R2",
    title="A closed segment is cut at the first damaged batch, as if the batch were a torn write",
    source="ours",
    expected="DamageIsRefused",
    edits=(
        Edit(
            module="kraftproof.node.storage.log",
            old="            is_last = index == len(offsets) - 1\n",
            new="            is_last = index <= len(offsets) - 1\n",
        ),
        Edit(
            module="kraftproof.node.storage.log",
            old="            self.end_offset = segment.end_offset\n        return batches",
            new="            self.end_offset = segment.end_offset\n"
            "            if index + 1 < len(offsets) and offsets[index + 1] != self.end_offset:\n"
            "                break\n"
            "        return batches",
        ),
    ),
)
