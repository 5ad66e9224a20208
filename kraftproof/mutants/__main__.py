"""`python -m kraftproof.mutants ID -- server.properties`: run a reference node with a planted bug.

`python -m kraftproof.mutants --list` lists all mutants with the hashes of their edits.
"""

import importlib
import sys
from collections.abc import Sequence

from kraftproof import mutants

USAGE = (
    "usage: python -m kraftproof.mutants ID -- server.properties [--hosts-file FILE]\n"
    "       python -m kraftproof.mutants --list"
)


def run(arguments: Sequence[str]) -> int:
    """Run a node with a bug; return the exit status of the node, 1 for wrong arguments."""
    if list(arguments) == ["--list"]:
        for mutant in mutants.ALL:
            sys.stdout.write(f"{mutant.mutant_id:<16} {mutant.fingerprint}  {mutant.title}\n")
        return 0
    if len(arguments) < 3 or arguments[1] != "--":
        sys.stderr.write(USAGE + "\n")
        return 1
    try:
        mutants.install(arguments[0])
    except (mutants.UnknownMutantError, mutants.MutantMismatchError) as error:
        sys.stderr.write(f"{error.args[0]}\n")
        return 1
    status: int = importlib.import_module("kraftproof.node.server.main").run(list(arguments[2:]))
    return status


if __name__ == "__main__":
    sys.exit(run(sys.argv[1:]))
