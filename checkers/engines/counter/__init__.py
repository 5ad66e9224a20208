"""Counters: add, read, and add-and-get.

**Problem.** Linearizability of a sum. With adds of several sizes the question contains subset sum,
which is NP-hard.

**Algorithm.** `counter` orders equal adds greedily; positive adds go to
`checkers.engines.repeated.counter`; all others to `frontier`, which keeps all pairs of applied
calls and sum that real time allows.

**Source.** The exchange arguments in the docstrings of `counter` and `frontier`.

**Time and memory.** O(n log n) and O(n) if all adds are equal; the frontier grows with c.

**Unknown** if the frontier exceeds 63 open calls or its number of configurations; then the general
engine is asked.
"""
