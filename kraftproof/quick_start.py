"""Shorten the start of a command: skip needless imports, and collect garbage seldom.

Processes of our own call these functions: the command, and our tests. A host process does not.
"""

import gc
import os
import sys
from collections.abc import Sequence
from importlib.machinery import ModuleSpec
from types import ModuleType
from typing import Final

GC_THRESHOLD: Final = 50_000
"""New objects between two garbage collections; imports make hundreds of thousands of objects."""


def collect_seldom() -> None:
    """Collect garbage less often, and keep BLAS from starting unused threads."""
    gc.set_threshold(GC_THRESHOLD, 20, 100)
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")


def without_pandas() -> None:
    """Hide pandas from the first import attempt of pyarrow, which costs most of a second.

    pyarrow tries to import pandas when the first array is made of a list, and again when a pandas
    object is requested, so `to_pandas` still works.
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
    """A module finder that reports pandas as missing."""

    def find_spec(
        self, name: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """Refuse pandas; return None for any other module, which the next finder imports."""
        del path, target
        if name == "pandas":
            raise ModuleNotFoundError(name, name=name)
        return None
