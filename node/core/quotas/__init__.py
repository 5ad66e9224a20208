"""Measure clients against their quotas: rates of bytes, and changes of partitions (KIP-13, 599).

Each node measures what itself serves. No measurement is kept beyond the process: after a start, or
at a new active controller, every client begins with an unused budget. Without quotas in the image,
nothing is measured.
"""
