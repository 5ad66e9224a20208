"""The general engine: a search over the states of any sequential model.

**Problem.** Linearizability for a model that is known only by its `step`.

**Algorithm.** Depth-first search over configurations with just-in-time linearization and memory of
visited configurations (`search`). If calls are indeterminate, a relaxed search, in which such calls
may take effect repeatedly, refutes from above (`relaxed_search`). `dependence` prunes calls that
commute, `plan` lays out the operations, `trace` records how a configuration came about, and
`replay` checks an order that somebody proposes.

**Source.** Wing and Gong, "Testing and verifying concurrent objects", 1993; Lowe, "Testing for
linearizability", 2017.

**Time and memory.** Exponential in c and u at worst; memory grows with the visited configurations.

**Unknown** if the key's memory or time is used up.
"""
