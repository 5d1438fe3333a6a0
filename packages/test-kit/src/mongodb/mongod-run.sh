#!/bin/sh
# Runs one mongod for as long as standard input is open.
#
#   mongod-run.sh FOLDER MONGOD [ARGUMENT...]
#
# 'kill' on standard input kills the mongod and keeps FOLDER. The end of standard input means that
# the process that started this one has ended or is done: FOLDER is deleted as well.
set -eu

folder=$1
shift

mkdir -p "$folder/data"
rm -f "$folder/ended" "$folder/mongod.pid"
# 'read' below does not notice the end of the mongod, so a file tells whoever waits for it.
(
  "$@" >>"$folder/mongod.log" 2>&1 &
  echo $! >"$folder/mongod.pid"
  wait $! || true
  : >"$folder/ended"
) &
keeper=$!

read -r order || order=
kill -KILL "$(cat "$folder/mongod.pid")" 2>/dev/null || true
wait "$keeper" || true
[ "$order" = kill ] || rm -rf "$folder"
