"""Broker registrations and topic names of a KRaft cluster.

**Problem.** Linearizability of what the controller holds of one broker id (its epoch, and whether
it is registered), or of one topic name (the topic's id, or none).

**Algorithm.** A sweep over the completions keeps a frontier of all that the controller may hold.
Indeterminate calls have no deadline, so equal ones are counted instead of enumerated
(`registration_indeterminate`). A registration sweep is tried narrow, then relaxed, then exact.

**Source.** Lowe, "Testing for linearizability", 2017.

**Time and memory.** Mostly O(n c), exponential in c at worst; O(n) and the frontier.

**Unknown** if the frontier exceeds the key's memory or time; a topic name with more than 63 open
calls is left to the general engine.
"""
