#!/bin/sh
# `make docker`: a Docker engine that answers, and the image of the reference node.
# Where an engine answers already it is used and none is started. Needs `make setup` before it.
. "$(dirname "$0")/common.sh"

# Container networks of ours stay inside 198.18.0.0/15, a range that nobody routes; the backend
# leases its subnets from the lower half, so the engine's own defaults sit at the upper end.
BRIDGE=198.19.255.1/24
POOL=base=198.19.128.0/18,size=24
ENGINE_LOG=/var/log/kraftproof-dockerd.log
ENGINE_PID=/run/kraftproof-dockerd.pid

# The SDK is what the backend uses, so its opinion counts, not the command line client's.
engine_answers() {
    "$PYTHON" - <<'PING' 2>/dev/null
import docker
docker.from_env(timeout=5).ping()
PING
}

start_engine() {
    if [ -d /run/systemd/system ]; then
        systemctl start docker >/dev/null 2>&1 || die "systemctl could not start docker"
        return
    fi
    # A pid file that a dead engine left may name a stranger by now, and would keep ours from starting.
    old=$(cat "$ENGINE_PID" 2>/dev/null || true)
    [ "$(cat "/proc/${old:-none}/comm" 2>/dev/null || true)" = dockerd ] || rm -f "$ENGINE_PID"
    set -- --pidfile "$ENGINE_PID"
    [ -e /etc/docker/daemon.json ] || set -- "$@" --bip "$BRIDGE" --default-address-pool "$POOL"
    # A process group of its own: Ctrl-C at make must not take the engine down.
    setsid dockerd "$@" >"$ENGINE_LOG" 2>&1 </dev/null &
}

wait_for_engine() {
    for _ in $(seq 60); do
        engine_answers && return
        sleep 0.5
    done
    reason=$(grep -E 'failed|level=(fatal|error)' "$ENGINE_LOG" 2>/dev/null | tail -n1 || true)
    die "the Docker engine does not answer after 30 s: ${reason:-see $ENGINE_LOG}"
}

ensure_engine() {
    if engine_answers; then
        say "Docker engine: already there"
        return
    fi
    [ -z "${DOCKER_HOST:-}" ] || die "no Docker engine answers at DOCKER_HOST=$DOCKER_HOST"
    is_root || die "no Docker engine answers at its default socket, and only root can start one"
    missing=
    have dockerd || missing=docker.io
    have iptables || missing="$missing iptables"
    # shellcheck disable=SC2086  # a list of names on purpose
    [ -z "$missing" ] || install "the Docker engine" $missing
    # The distribution's package may have started it while it was installed.
    engine_answers || start_engine
    wait_for_engine
    say "Docker engine: started"
}

ensure_images() {
    [ "$(cd "$ROOT" && "$PYTHON" -m images --plan)" != debian ] || have mmdebstrap ||
        install "the base image without a registry" mmdebstrap
    cd "$ROOT" && "$PYTHON" -m images
}

[ -x "$PYTHON" ] || die "no $PYTHON: run 'make setup' first"
ensure_engine
ensure_images
