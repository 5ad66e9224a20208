"""Lists, sets and logs that only grow: list-append, growing sets, append-only logs.

**Problem.** Strict serializability of transactions that append to lists and read whole lists, and
linearizability of sets and logs that grow.

**Algorithm.** A read shows the order of a list up to its length, so all precedences are known: the
history is legal if their graph has no cycle (`graph`, with edges from `edges` and orders from
`order`); `anomalies` names a cycle as Elle does. `repeated` decides lists to which equal elements
are appended. `growing_sets` orders reads by size, `append_log` sweeps offsets over real time.

**Source.** Kingsbury and Alvaro, "Elle: inferring isolation anomalies from experimental
observations", 2020.

**Time and memory.** O(n + elements read) a decision, log n decisions if invalid; O(n + elements).

**Unknown** never; transactions that append equal elements, and sets with repeated adds, are left to
the general engine.
"""
