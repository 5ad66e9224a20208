"""Engines decide whether the calls of a history have a legal order that keeps real time.

**Problem.** A history is linearizable if its calls have an order that is legal for the model and in
which a call that completed before the invocation of another call precedes it (Herlihy and Wing,
"Linearizability", 1990). The question is NP-complete in general (Gibbons and Korach, "Testing
shared memories", 1997), and easy for many kinds of histories.

**Layout.** `registry` maps calls to engines; `types` has the outcome of a key and the protocol of
an engine. Each family of engines is one folder, whose docstring states the problem, the algorithm,
its source, time, memory, and when the answer is unknown. `repeated` has the searches for histories
in which elements or values occur several times. `kernels` has the algorithms that families share.

**Arrows.** registry | types < kernels < repeated < families. A family imports no other family.

In all folders, n is the number of calls of a key, c the number of open calls at a time,
and u the number of indeterminate calls: those that may take effect at any later time, or never.
"""
