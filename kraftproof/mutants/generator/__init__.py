"""Generate mutants of the node: small edits of its source that type-check and import.

candidates.py lists every edit that an operator offers, sampling.py draws mutants from the edits,
and trial.py runs the search on a mutant. See kraftproof/commands/mutate.py for the command.
"""
