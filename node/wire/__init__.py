"""The wire: frames, headers, messages and record batches, as bytes and back.

It knows no socket, no clock and no state of the node. What goes out is released Kafka's
numbering, not the KIP drafts' (KIP-595, 631, 590).
"""
