"""The health of live nodes, watched beside the history under every workload.

Each module has one promise of every system: answers come once and in order, nodes stay up, nodes
log no fatal fault, no answer is an internal error, a replaced leader resigns, and the cluster is
ready again after the last heal. A broken promise is a violation in outcome.json, as an invariant of
the simulator is. The package `checkers` judges the violations.
"""
