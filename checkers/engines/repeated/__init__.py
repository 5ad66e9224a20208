"""Searches for a legal order of calls whose elements or values occur several times.

**Problem.** If equal elements are put several times, an answer does not tell which put it belongs
to, and linearizability is NP-complete for queues, stacks, priority queues, strings, registers and
transactions, and NP-hard for counters.

**Algorithm.** Each folder sweeps over the completions and keeps the configurations that may lead
on. As long as none is dropped for lack of capacity, the answer is exact. Otherwise a heuristic
keeps the best ones (beam search), and the search can only find orders; a refutation needs another
argument: counting (`counting`), bounds, or a relaxed sweep. An order that is found is replayed.

- `stack`, `priority_queue`, `queue`, `counter`: one container each.
- `layout`: calls that find and leave values, for strings, registers and transactions, which
  `beam_search` searches.

**Source.** Lowerre, "The Harpy speech recognition system", 1976 (beam search); Lowe, "Testing for
linearizability", 2017; the folders name the others.

**Time and memory.** Mostly O(n c^2), exponential in c at worst; bounded by the key's limits.

**Unknown** if no order is found and nothing refutes the history within the limits. The limits count
work, so that the same history always gets the same verdict.
"""
