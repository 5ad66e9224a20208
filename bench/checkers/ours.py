"""Our engines as the bench's peers are: histories in memory, all checked for each line of input.

A check starts from the table of operations, as the peers' starts from their list of them: parting
it by key and turning values into numbers are in the time. See bench/checkers/peers for the form of
what is printed.
"""

import json
import os
import sys
import time
from pathlib import Path

from kraftproof.checkers.history.columns import columns_of
from kraftproof.checkers.history.read import operations_table_of
from kraftproof.checkers.judge.keys import judge_columns
from kraftproof.checkers.models import model_named
from kraftproof.checkers.options import CheckOptions, Limits
from kraftproof.checkers.verdict import Verdict, verdict_of_keys

LIMIT_S = 60.0


def main() -> None:
    """Serve checks until the input ends."""
    model = model_named(sys.argv[1])
    tables = [operations_table_of(Path(path)) for path in sys.argv[2:]]
    options = CheckOptions(limits=Limits(seconds=LIMIT_S), processes=os.cpu_count() or 1)
    print(json.dumps({"ready": True}), flush=True)
    for _ in sys.stdin:
        started = time.perf_counter()
        found = [
            verdict_of_keys(judge_columns(model, columns_of(table), options)) for table in tables
        ]
        seconds = time.perf_counter() - started
        counts = {str(name): found.count(name) for name in (Verdict.INVALID, Verdict.UNKNOWN)}
        print(json.dumps({"seconds": seconds, **counts}), flush=True)


if __name__ == "__main__":
    main()
