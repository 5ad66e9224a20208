"""Print the subject of a certificate as RFC 2253 has it, as Kafka names users of mutual TLS."""

from collections.abc import Mapping
from typing import Any, Final

_KEYWORDS: Final[Mapping[str, str]] = {
    "2.5.4.3": "CN",
    "2.5.4.6": "C",
    "2.5.4.7": "L",
    "2.5.4.8": "ST",
    "2.5.4.9": "STREET",
    "2.5.4.10": "O",
    "2.5.4.11": "OU",
    "0.9.2342.19200300.100.1.1": "UID",
    "0.9.2342.19200300.100.1.25": "DC",
}
"""The attributes with a keyword; any other is an object identifier and hexadecimal digits."""
_ESCAPED: Final = frozenset(',+"\\<>;')


def subject_of(certificate: bytes) -> str:
    """Return the subject of a certificate in DER, the most specific part first."""
    from asn1crypto.x509 import Certificate

    names = Certificate.load(certificate).subject.chosen
    return ",".join("+".join(map(_attribute, name)) for name in reversed(list(names)))


def _attribute(pair: Any) -> str:  # noqa: ANN401 - the library has no types
    identifier = pair["type"].dotted
    keyword = _KEYWORDS.get(identifier)
    if keyword is None:
        return f"{identifier}=#{pair['value'].dump().hex()}"
    return f"{keyword}={_escape(str(pair['value'].native))}"


def _escape(text: str) -> str:
    escaped = "".join(f"\\{sign}" if sign in _ESCAPED else sign for sign in text)
    if escaped.startswith(("#", " ")):
        escaped = f"\\{escaped}"
    if len(escaped) > 1 and escaped.endswith(" "):
        escaped = f"{escaped[:-1]}\\ "
    return escaped
