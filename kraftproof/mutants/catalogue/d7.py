"""D7: heartbeats wait behind a large change, and a healthy broker is fenced."""

from kraftproof.mutants.mutant import Edit, Mutant

MUTANT = Mutant(
    mutant_id="D7",
    title="Heartbeats wait behind a large change, and a healthy broker is fenced",
    source="KAFKA-15019 (#13759), KAFKA-17793 (#17502)",
    expected="LeasesMatchReference",
    edits=(
        Edit(
            module="kraftproof.node.core.controller.active",
            old="if not isinstance(message, broker_heartbeat_request.BrokerHeartbeatRequest):",
            new=(
                "is_busy = self._applying is not None or bool(self._waiting)\n"
                "        if is_busy or not isinstance("
                "message, broker_heartbeat_request.BrokerHeartbeatRequest):"
            ),
        ),
    ),
)
