#!/bin/sh
# `make setup`: Java for Spark, .venv with what requirements.lock names, and this project in it.
# What is there stays; a second run compares stamps and ends within a second or two.
. "$(dirname "$0")/common.sh"

OLDEST_JAVA=17
UV_PINNED=$ROOT/scripts/bootstrap/uv-pinned.txt
LOCK_STAMP=$VENV/.kraftproof-lock
PROJECT_STAMP=$VENV/.kraftproof-project

recent_enough() { "$1" -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null; }

find_python() {
    for name in python3 python3.13 python3.12 python3.11; do
        if have "$name" && recent_enough "$name"; then
            echo "$name"
            return
        fi
    done
    die "missing: Python 3.11 or later (python3 is $(python3 -V 2>&1 | tail -n1))"
}

java_major() { java -version 2>&1 | sed -n 's/.* version "\([0-9]*\).*/\1/p' | head -n1; }

ensure_java() {
    have java || install "Spark" default-jre-headless
    major=$(java_major)
    [ "${major:-0}" -ge "$OLDEST_JAVA" ] ||
        die "java on PATH is version ${major:-unknown}, Spark needs $OLDEST_JAVA or later"
}

# uv from PATH where there is one, else into .venv by pip, at a version and hash of ours.
ensure_venv() {
    if ! { [ -x "$PYTHON" ] && recent_enough "$PYTHON"; }; then
        base=$(find_python)
        say "making .venv with $("$base" -V)"
        if have uv; then
            uv venv --quiet --clear --python "$(command -v "$base")" "$VENV"
        else
            "$base" -c 'import ensurepip, venv' 2>/dev/null || install "making .venv" python3-venv
            "$base" -m venv --clear "$VENV"
        fi
    fi
    if [ -x "$VENV/bin/uv" ]; then
        UV=$VENV/bin/uv
    elif have uv; then
        UV=uv
    else
        "$PYTHON" -m pip install --quiet --require-hashes -r "$UV_PINNED" ||
            die "pip could not install uv: is a package index reachable?"
        UV=$VENV/bin/uv
    fi
}

stamped() { [ -f "$1" ] && [ "$(cat "$1")" = "$2" ]; }

ensure_packages() {
    lock=$(fingerprint "$ROOT/requirements.lock")
    if ! stamped "$LOCK_STAMP" "$lock"; then
        say "installing what requirements.lock names (Spark is large: about a minute at first)"
        "$UV" pip install --quiet --python "$PYTHON" --require-hashes -r "$ROOT/requirements.lock" ||
            die "uv could not install requirements.lock into $VENV"
        echo "$lock" >"$LOCK_STAMP"
    fi
    # The path counts too: a checkout that was moved or copied is no longer what .venv points at.
    project=$(printf '%s' "$ROOT" | fingerprint - "$ROOT/pyproject.toml")
    if ! stamped "$PROJECT_STAMP" "$project"; then
        say "installing kraftproof itself (editable)"
        # The build's own tools at the lock's versions too.
        "$UV" pip install --quiet --python "$PYTHON" --no-deps \
            --build-constraints "$ROOT/requirements.lock" -e "$ROOT" ||
            die "uv could not install the project into $VENV"
        echo "$project" >"$PROJECT_STAMP"
        compile_bytecode
    fi
}

# Half of a short command is the parsing of what it imports, where Python may not keep bytecode.
# What can't be compiled (a package's templates) is no mistake of ours. The tests of packages and
# the installers are two fifths of the time, and no command of ours imports them.
compile_bytecode() {
    say "compiling bytecode"
    "$PYTHON" -m compileall -q -j 0 -x "/site-packages/(.*/tests?|pip|setuptools|mypyc)/" \
        "$VENV/lib" "$ROOT/checkers" "$ROOT/cluster" "$ROOT/kraftproof" \
        "$ROOT/nemesis" "$ROOT/node" "$ROOT/workloads" >/dev/null || true
}

started=$(date +%s)
have python3 || install "everything" python3
ensure_java
ensure_venv
ensure_packages
say "set-up complete ($(($(date +%s) - started)) s): .venv/bin/kraftproof"
