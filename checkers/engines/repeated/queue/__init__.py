"""First-in-first-out queues whose elements may be equal.

**Problem.** NP-complete.

**Algorithm.** The search goes by the place in the queue: the next pair of a put and a take of one
value. `bounds` limits how many of the first elements have a value, `heuristic` rates states, and
`search` keeps a bounded number of them and turns back if none is left.

**Source.** Henzinger, Sezgin and Vafeiadis, "Aspect-oriented linearizability proofs", 2013;
Lowerre, 1976.

**Time and memory.** O(n c^2) if the search need not turn back; O(n c), a few bytes.

**Unknown** if no order is found within the number of states and counting refutes nothing.
"""
