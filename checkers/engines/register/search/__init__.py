"""Searches for a legal order of a register whose values are written again.

**Problem.** NP-complete (Gibbons and Korach, "Testing shared memories", 1997).

**Algorithm.** `portfolio` alternates three searches with budgets that double: `depth_first`
(`bitmask_dfs` if a configuration fits into machine words), which finds most orders at once and
never answers "invalid"; the exact `frontier` of all configurations; and a relaxed frontier over the
last returns, which refutes. `dominance` drops a configuration if another one can do all that it
can; `overwritten` refutes reads of values that were overwritten for sure.

**Source.** Wing and Gong, 1993; Lowe, "Testing for linearizability", 2017.

**Time and memory.** Near linear at small c and u, exponential at worst; some 45 bytes a call, and
the frontiers.

**Unknown** if the key's memory or time is used up.
"""
