#!/bin/sh
# `make test`'s jars of Apache Kafka: fetched by Maven into the user's cache, once. Also javac and
# kcat for the tests of clients. Needs `make setup` before it.
. "$(dirname "$0")/common.sh"

[ -x "$PYTHON" ] || die "no $PYTHON: run 'make setup' first"
cd "$ROOT"
have mvn || "$PYTHON" -m images.kafka >/dev/null 2>&1 || install "Kafka's jars" maven
have javac || install "Kafka's tools in one virtual machine" default-jdk-headless
have kcat || install "the tests of clients" kcat
jars=$("$PYTHON" -m images.kafka) || exit 1
say "Kafka's jars: $jars"
