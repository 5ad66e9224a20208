"""The disk of a live node, with the faults of a simulated disk: loss of power, errors, slowness.

`server.py` runs as a process for each data directory and answers the kernel over /dev/fuse;
`node_disk.py` is the harness's end. Writes go through to ordinary files at once, and an undo log
keeps the changes since the last fsync: a power loss undoes a drawn part of the log, as on the
simulated disk.
"""
