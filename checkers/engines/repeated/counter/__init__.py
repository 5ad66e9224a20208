"""Counters that only grow, by adds of any size.

**Problem.** Which adds fall between one answer and the next? Subset sum, which is NP-hard.

**Algorithm.** `gaps` assigns each add the gaps in which it can be; bounds refute most of what is
wrong; `descent` searches depth first with memory of visited states.

**Source.** Wing and Gong, 1993; Lowe, "Testing for linearizability", 2017.

**Time and memory.** Mostly O(n (c + s)), s the number of sizes of indeterminate adds; 4 (c + s)
bytes a dead end.

**Unknown** if the work or memory of the key is used up; then `counter.frontier` goes on.
"""
