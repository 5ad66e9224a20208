"""The comparisons of a run, each with its invariant."""

from typing import Final

from kraftproof.cluster.simulated.differential.comparison import WIRE, Comparison
from kraftproof.cluster.simulated.differential.headers import compare_headers
from kraftproof.cluster.simulated.differential.messages import compare_messages
from kraftproof.cluster.simulated.differential.metadata_batches import compare_metadata_batches
from kraftproof.cluster.simulated.differential.primitives import compare_primitives
from kraftproof.cluster.simulated.differential.raw_batches import compare_raw_batches
from kraftproof.cluster.simulated.differential.raw_records import compare_raw_records
from kraftproof.cluster.simulated.differential.tables import compare_tables

MESSAGES: Final = "WireMatchesReference"
MESSAGES_STATEMENT: Final = "Bytes of messages are written, read and refused as by a reference."
BATCHES: Final = "BatchesMatchReference"
BATCHES_STATEMENT: Final = "Batches of records are written, read and refused as by a reference."

COMPARISONS: Final = (
    *(
        Comparison(MESSAGES, MESSAGES_STATEMENT, (WIRE,), compare)
        for compare in (compare_tables, compare_primitives, compare_headers, compare_messages)
    ),
    *(
        Comparison(BATCHES, BATCHES_STATEMENT, (WIRE,), compare)
        for compare in (compare_metadata_batches, compare_raw_batches, compare_raw_records)
    ),
)
