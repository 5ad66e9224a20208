"""Generate mutants of the node: small edits of the source, which type-check and import.

candidates.py lists the edits of each operator, sampling.py draws mutants from the edits,
and trial.py runs the search on a mutant. See kraftproof/commands/mutate.py for the command.
"""
