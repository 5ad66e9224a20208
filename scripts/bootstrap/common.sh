# Shared by the bootstrap scripts: saying things, failing in one line, packages of the distribution.
# Not a program: it is sourced. It changes nothing by itself.
set -eu

ROOT=$(cd "$(dirname "$0")/../.." && pwd)
VENV=$ROOT/.venv
PYTHON=$VENV/bin/python
CACHE=$ROOT/.cache
mkdir -p "$CACHE"

say() { printf '\033[1m==>\033[0m %s\n' "$*"; }

die() {
    printf 'bootstrap: %s\n' "$*" >&2
    exit 1
}

have() { command -v "$1" >/dev/null 2>&1; }

is_root() { [ "$(id -u)" -eq 0 ]; }

# One hash over files and words: what a stamp remembers.
fingerprint() { cat -- "$@" | sha256sum | cut -c1-16; }

# install PURPOSE PACKAGE...: from the distribution when we may, else one line that names them.
install() {
    purpose=$1
    shift
    have apt-get || die "missing for $purpose: $* (this is no Debian: install them by hand)"
    is_root || die "missing for $purpose: $* (not root: run 'apt-get install $*' as root, then again)"
    say "installing $* ($purpose)"
    log=$CACHE/apt.log
    { apt-get update -qq && DEBIAN_FRONTEND=noninteractive apt-get install -y -qq \
        --no-install-recommends "$@"; } >"$log" 2>&1 ||
        die "apt-get could not install $* for $purpose: $(grep -m1 '^E:' "$log" || echo "see $log")"
}
