"""Priority queues whose elements may be equal, or whose takes are indeterminate.

**Problem.** NP-complete.

**Algorithm.** `sweep` goes from completion to completion; the only choice is which open takes
precede a completing put. `heuristic` selects the states that are kept; `search` restarts with
more capacity and random costs.

**Source.** Lowerre, 1976; Gomes, Selman and Kautz, "Boosting combinatorial search through
randomization", 1998.

**Time and memory.** Mostly O(n c^2), exponential in c at worst; O(n) and the kept states.

**Unknown** if states were dropped and no order is found.
"""
