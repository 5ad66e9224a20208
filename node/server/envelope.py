"""Envelopes: a client's request inside a broker's, and its answer inside the answer (KIP-590).

Pure: values in, values out; the simulator uses it as the server does. Not: who may forward,
which the core decides (590-03), nor retries.
"""

import ipaddress

from msgspec import Struct

from kraftproof.node.core.effects import Forward
from kraftproof.node.core.served import FORWARDABLE, served_versions
from kraftproof.node.wire.codec import (
    REQUESTS,
    decode_request,
    decode_response,
    encode_request,
    encode_response,
    header_versions,
)
from kraftproof.node.wire.errors import ErrorCode, WireError
from kraftproof.node.wire.headers import (
    RequestHeader,
    encode_request_header,
    encode_response_header,
    split_request,
    split_response,
)
from kraftproof.node.wire.messages.generated.envelope_request import EnvelopeRequest
from kraftproof.node.wire.messages.generated.envelope_response import EnvelopeResponse
from kraftproof.node.wire.principal import DEFAULT_PRINCIPALS, Principal, PrincipalBuilder
from kraftproof.node.wire.schema import Message

_VERSIONS = served_versions(on_controller_listener=True)


class Refusal(Struct, frozen=True):
    """The envelope itself is refused; nothing in it was looked at further."""

    error_code: ErrorCode


class Opened(Struct, frozen=True, kw_only=True):
    """Request inside an Envelope, with its principal and client address."""

    header: RequestHeader
    message: Message
    principal: Principal
    client_host: str


def wrap_request(
    effect: Forward, principals: PrincipalBuilder = DEFAULT_PRINCIPALS
) -> EnvelopeRequest:
    """Return the envelope that carries a client's request to the active controller."""
    api_key = effect.message.API_KEY
    header = RequestHeader(
        api_key=api_key,
        version=effect.version,
        correlation_id=effect.client_correlation,
        client_id=effect.client_id or None,
    )
    request_version, _ = header_versions(api_key, effect.version)
    return EnvelopeRequest(
        request_data=encode_request_header(header, request_version)
        + encode_request(effect.message, effect.version),
        request_principal=principals.serialize(effect.principal),
        client_host_address=ipaddress.ip_address(effect.client_host).packed,
    )


def open_request(
    envelope: EnvelopeRequest, principals: PrincipalBuilder = DEFAULT_PRINCIPALS
) -> Opened | Refusal:
    """Return the content of an envelope, or the reason of a refusal, in Kafka's order (590-06)."""
    try:
        principal = principals.deserialize(envelope.request_principal or b"")
    except ValueError:
        return Refusal(ErrorCode.PRINCIPAL_DESERIALIZATION_FAILURE)
    if len(envelope.client_host_address) not in {4, 16}:
        return Refusal(ErrorCode.INVALID_REQUEST)
    try:
        header, body = split_request(envelope.request_data)
        if header.api_key in FORWARDABLE:
            oldest, newest = _VERSIONS[header.api_key]
            if not oldest <= header.version <= newest:
                return Refusal(ErrorCode.UNSUPPORTED_VERSION)
        elif header.api_key not in REQUESTS:
            return Refusal(ErrorCode.INVALID_REQUEST)
        message = decode_request(header.api_key, header.version, body)
    except WireError:
        return Refusal(ErrorCode.UNSUPPORTED_VERSION)
    if header.api_key not in FORWARDABLE:
        return Refusal(ErrorCode.INVALID_REQUEST)
    client_host = str(ipaddress.ip_address(envelope.client_host_address))
    return Opened(header=header, message=message, principal=principal, client_host=client_host)


def wrap_response(opened: Opened, message: Message) -> EnvelopeResponse:
    """Return the envelope around an answer; an EnvelopeResponse is a refusal and stays as it is."""
    if isinstance(message, EnvelopeResponse):
        return message
    header = opened.header
    _, response_version = header_versions(header.api_key, header.version)
    return EnvelopeResponse(
        response_data=encode_response_header(header.correlation_id, response_version)
        + encode_response(message, header.version)
    )


def open_response(response: EnvelopeResponse, effect: Forward) -> Message:
    """Return the inner answer (590-08), or the EnvelopeResponse that refuses the envelope.

    Raises:
        WireError: the inner answer is none.
    """
    if response.error_code != ErrorCode.NONE:
        return response
    if response.response_data is None:
        raise WireError("an envelope without error and without answer")
    api_key = effect.message.API_KEY
    correlation_id, body = split_response(response.response_data, api_key, effect.version)
    if correlation_id != effect.client_correlation:
        raise WireError(
            f"the inner answer has correlation id {correlation_id}, the request"
            f" {effect.client_correlation}"
        )
    return decode_response(api_key, effect.version, body)
