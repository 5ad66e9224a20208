"""Locks and fencing tokens.

**Problem.** Linearizability of a mutex, and of a lock service that grants growing tokens.

**Algorithm.** The kind of the next call is known, so a greedy order suffices: the completing
call first goes first (`mutex`); each grant gets the earliest place that it can have
(`tokens`). The first wrong completion is found by bisection.

**Source.** The exchange arguments in the docstrings of `mutex` and `tokens`.

**Time and memory.** O(n log n), a factor of log n more if invalid; O(n).

**Unknown** never.
"""
