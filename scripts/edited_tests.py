"""Run tests on source that was edited in memory, in the process that calls this module."""

import sys
from collections.abc import Sequence

import pytest

from kraftproof.mutants.hook import install_edits
from kraftproof.mutants.mutant import Mutant

NOT_IMPORTED = 20
"""Exit status if the tests passed without an import of the edited module, so without evidence."""


def run_edited(mutant: Mutant, tests: Sequence[str], plugins: Sequence[object] = ()) -> int:
    """Install the edits, run the tests up to the first failure, and return pytest's exit status.

    Pytest must not rewrite assertions: its import hook takes all of `kraftproof`, since the name is
    a plug-in's, and loads the module from the file, unedited.
    """
    install_edits(mutant)
    options = ["-q", "-x", "-p", "no:cacheprovider", "--assert=plain", "-m", "not slow", *tests]
    status = int(pytest.main(options, plugins=plugins))
    edited = [getattr(sys.modules.get(module), "__mutant__", None) for module in mutant.modules]
    return NOT_IMPORTED if status == 0 and None in edited else status
