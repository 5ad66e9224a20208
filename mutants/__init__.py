"""Real, documented bugs as source edits of the node (FAULTS), applied by an import hook."""
