"""The seed from which on each mutant is found, and what noticed when that was recorded.

`python -m tests.kraftproof.mutants.recorded [ID...]` searches again and writes recorded.json,
for after a change of the node or of what the simulation draws.
"""

import json
import os
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from kraftproof import mutants
from kraftproof.mutants.search import Searcher, SeedRange

FILE = Path(__file__).with_name("recorded.json")
RECORDED = json.loads(FILE.read_text(encoding="utf-8"))
BUDGET_S = 112
TRIES = 3
"""The cheapest find of so many is recorded, as every `make test` repeats it."""


def in_parallel(search, arguments):
    """Return what a search gives for each of these arguments, one of them a core at a time."""
    with ThreadPoolExecutor(max_workers=len(os.sched_getaffinity(0))) as pool:
        return list(pool.map(lambda each: search(*each), arguments))


def record(searcher, mutant_id):
    """Return the cheapest find of a mutant as JSON, or None."""
    workload = mutants.load(mutant_id).workload
    ranges = SeedRange(0, None).repeated(TRIES)
    searches = [searcher.find(mutant_id, seeds, workload) for seeds in ranges]
    finds = [search for search in searches if search.is_found]
    if not finds:
        return None
    cheapest = min(finds, key=lambda search: search.cpu_s)
    return {"seed": cheapest.seed, "by": cheapest.by, "cpu_s": round(cheapest.cpu_s, 1)}


def main(ids):
    found = dict(RECORDED)
    wanted = ids or mutants.IDS
    searcher = Searcher(BUDGET_S)
    recorded = in_parallel(record, [(searcher, mutant_id) for mutant_id in wanted])
    for mutant_id, one in zip(wanted, recorded, strict=True):
        print(f"{mutant_id:<16} {one or 'missed: what was recorded stays'}")
        if one is not None:
            found[mutant_id] = one
    kept = {mutant_id: found[mutant_id] for mutant_id in mutants.IDS if mutant_id in found}
    FILE.write_text(json.dumps(kept, indent=1) + "\n", encoding="utf-8")
    return 0 if sorted(kept) == sorted(mutants.IDS) else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
