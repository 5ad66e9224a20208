"""A distribution of plug-ins, each right but for the methods that a test replaces."""

import textwrap
from pathlib import Path

PARTS = {
    "system": (
        """
        from kraftproof.cluster.systems.reference.system import ReferenceSystem
        from {package}.client import Client

        class System(ReferenceSystem):
            name = "{package}"

            def client(self, cluster, workload, random):
                return Client(cluster, random)
        """
    ),
    "client": (
        """
        from kraftproof.cluster.systems.reference.topics import TopicsClient
        from kraftproof.cluster.systems.system import Completion, Outcome

        class Client(TopicsClient):
            name = "{package}"
        """
    ),
    "workload": (
        """
        from kraftproof.workloads.topics import Topics

        class Workload(Topics):
            name = "{package}"
            model = "{package}"
        """
    ),
    "fault": (
        """
        from dataclasses import dataclass
        from kraftproof.nemesis.pause import Pause

        @dataclass(frozen=True, slots=True, kw_only=True)
        class Fault(Pause):
            kind = "{package}"
        """
    ),
    "planner": (
        """
        from {package}.fault import Fault

        class Planner:
            def __call__(self, random, nodes, /) -> Fault:
                return Fault(target=random.choice([node.node_id for node in nodes]))

        plan = Planner()
        """
    ),
    "model": (
        """
        from kraftproof.checkers.models.topics import Topics
        from kraftproof.checkers.models import SequentialModel

        class Model(SequentialModel):
            name = "{package}"
            functions = Topics.functions

            def validate(self, operation):
                pass

            def init(self):
                return 0

            def calls(self, operations):
                return [(operation.f,) for operation in operations]

            def step(self, state, call):
                return state

            def is_pure(self, call):
                return True

            def describe(self, state):
                return str(state)
        """
    ),
}
ENTRY_POINTS = """
[kraftproof.systems]
{package} = {package}.system:System
[kraftproof.workloads]
{package} = {package}.workload:Workload
[kraftproof.faults]
{package} = {package}.planner:plan
[kraftproof.models]
{package} = {package}.model:Model
"""


def install(site: Path, package: str, replaced: dict[str, str]) -> None:
    """Write the package as pip would: files and metadata; a part is continued by its replacement.

    A replacement that begins with `#!` stands for the whole file.
    """
    folder = site / package
    folder.mkdir(parents=True)
    (folder / "__init__.py").touch()
    for part, source in PARTS.items():
        text = textwrap.dedent(source.format(package=package))
        given = textwrap.dedent(replaced.get(part, "")).strip()
        if given.startswith("#!"):
            text = given + "\n"
        elif given:
            text += textwrap.indent(given, "    ") + "\n"
        (folder / f"{part}.py").write_text(text, encoding="utf-8")
    metadata = site / f"{package}-1.0.dist-info"
    metadata.mkdir()
    (metadata / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {package}\nVersion: 1.0\n")
    (metadata / "entry_points.txt").write_text(ENTRY_POINTS.format(package=package))
