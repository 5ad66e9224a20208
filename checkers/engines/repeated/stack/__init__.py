"""Stacks whose elements may be equal, or whose takes are indeterminate.

**Problem.** NP-complete.

**Algorithm.** `graph` sweeps over all states; states share what lies below their top, as in a
graph-structured stack. `beam` searches the same graph with bounded width. `stack` refutes by
counting and by the elements that are put once, and combines all of these; `order` returns an order
for explanations and replays it.

**Source.** Tomita, "An efficient augmented-context-free parsing algorithm", 1987; Lowerre, 1976;
Lowe, 2017.

**Time and memory.** O(n c) with bounded width, exponential at worst; some hundred bytes a step of
the kept states.

**Unknown** if the sweep does not fit and no order is found.
"""
