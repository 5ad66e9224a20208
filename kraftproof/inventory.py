"""Everything that a name on the command line can mean: ours, and what installed packages bring.

One place lists the kinds of plug-in with their entry-point groups; `kraftproof list` and
`kraftproof --help` read it. A plug-in that does not import is listed with the reason.
"""

import inspect
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from importlib.metadata import EntryPoint, entry_points
from typing import TYPE_CHECKING, Final

from kraftproof.spelling import nearest

if TYPE_CHECKING:
    from kraftproof.checkers.models import Model

OURS: Final = "kraftproof"
"""The distribution whose plug-ins are Kraftproof's own."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Item:
    """A named entry of a registry, such as a workload or a fault.

    Attributes:
        name: The name, as an option takes it.
        summary: The first line of its documentation, or why it does not import.
        source: The package that brings it, with its version; `kraftproof` for ours.
        backends: Which backends can do it, for a fault, or run it, for a system; else empty.
        models: The models of an engine; else empty.
    """

    name: str
    summary: str
    source: str = OURS
    backends: tuple[str, ...] = ()
    models: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Kind:
    """A kind of thing that has names.

    Attributes:
        name: The plural, as `kraftproof list` takes it.
        option: The option for a name of this kind, or None.
        group: The entry-point group of installed ones; None where packages can add none.
        ours: Returns those of ours.
    """

    name: str
    option: str | None
    group: str | None
    ours: Callable[[], list[Item]]

    def items(self) -> list[Item]:
        """Return ours, then the installed ones, by name."""
        return [*self.ours(), *(installed_item(point) for point in self.installed())]

    def installed(self) -> list[EntryPoint]:
        """Return the entry points of other packages, by name."""
        if self.group is None:
            return []
        found = [point for point in entry_points(group=self.group) if not _is_ours(point)]
        return sorted(found, key=lambda point: point.name)


def installed_item(point: EntryPoint) -> Item:
    """Return an installed plug-in; its module is imported for its documentation."""
    source = (
        "an unnamed package" if point.dist is None else f"{point.dist.name} {point.dist.version}"
    )
    try:
        loaded = point.load()
        summary, models = first_line(loaded), tuple(map(str, getattr(loaded, "models", ())))
    except Exception as error:  # noqa: BLE001 - a plug-in may raise anything when it is imported
        reason = (str(error).strip().splitlines() or ["no reason given"])[0]
        summary, models = f"does not import: {type(error).__name__}: {reason}", ()
    return Item(name=point.name, summary=summary, source=source, models=models)


def first_line(value: object) -> str:
    """Return the first line of a value's documentation."""
    return (inspect.getdoc(value) or "").partition("\n")[0]


def installed_names() -> list[str]:
    """Return `kind name (package)` for each plug-in of another package, importing none."""
    return [
        f"{kind.name.removesuffix('s')} {point.name}"
        + (f" ({point.dist.name})" if point.dist is not None else "")
        for kind in KINDS
        for point in kind.installed()
    ]


def _is_ours(point: EntryPoint) -> bool:
    return point.dist is not None and point.dist.name == OURS


def _workloads() -> list[Item]:
    from kraftproof.workloads.catalogue import ours

    return [Item(name=name, summary=first_line(made)) for name, made in ours().items()]


def _systems() -> list[Item]:
    from kraftproof.cluster.systems.registry import SYSTEMS, make_system

    return [
        Item(name=name, summary=first_line(type(system)), backends=tuple(system.backends))
        for name, system in ((name, make_system(name)) for name in SYSTEMS)
    ]


def _models() -> list[Item]:
    points = sorted(entry_points(group="kraftproof.models"), key=lambda point: point.name)
    made: dict[str, Model] = {point.name: point.load()() for point in points if _is_ours(point)}
    return [
        Item(name=name, summary=f"{first_line(type(model))} {_operations(model)}")
        for name, model in made.items()
    ]


def _operations(model: "Model") -> str:
    return f"[{', '.join(sorted(model.functions))}]"


def _engines() -> list[Item]:
    from kraftproof.checkers.engines.own import OWN

    return [Item(name=one.name, summary=one.summary, models=one.models) for one in OWN]


def _backends() -> list[Item]:
    from kraftproof.options import BACKENDS
    from kraftproof.run.backends import make_backend

    return [Item(name=name, summary=first_line(type(make_backend(name)))) for name in BACKENDS]


def _faults() -> list[Item]:
    from kraftproof.nemesis.catalogue import ours
    from kraftproof.options import BACKENDS
    from kraftproof.run.backends import make_backend

    able = {name: make_backend(name).capabilities for name in BACKENDS}
    return [
        Item(
            name=name,
            summary=first_line(kind),
            backends=tuple(backend for backend, can in able.items() if kind.requires in can),
        )
        for name, kind in ours().items()
    ]


KINDS: Final = (
    Kind(name="backends", option="--backend", group=None, ours=_backends),
    Kind(name="systems", option="--system", group="kraftproof.systems", ours=_systems),
    Kind(name="workloads", option="--workload", group="kraftproof.workloads", ours=_workloads),
    Kind(name="faults", option="--nemesis", group="kraftproof.faults", ours=_faults),
    Kind(name="models", option="--model", group="kraftproof.models", ours=_models),
    Kind(name="engines", option=None, group="kraftproof.engines", ours=_engines),
)


def kinds_named(name: str | None) -> Iterable[Kind]:
    """Return the kind of that name, or all kinds if none is named.

    Raises:
        ValueError: there is no such kind.
    """
    chosen = [kind for kind in KINDS if name in {None, kind.name}]
    if not chosen:
        known = [kind.name for kind in KINDS]
        raise ValueError(
            f"{name}: no such kind{nearest(name, known)}; one of {', '.join(known)} is expected"
        )
    return chosen
