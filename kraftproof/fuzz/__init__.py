"""Send random frames to a cluster, watch the nodes, and shrink a failing case.

cluster/systems/reference/requests draws the frames, also for a share of the simulated runs. See
commands/fuzz.py for the command line.
"""
