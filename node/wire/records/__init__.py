"""Records of logs and snapshots, and batches of records.

`metadata` and `control` define the records, `batch` a batch; `batches`, `metadata_records` and
`control_records` are their codec. Answers to Fetch hold batches, so messages import this package.
"""
