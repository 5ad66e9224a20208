"""Convert frames, headers, messages and record batches to bytes, and back.

The package has no socket, clock or node state. The numbers are those of released Kafka, which
differ from the drafts in the KIPs (KIP-595, 631, 590).
"""
