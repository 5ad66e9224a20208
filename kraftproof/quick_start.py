"""Keeps a short command short: leaves out what it would import for nothing, and runs gc seldom.

Only for the command's own process: a process of somebody else, such as pytest's, is left as it is.
"""

import gc
import os
import sys
from collections.abc import Sequence
from importlib.machinery import ModuleSpec
from types import ModuleType
from typing import Final

GC_THRESHOLD: Final = 50_000
"""New objects between two collections; imports make hundreds of thousands that stay."""


def collect_seldom() -> None:
    """Have garbage collected less often, and BLAS start no threads that nothing here uses."""
    gc.set_threshold(GC_THRESHOLD, 20, 100)
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")


def without_pandas() -> None:
    """Have pyarrow find no pandas at its first look, which costs most of a second.

    pyarrow looks for pandas when the first array is made of a list. It looks again when somebody
    asks for a pandas object, so that `to_pandas` still works.
    """
    if "pandas" in sys.modules:
        return
    hiding = _Hiding()
    sys.meta_path.insert(0, hiding)
    try:
        import pyarrow as pa

        pa.array([])
    finally:
        sys.meta_path.remove(hiding)


class _Hiding:
    """A finder of modules that says of pandas that there is none."""

    def find_spec(
        self, name: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """Return None for all other modules, so that the next finder is asked."""
        del path, target
        if name == "pandas":
            raise ModuleNotFoundError(name, name=name)
        return None
