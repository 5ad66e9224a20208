"""The contracts of .importlinter hold, and node.core imports only the modules of a list.

A contract forbids; the core needs the other way round, a list of all that is allowed.
"""

import subprocess
import sys
from pathlib import Path

import grimp
import pytest

ROOT = Path(__file__).resolve().parents[2]
CORE_MAY_USE = (
    "kraftproof.node.core",
    "kraftproof.node.wire.messages",
    "kraftproof.node.wire.records.batch",
    "kraftproof.node.wire.records.control",
    "kraftproof.node.wire.records.field",
    "kraftproof.node.wire.records.metadata",
    "kraftproof.node.wire.records.raw_batch",
    "kraftproof.node.wire.records.raw_records",
    "kraftproof.node.wire.records.unknown_record",
    "kraftproof.node.wire.types",
    "kraftproof.node.wire.errors",
    "kraftproof.node.wire.principal",
    "kraftproof.node.wire.unknown_tags",
)
CORE_MAY_INSTALL = frozenset({"immutables", "msgspec", "scramp", "typing_extensions"})


def within(module: str, packages: tuple[str, ...]) -> bool:
    return any(module == package or module.startswith(f"{package}.") for package in packages)


def core_may_import(module: str) -> bool:
    top = module.split(".", maxsplit=1)[0]
    if top == "kraftproof":
        return within(module, CORE_MAY_USE)
    return top in sys.stdlib_module_names or top in CORE_MAY_INSTALL


def test_import_contracts_are_kept() -> None:
    command = [str(Path(sys.executable).with_name("lint-imports")), "--no-logo"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


def test_core_imports_only_what_it_may() -> None:
    graph = grimp.build_graph(
        "kraftproof",
        include_external_packages=True,
        cache_dir=None,
        exclude_type_checking_imports=False,
    )
    core = sorted(module for module in graph.modules if within(module, ("kraftproof.node.core",)))
    assert core, "node.core has no modules: this test would prove nothing"
    strays = [
        f"{module} imports {imported}"
        for module in core
        for imported in sorted(graph.find_modules_directly_imported_by(module))
        if not core_may_import(imported)
    ]
    assert strays == []


@pytest.mark.parametrize(
    ("module", "allowed"),
    [
        ("kraftproof.node.core.raft.roles", True),
        ("kraftproof.node.wire.messages.vote_request", True),
        ("kraftproof.node.wire.codec", False),
        ("kraftproof.node.wire.records.batches", False),
        ("kraftproof.node.wire.messages_of_another_name", False),
        ("kraftproof.node.storage", False),
        ("kraftproof.cluster", False),
        ("dataclasses", True),
        ("msgspec", True),
        ("kio", False),
    ],
)
def test_list_of_what_core_may_import(module: str, allowed: bool) -> None:
    assert core_may_import(module) is allowed
