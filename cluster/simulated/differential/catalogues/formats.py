"""The comparisons of tables, bytes, files, effects and connections, each with its invariant."""

from typing import Final

from kraftproof.cluster.simulated.differential.core.tables import compare_core_tables
from kraftproof.cluster.simulated.differential.core.versions import compare_versions
from kraftproof.cluster.simulated.differential.part import (
    SERVER,
    SHELL,
    STORAGE,
    TABLES,
    WIRE,
    Comparison,
)
from kraftproof.cluster.simulated.differential.server.connections import compare_connections
from kraftproof.cluster.simulated.differential.server.listeners import compare_listeners
from kraftproof.cluster.simulated.differential.server.tls_streams import compare_tls_streams
from kraftproof.cluster.simulated.differential.shell.directories import compare_shell_directories
from kraftproof.cluster.simulated.differential.shell.failing import compare_failing_directories
from kraftproof.cluster.simulated.differential.shell.requests import compare_shell_requests
from kraftproof.cluster.simulated.differential.shell.steps import compare_shell
from kraftproof.cluster.simulated.differential.storage.epoch_files import compare_epoch_files
from kraftproof.cluster.simulated.differential.storage.identity_files import compare_identity_files
from kraftproof.cluster.simulated.differential.storage.interruptions import (
    compare_interruptions,
)
from kraftproof.cluster.simulated.differential.storage.metadata_logs import compare_metadata_logs
from kraftproof.cluster.simulated.differential.storage.node_storage import compare_node_storage
from kraftproof.cluster.simulated.differential.storage.offset_files import compare_offset_files
from kraftproof.cluster.simulated.differential.storage.partitions.damage import (
    compare_partition_damage,
)
from kraftproof.cluster.simulated.differential.storage.partitions.logs import compare_partition_logs
from kraftproof.cluster.simulated.differential.storage.real_disk import compare_real_disk
from kraftproof.cluster.simulated.differential.storage.segments import compare_segments
from kraftproof.cluster.simulated.differential.storage.snapshots import compare_snapshots
from kraftproof.cluster.simulated.differential.wire.headers import compare_headers
from kraftproof.cluster.simulated.differential.wire.messages import compare_messages
from kraftproof.cluster.simulated.differential.wire.metadata_batches import compare_metadata_batches
from kraftproof.cluster.simulated.differential.wire.primitives import compare_primitives
from kraftproof.cluster.simulated.differential.wire.raw_batches import compare_raw_batches
from kraftproof.cluster.simulated.differential.wire.raw_records import compare_raw_records
from kraftproof.cluster.simulated.differential.wire.tables import compare_tables

MESSAGES: Final = "WireMatchesReference"
MESSAGES_STATEMENT: Final = "Bytes of messages are written, read and refused as by a reference."
BATCHES: Final = "BatchesMatchReference"
BATCHES_STATEMENT: Final = "Batches of records are written, read and refused as by a reference."
FILES: Final = "FilesMatchReference"
FILES_STATEMENT: Final = "Files are written, read, refused and recovered as by a reference."
EFFECTS: Final = "ShellKeepsContract"
EFFECTS_STATEMENT: Final = "The shell carries out effects in order, once, and waits where it must."
KAFKA: Final = "TablesMatchKafka"
KAFKA_STATEMENT: Final = "Defaults, keys, versions and levels of features are those of Kafka."
CONNECTIONS: Final = "ConnectionsKeepTheirRules"
CONNECTIONS_STATEMENT: Final = (
    "Requests on a connection are taken and answered in order, within bounds and throttle times, "
    "and a listener ends a connection for a reason only."
)

FORMATS: Final = (
    Comparison(KAFKA, KAFKA_STATEMENT, TABLES, compare_core_tables),
    Comparison(KAFKA, KAFKA_STATEMENT, TABLES, compare_versions),
    *(
        Comparison(MESSAGES, MESSAGES_STATEMENT, (WIRE,), compare)
        for compare in (compare_tables, compare_primitives, compare_headers, compare_messages)
    ),
    *(
        Comparison(BATCHES, BATCHES_STATEMENT, (WIRE,), compare)
        for compare in (compare_metadata_batches, compare_raw_batches, compare_raw_records)
    ),
    *(
        Comparison(FILES, FILES_STATEMENT, (STORAGE,), compare)
        for compare in (
            compare_identity_files,
            compare_offset_files,
            compare_epoch_files,
            compare_real_disk,
            compare_metadata_logs,
            compare_snapshots,
            compare_node_storage,
            compare_interruptions,
            compare_partition_logs,
            compare_partition_damage,
            compare_segments,
        )
    ),
    *(
        Comparison(EFFECTS, EFFECTS_STATEMENT, (SHELL,), compare)
        for compare in (
            *(compare_shell, compare_shell_requests, compare_shell_directories),
            compare_failing_directories,
        )
    ),
    *(
        Comparison(CONNECTIONS, CONNECTIONS_STATEMENT, (SERVER,), compare)
        for compare in (compare_connections, compare_listeners, compare_tls_streams)
    ),
)
"""In the order of a run that compares several."""
