"""The shell: the one executor of a node's effects, the same in production and in the simulator.

The core (node/core) turns an event into effects and touches nothing. The shell takes events in
their order, steps the node, and carries the effects out under the contract of
node/core/effects.py:

- node_shell.py: the queue of events, one step at a time, the deadline.
- effect_executor.py: the order of effects, barriers, waits for a running fsync and for the encoding
  of a large batch.
- flush_queue.py: one fsync at a time; a Flush is done when an fsync that began after it returned.
- request_table.py: requests that wait for a Reply, by token.
- peer_lanes.py and requests_in_flight.py: connections to peers, time-outs, what was never sent.
- snapshot_executor.py: snapshots written and checked one at a time.

Everything that differs between a machine and the simulator is a port (ports.py). The shell is
plain synchronous code without a clock: a port starts some work, and the port's callback feeds the
shell again. No port may call back into the shell from another thread.
"""
