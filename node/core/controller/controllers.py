"""Decide ControllerRegistration: controllers tell their listeners and features (KIP-919).

A standby controller registers with the active one. The record is kept in the image: see features.py
for the use of the supported levels.
"""

from kraftproof.node.core.controller.outcome import Outcome
from kraftproof.node.core.controller.refusals import refusal
from kraftproof.node.core.metadata.image import MetadataImage
from kraftproof.node.core.metadata.version import CONTROLLERS_FROM, METADATA_VERSION
from kraftproof.node.wire.errors import ErrorCode
from kraftproof.node.wire.messages import (
    controller_registration_request,
    controller_registration_response,
)
from kraftproof.node.wire.records import metadata as records

Request = controller_registration_request.ControllerRegistrationRequest


def register_controller(image: MetadataImage, request: Request) -> Outcome:
    """Keep the registration of a controller, in place of the one before."""
    error, reason = _refusal(image, request)
    if error is not ErrorCode.NONE:
        return Outcome(reply=refusal(request, error, reason))
    record = records.RegisterControllerRecord(
        controller_id=request.controller_id,
        incarnation_id=request.incarnation_id,
        zk_migration_ready=request.zk_migration_ready,
        end_points=tuple(
            records.ControllerEndpoint(
                name=listener.name,
                host=listener.host,
                port=listener.port,
                security_protocol=listener.security_protocol,
            )
            for listener in request.listeners
        ),
        features=tuple(
            records.ControllerFeature(
                name=feature.name,
                min_supported_version=feature.min_supported_version,
                max_supported_version=feature.max_supported_version,
            )
            for feature in request.features
        ),
    )
    reply = controller_registration_response.ControllerRegistrationResponse()
    return Outcome(reply=reply, records=(record,))


def _refusal(image: MetadataImage, request: Request) -> tuple[ErrorCode, str | None]:
    if image.features.get(METADATA_VERSION, 0) < CONTROLLERS_FROM:
        return ErrorCode.UNSUPPORTED_VERSION, "metadata.version has no registered controllers"
    if request.controller_id < 0:
        return ErrorCode.INVALID_REQUEST, f"{request.controller_id} is no controller id"
    if not request.listeners:
        return ErrorCode.INVALID_REGISTRATION, "a controller without a listener"
    supported = {feature.name: feature for feature in request.features}
    for name, level in sorted(image.features.items()):
        feature = supported.get(name)
        if feature is None or not (
            feature.min_supported_version <= level <= feature.max_supported_version
        ):
            return ErrorCode.UNSUPPORTED_VERSION, f"the cluster has {name} {level}"
    return ErrorCode.NONE, None
