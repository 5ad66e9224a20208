"""Random requests: drawn from the message classes, kept as data, sent as bytes and judged.

A case is a list of sends on connections. `drawing` makes a case from a random source, `case_file`
writes and reads it, `player` sends it to a cluster, and `answers` judges what came back.
"""
