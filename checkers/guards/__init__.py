"""Guards against a vacuous pass: a run with too few faults or operations proves nothing.

Pure functions over the facts of a run (`facts`), its fault events and its operations. A run is
tallied first (`tally`), by the inline engine as a whole and on Spark piece by piece; the sentences
of what speaks against a pass (`doubts`) come from the sums, so that both engines say the same.
"""
