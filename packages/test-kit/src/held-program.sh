#!/bin/sh
# Runs a server for as long as standard input is open.
#
#   held-program.sh FOLDER PROGRAM [ARGUMENT...]
#
# 'kill' on standard input kills the server and its children, and keeps FOLDER. The end of standard input
# means that the process that started this one has ended or is done: FOLDER is deleted as well.
set -eu

folder=$1
shift

# 'read' below does not notice the end of the server, so a file tells whoever waits for it. Its children have
# the pipe too, so 'cat' ends with the last of them.
(
  {
    "$@" &
    echo $! >"$folder/pid"
    wait $! || true
  } 2>&1 | cat >>"$folder/log"
  : >"$folder/ended"
) &
keeper=$!

read -r order || order=
until [ -s "$folder/pid" ]; do sleep 0.01; done
pid=$(cat "$folder/pid")
# Stopped, it starts no more children.
kill -STOP "$pid" 2>/dev/null || true
pkill -KILL -P "$pid" || true
kill -KILL "$pid" 2>/dev/null || true
wait "$keeper" || true
[ "$order" = kill ] && exit
# Line 7 of this file of PostgreSQL names a segment of shared memory that outlives a server that was killed.
segment=$(sed -n '7s/.* //p' "$folder/data/postmaster.pid" 2>/dev/null) || segment=
[ -z "$segment" ] || ipcrm -m "$segment" || true
rm -rf "$folder"
