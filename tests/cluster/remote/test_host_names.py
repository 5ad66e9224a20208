"""Host names that a system gives to its nodes: each is a name, of one node."""

import pytest

from kraftproof.cluster.plugin import PluginError
from kraftproof.cluster.protocol import NodeInfo, nodes_of
from kraftproof.cluster.remote.plan import host_names_of
from kraftproof.cluster.systems.reference.system import ReferenceSystem

NODES = nodes_of(controller=1, broker=1)


class Named(ReferenceSystem):
    """The reference system with the names of a test."""

    def __init__(self, *names: object) -> None:
        self.names = names

    def host_names(self, node: NodeInfo) -> tuple[str, ...]:
        return self.names[node.node_id - 1]  # type: ignore[return-value] # may be wrong


def test_each_node_has_its_names() -> None:
    assert host_names_of(Named(("a", "b.c"), ()), NODES) == {1: ("a", "b.c"), 2: ()}
    assert host_names_of(Named(("a", "a"), ("b",)), NODES) == {1: ("a", "a"), 2: ("b",)}


@pytest.mark.parametrize(
    ("first", "second", "said"),
    [
        ("alpha", (), "host_names returned 'alpha'; a tuple of host names is expected"),
        (("a b",), (), "host_names returned ('a b',); a tuple of host names is expected"),
        (("",), (), "host_names returned ('',); a tuple of host names is expected"),
        (("a", 7), (), "host_names returned ('a', 7); a tuple of host names is expected"),
        (("db",), ("db",), "raised ValueError: 'db' is the name of node 1 and node 2"),
    ],
)
def test_other_names_are_refused_in_one_line(first: object, second: object, said: str) -> None:
    with pytest.raises(PluginError) as refused:
        host_names_of(Named(first, second), NODES)
    assert said in str(refused.value)
