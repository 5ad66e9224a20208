#!/bin/sh
# A pod's only process: it does nothing, and ends at once when told to. As process 1 a plain
# `sleep` would ignore SIGTERM (no default handlers there) and cost ten seconds at each removal.
trap 'exit 0' TERM INT
sleep infinity &
wait
