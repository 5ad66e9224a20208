"""Make Python's TLS contexts from the configuration; keys go through memory, never to a disk."""

import os
import ssl
from typing import Final

from kraftproof.node.properties.keys import ConfigError
from kraftproof.node.properties.tls import ClientAuth, TlsConfig

_VERIFY: Final = {
    ClientAuth.NONE: ssl.CERT_NONE,
    ClientAuth.REQUESTED: ssl.CERT_OPTIONAL,
    ClientAuth.REQUIRED: ssl.CERT_REQUIRED,
}
_VERSIONS: Final = {"TLSv1.2": ssl.TLSVersion.TLSv1_2, "TLSv1.3": ssl.TLSVersion.TLSv1_3}


def server_context(config: TlsConfig) -> ssl.SSLContext:
    """Return the context of a listener.

    Raises:
        ConfigError: the key does not fit its certificate, or a text is no PEM.
    """
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.verify_mode = _VERIFY[config.client_auth]
    context.options |= ssl.OP_NO_RENEGOTIATION
    _load(context, config)
    return context


def client_context(config: TlsConfig) -> ssl.SSLContext:
    """Return the context of connections to other nodes.

    Raises:
        ConfigError: the key does not fit its certificate, or a text is no PEM.
    """
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.check_hostname = config.checks_host
    if config.trusted is None:
        context.load_default_certs()
    _load(context, config)
    return context


def _load(context: ssl.SSLContext, config: TlsConfig) -> None:
    versions = [_VERSIONS[version] for version in config.versions]
    context.minimum_version, context.maximum_version = min(versions), max(versions)
    if config.trusted is not None:
        try:
            context.load_verify_locations(cadata=config.trusted)
        except ssl.SSLError as error:
            raise ConfigError("ssl.truststore: holds a certificate that is no PEM") from error
    if config.key_and_chain is None:
        return
    password = config.key_password
    file = os.memfd_create("key", os.MFD_CLOEXEC)
    try:
        os.write(file, config.key_and_chain.value.encode())
        # An empty password fails at once; without a password OpenSSL would ask at the terminal.
        context.load_cert_chain(
            f"/proc/self/fd/{file}", password="" if password is None else password.value
        )
    except ssl.SSLError as error:
        raise ConfigError(
            "ssl.keystore: key and certificate do not fit together, or ssl.key.password is wrong"
        ) from error
    finally:
        os.close(file)
