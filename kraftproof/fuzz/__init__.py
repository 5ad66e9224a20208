"""Send random frames to a cluster, watch its nodes, and shrink what goes wrong.

The frames are those of cluster/systems/reference/requests; simulated runs send the same in a share
of their seeds. See commands/fuzz.py for the command line.
"""
