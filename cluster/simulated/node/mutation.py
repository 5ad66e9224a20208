"""Refuses a mutant that the node's code in this process does not contain."""

import importlib
import sys

from kraftproof.cluster.protocol import ClusterError


def refuse_unmutated(mutant: str | None) -> None:
    """Raise unless the mutant was planted before the node's code was imported.

    Raises:
        ClusterError: the node's code is imported already, without the mutant.
    """
    if mutant is None:
        return
    # the comparisons load modules that no simulated node needs, such as the real disk
    importlib.import_module("kraftproof.cluster.simulated.differential.catalogue")
    names = [name for name in sys.modules if name.startswith("kraftproof.node.")]
    loaded = (sys.modules[name] for name in names)
    if all(getattr(module, "__mutant__", None) != mutant for module in loaded):
        raise ClusterError(f"mutant {mutant}: call mutants.install before anything of node loads")
