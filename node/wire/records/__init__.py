"""Records of logs and snapshots, and batches of records.

The modules `metadata` and `control` define records, `batch` defines a batch; `batches`,
`metadata_records` and `control_records` encode and decode. A Fetch answer has batches, so
node.wire.messages imports this package.
"""
