"""Hold the principal builder of the process (KIP-590 "KafkaPrincipal").

A process has one builder, installed before its first connection. The listeners and the connections
to other nodes use the same builder, since an Envelope must be readable by each node.
"""

from kraftproof.node.wire.principal import DEFAULT_PRINCIPALS, PrincipalBuilder

_builder: list[PrincipalBuilder] = [DEFAULT_PRINCIPALS]


def principal_builder() -> PrincipalBuilder:
    """Return the builder of this process."""
    return _builder[0]


def install_principal_builder(builder: PrincipalBuilder) -> None:
    """Use a builder from now on."""
    _builder[0] = builder
