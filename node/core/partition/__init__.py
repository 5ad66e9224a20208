"""Replicate the partitions of topics: the data plane of a broker (KIP-497, KIP-101, KIP-903).

The leader of a partition appends produced batches and serves readers. The other replicas
fetch from the leader and append the same bytes. The controller names the leader and the in-sync
replicas (ISR) in the committed image; see node/core/controller.

Terms:

- Log end: the offset of the next record. A follower's Fetch acknowledges every record below its
  offset.
- High watermark: the records below are on every member of the ISR, are committed, and are visible
  to consumers.
- Leader epoch: the number of a leadership. A follower that has records of an older leadership finds
  the end of the common part by epochs, and truncates there, never at the high watermark (KIP-101).
- Maximal ISR: the committed ISR and the members of a proposal that may have been applied.

Files: log_index.py and epoch_cache.py index a log; producers.py keeps sequence numbers; validation
judges a produced batch; leader.py, progress.py and isr.py lead a partition; follower.py follows;
replica.py composes the parts of one replica; replicas.py follows the image with all of them;
purgatory.py holds the operations that wait; retention.py removes old records.

Simplifications: consumers read from leaders alone (no KIP-392), a log stays in its
directory, compaction keeps every record, and transactions are refused. Sizes are estimates.
"""
