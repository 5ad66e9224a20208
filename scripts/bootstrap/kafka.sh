#!/bin/sh
# `make test`'s jars of Apache Kafka: fetched by Maven into the user's cache, once. Needs
# `make setup` before it.
. "$(dirname "$0")/common.sh"

[ -x "$PYTHON" ] || die "no $PYTHON: run 'make setup' first"
cd "$ROOT"
have mvn || "$PYTHON" -m images.kafka >/dev/null 2>&1 || install "Kafka's jars" maven
jars=$("$PYTHON" -m images.kafka) || exit 1
say "Kafka's jars: $jars"
