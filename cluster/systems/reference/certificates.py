"""Certificates of a run whose listeners have TLS: an authority, its nodes, and the harness.

The authority lives as long as the run, and signs a certificate for each node and one for the
harness. Nodes ask clients for certificates: whoever has one is the super user (KIP-371). The
private keys stand in the nodes' server.properties only.
"""

import ssl
from typing import TYPE_CHECKING, Final

from kraftproof.cluster.systems.deployment import Site
from kraftproof.cluster.systems.system import SystemUnavailableError

if TYPE_CHECKING:
    import trustme

SUBJECT: Final = "kraftproof"
"""Common name of all certificates, which the mapping rule makes the name of the user."""
MAPPING_RULES: Final = "RULE:^CN=([^,]+).*$/$1/,DEFAULT"
_KEY_END: Final = "-----BEGIN CERTIFICATE"


class Certificates:
    """The certificates of one run."""

    def __init__(self) -> None:
        """Draw the key of the authority.

        Raises:
            SystemUnavailableError: the extra tls is missing.
        """
        try:
            import trustme
        except ImportError as error:
            raise SystemUnavailableError(
                "TLS needs the extra tls: pip install 'kraftproof[tls]'"
            ) from error
        self._authority = trustme.CA()
        self._trusted = self._authority.cert_pem.bytes().decode()
        self._client: ssl.SSLContext | None = None

    def client_context(self) -> ssl.SSLContext:
        """Return the context of the harness's clients: its own certificate, and the authority."""
        if self._client is None:
            context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
            context.load_verify_locations(cadata=self._trusted)
            self._issued("harness.example").configure_cert(context)
            self._client = context
        return self._client

    def entries(self, site: Site) -> dict[str, str]:
        """Return the entries of a node's server.properties: PEM texts, on one line each."""
        names = {
            name
            for address in site.addresses[site.node.node_id].values()
            for name in (address.host, address.peer_host)
        }
        key, chain = _key_and_chain(self._issued(*sorted(names)))
        return {
            "ssl.keystore.type": "PEM",
            "ssl.keystore.key": _one_line(key),
            "ssl.keystore.certificate.chain": _one_line(chain),
            "ssl.truststore.type": "PEM",
            "ssl.truststore.certificates": _one_line(self._trusted),
            "ssl.client.auth": "requested",
            "ssl.principal.mapping.rules": MAPPING_RULES,
        }

    def _issued(self, *names: str) -> "trustme.LeafCert":
        return self._authority.issue_cert(*names, common_name=SUBJECT)


def _key_and_chain(issued: "trustme.LeafCert") -> tuple[str, str]:
    """Return the private key in PKCS 8, as Kafka's PEM stores have it, and the certificates."""
    from cryptography.hazmat.primitives import serialization as forms

    pem = issued.private_key_and_cert_chain_pem.bytes()
    key = forms.load_pem_private_key(pem, None).private_bytes(
        forms.Encoding.PEM, forms.PrivateFormat.PKCS8, forms.NoEncryption()
    )
    return key.decode(), pem[pem.index(_KEY_END.encode()) :].decode()


def _one_line(pem: str) -> str:
    """Return a PEM text with its line ends escaped, as a properties file has them."""
    return pem.strip().replace("\r", "").replace("\n", "\\n")
