#!/bin/sh
# Runs one mongod on a leash.
#
#   mongod-run.sh RUN_DIR MONGOD [ARGUMENT...]
#
# Standard input is the leash: 'stop' shuts down in order, 'kill' at once, and both keep RUN_DIR.
# Its end means that whoever started this is gone, however that came, so RUN_DIR goes as well.
set -eu

run=$1
shift

mkdir -p "$run/data"
rm -f "$run/ended" "$run/mongod.pid"
# 'read' below notices no death, so a mongod that ends by itself leaves a mark for whoever waits.
(
  "$@" >>"$run/mongod.log" 2>&1 &
  echo $! >"$run/mongod.pid"
  wait $! || true
  : >"$run/ended"
) &
keeper=$!

signal() {
  kill "-$1" "$(cat "$run/mongod.pid")" 2>/dev/null || true
  wait "$keeper" || true
}

while read -r order; do
  case $order in
    stop)
      signal TERM
      exit 0
      ;;
    kill)
      signal KILL
      exit 0
      ;;
  esac
done

# Nobody reads standard error any more, and the shell's own word on a killed job would be its end.
exec 2>/dev/null
signal KILL
rm -rf "$run"
