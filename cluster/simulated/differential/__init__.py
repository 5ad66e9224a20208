"""Compare the node's code for the wire and for files with small references of the harness.

Both ends of a simulated connection have the same codec, and a node reads the files that the same
node has written. So a mistake that both sides make is no difference of a run. The modules here draw
messages, batches, files and operations, and compare each result with code that shares nothing with
the node. See comparison.py for the runs that compare, and docs/decisions/0670.
"""
