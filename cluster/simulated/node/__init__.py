"""A simulated machine, its process, and the execution of the node's effects."""
