"""The systems under test by name: ours, those of installed packages, and a class in a file.

A system of ours is one line in SYSTEMS. Another package's is an entry point of the group
`kraftproof.systems`, and anybody's is `path/to/file.py:Class` or `compose:docker-compose.yml`.
"""

from collections.abc import Mapping
from importlib.metadata import EntryPoint, entry_points
from typing import Final

from kraftproof.cluster.compose_reference import is_compose
from kraftproof.cluster.plugin import PluginLoadError, loaded, origin_of
from kraftproof.cluster.plugin_attributes import require_attributes
from kraftproof.cluster.plugin_file import is_in_file, loaded_from_file
from kraftproof.cluster.systems.attributes import ATTRIBUTES
from kraftproof.cluster.systems.system import System, SystemUnavailableError
from kraftproof.spelling import nearest

ENTRY_POINTS: Final = "kraftproof.systems"
PLACE_OF_RELEASE: Final = "a release is given by --system-version VERSION"
CALLS: Final = ("prepare", "client", "roles", "rows")
"""The methods of a system."""

SYSTEMS: Final[Mapping[str, str]] = {
    "reference": "kraftproof.cluster.systems.reference.system:ReferenceSystem",
    "apache-kafka": "kraftproof.cluster.systems.apache_kafka.system:ApacheKafka",
    "mixed": "kraftproof.cluster.systems.mixed.system:MixedSystem",
}
"""The class of each system of ours; a system is imported when it is asked for."""


def make_system(name: str) -> System:
    """Return a new instance of a system for one run.

    Raises:
        SystemUnavailableError: no system has the name.
        PluginLoadError: it can't be imported or made, lacks a method, or has an attribute of a
            wrong kind.
    """
    if is_compose(name):
        from kraftproof.cluster.systems.compose.system import compose_system

        return compose_system(name)
    made: System
    if is_in_file(name):
        made = loaded_from_file("system", name, ())
    else:
        made = loaded("system", _entry_point(name), ())
    _refuse_other_kind(name, made)
    if name not in SYSTEMS:
        require_attributes("system", name, made, ATTRIBUTES)
    return made


def _refuse_other_kind(name: str, made: object) -> None:
    """Refuse an object that is no system, or that replaces a method by something else.

    Raises:
        PluginLoadError: one line.
    """
    if not isinstance(made, System):
        base = f"{System.__module__}.{System.__qualname__}"
        raise PluginLoadError(f"system {name}: {origin_of(made)} is no subclass of {base}")
    for call in CALLS:
        if not callable(getattr(made, call, None)):
            raise PluginLoadError(f"system {name}: {origin_of(made)} has no method {call}")


def _entry_point(name: str) -> EntryPoint:
    if name in SYSTEMS:
        return EntryPoint(name=name, value=SYSTEMS[name], group=ENTRY_POINTS)
    points = sorted(entry_points(group=ENTRY_POINTS), key=lambda point: point.name)
    for point in points:
        if point.name == name:
            return point
    known = [*SYSTEMS, *(point.name for point in points)]
    if name.partition(":")[0] in known:
        raise SystemUnavailableError(f"unknown system {name!r}: {PLACE_OF_RELEASE}")
    raise SystemUnavailableError(
        f"unknown system {name!r}{nearest(name, known)}: one of {', '.join(known)}, "
        "path/to/file.py:Class, or compose:docker-compose.yml"
    )
