#!/bin/sh
# A browser without a window, in which the tests look at the pictures and pages that we make.
. "$(dirname "$0")/common.sh"

have chromium || have google-chrome || install "looking at pictures and pages" chromium
say "Chromium: there"
