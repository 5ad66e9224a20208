"""The import hook that edits the source of a module before the module is compiled.

Neither source nor byte code is written to disk. An edited module has the mutant's id as
`__mutant__`, so a backend can verify the edit.
"""

import sys
from collections.abc import Sequence
from importlib.abc import MetaPathFinder
from importlib.machinery import ModuleSpec, PathFinder, SourceFileLoader
from types import CodeType, ModuleType

from typing_extensions import override

from kraftproof.mutants.mutant import Mutant


class LateMutantError(RuntimeError):
    """A module to edit is already imported."""


class MutatingLoader(SourceFileLoader):
    """A loader that compiles a module from its edited source."""

    def __init__(self, fullname: str, path: str, mutant: Mutant) -> None:
        super().__init__(fullname, path)
        self._mutant = mutant

    @override
    def get_code(self, fullname: str) -> CodeType:
        path = self.get_filename(fullname)
        source = self.get_data(path).decode()
        code: CodeType = self.source_to_code(self._mutant.mutate(fullname, source).encode(), path)
        return code

    @override
    def exec_module(self, module: ModuleType) -> None:
        module.__dict__["__mutant__"] = self._mutant.mutant_id
        super().exec_module(module)


class MutatingFinder(MetaPathFinder):
    """A finder of the modules that a mutant edits; comes before all other finders."""

    def __init__(self, mutant: Mutant) -> None:
        self.mutant = mutant

    @override
    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        if fullname not in self.mutant.modules:
            return None
        spec = PathFinder.find_spec(fullname, path, target)
        if spec is not None and spec.origin is not None:
            spec.loader = MutatingLoader(fullname, spec.origin, self.mutant)
        return spec


def install_edits(mutant: Mutant) -> None:
    """Edit the modules of the mutant at their imports from now on.

    Raises:
        LateMutantError: a module to edit is already imported.
        MutantMismatchError: an edit does not fit the source of its module.
    """
    late = [module for module in mutant.modules if module in sys.modules]
    if late:
        raise LateMutantError(f"mutant {mutant.mutant_id}: {', '.join(late)} is imported already")
    for module in mutant.modules:
        mutant.mutate(module, source_of(module))
    sys.meta_path.insert(0, MutatingFinder(mutant))


def source_of(module: str) -> str:
    """Return the source of a module without an import of the module or its packages."""
    path: Sequence[str] | None = None
    parts = module.split(".")
    for depth in range(1, len(parts) + 1):
        spec = PathFinder.find_spec(".".join(parts[:depth]), path)
        if spec is None or spec.origin is None:
            raise ModuleNotFoundError(f"there is no module {module} to mutate")
        path = spec.submodule_search_locations
        if depth == len(parts):
            with open(spec.origin, encoding="utf-8") as file:
                return file.read()
    raise AssertionError("a module's name has parts")
