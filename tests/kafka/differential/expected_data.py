"""The meant differences from real Kafka in Produce and in consumers' Fetch. No tests here."""

from typing import Final

from tests.kafka.differential.difference import Difference

OF_DATA: Final = (
    Difference(
        cases="produce: *",
        fields=("*.error_message",),
        reason="Ours says in words why a batch is refused; Kafka has no text for these errors.",
    ),
    Difference(
        cases="produce: * that is no *",
        fields=("*.error_code",),
        reason="A batch whose records cannot be decompressed is refused here with INVALID_RECORD "
        "and the reason. Kafka answers UNKNOWN_SERVER_ERROR, as after any unforeseen exception. "
        "Clients retry neither.",
    ),
    Difference(
        cases="produce: * codec",
        fields=("*.log_start_offset",),
        reason="The answer to a batch of an unknown codec names no log start offset here, as after "
        "every other refusal. Kafka names it after an unforeseen exception.",
    ),
    Difference(
        cases="produce: * that is no *",
        fields=("*.log_start_offset",),
        reason="The answer to a batch that cannot be decompressed names no log start offset here.",
    ),
    Difference(
        cases="produce: no records",
        fields=("*",),
        reason="A Produce whose records are null gets no answer from Kafka. Ours answers "
        "INVALID_RECORD.",
    ),
    Difference(
        cases="consume: an unknown *",
        fields=("*.aborted_transactions",),
        reason="No aborted transactions are an empty list in this answer of Kafka, and null in "
        "ours; both mean none.",
    ),
)
