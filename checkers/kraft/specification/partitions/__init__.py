"""Judge requests that change partitions or hand out producer ids (KIP-497, KIP-631, KIP-730)."""
