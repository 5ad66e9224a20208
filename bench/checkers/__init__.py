"""Our checkers beside Porcupine and porcupine-rs, on the same histories in the same run.

`python -m bench.checkers` makes the histories, builds the peers, measures, and prints the page
docs/benchmarks/checkers.md. Both sides stay up with a history in memory and check it in turns:
that is the check alone, warm. Whole commands, reading the file included, are the other column.
"""
