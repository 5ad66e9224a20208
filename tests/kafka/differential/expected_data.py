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
        reason="Before version 7, Kafka meets an unknown codec in front of the log, and names no "
        "log start offset. Ours names it in each version.",
    ),
    Difference(
        cases="batch: *",
        fields=("*.error_message",),
        reason="Ours says in words why a batch is refused; Kafka has a text for few errors.",
    ),
    Difference(
        cases="batch: a transaction",
        fields=("*.error_code", "*.log_start_offset"),
        reason="No transaction can begin here (InitProducerId refuses it), so a batch of one is "
        "refused with INVALID_RECORD. Kafka asks its coordinator, which is not ready, and answers "
        "NOT_ENOUGH_REPLICAS.",
    ),
    Difference(
        cases="batch: many records without a key",
        fields=("*.record_errors*",),
        reason="The answer names 100 faulty records of a batch at most. Kafka names all of them.",
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
