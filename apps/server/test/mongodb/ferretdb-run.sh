#!/bin/sh
# Runs one PostgreSQL and one FerretDB as the first process of a process and mount namespace of
# their own (unshare --mount --pid --fork), so that its end is the end of all of them, and no mount
# outlives it.
#
#   ferretdb-run.sh READY_DIR RUN_DIR PORT
#
# Standard input is the leash: 'stop' shuts down in order, 'kill' at once, and both keep RUN_DIR.
# Its end means that whoever started this is gone, however that came, so RUN_DIR goes as well.
set -eu

ready=$1
run=$2
port=$3
root=$ready/root
postgres=$(cat "$ready/postgresql-major")

# Copied aside first: a restart must never take half a copy for data.
if [ ! -e "$run/data" ]; then
  cp -a --reflink=auto "$ready/template" "$run/copy"
  mv "$run/copy" "$run/data"
fi

for device in null zero random urandom; do
  mount --bind "/dev/$device" "$root/dev/$device"
done
mount -t tmpfs -o mode=1777 tmpfs "$root/dev/shm"
mount -t tmpfs -o mode=1777 tmpfs "$root/run"
mount -t tmpfs -o mode=1777 tmpfs "$root/tmp"
mount --bind "$run/data" "$root/data"

# Only ever as the last command of a process of its own: the id of that process is then the id of
# the program, which the signals below need.
in_root() {
  exec env -i HOME=/data LC_ALL=C.UTF-8 TZ=UTC DO_NOT_TRACK=1 \
    PATH="/usr/lib/postgresql/$postgres/bin:/usr/sbin:/usr/bin:/sbin:/bin" \
    chroot --userspec=61026:61026 "$root" "$@"
}

# After a 'kill' the old process's id is still on file, and ids start over in every namespace.
rm -f "$run/data/postmaster.pid"
rm -f "$run/ended"

# 'read' below notices no death, so a program that ends by itself leaves a mark for whoever waits.
keep() {
  name=$1
  shift
  "$@" >>"$run/$name.log" 2>&1 &
  echo $! >"$run/$name.pid"
  wait $! || true
  : >"$run/ended"
}

serve() {
  until (in_root pg_isready -q -h /run); do
    [ ! -e "$run/ended" ] || return 1
    sleep 0.1
  done
  in_root ferretdb --listen-addr="127.0.0.1:$port" --debug-addr=- --state-dir=/tmp --no-auth \
    --postgresql-url='postgres://postgres@/postgres?host=/run' --telemetry=disable \
    --log-level=warn
}

keep postgresql in_root postgres -D /data &
postgresql_keeper=$!
keep ferretdb serve &
ferretdb_keeper=$!

end() {
  kill "-$2" "$(cat "$run/$1.pid")" 2>/dev/null || true
  wait "$3" || true
}

while read -r order; do
  case $order in
    stop)
      end ferretdb TERM "$ferretdb_keeper"
      # SIGINT is PostgreSQL's fast shutdown: it does not wait for clients to leave.
      end postgresql INT "$postgresql_keeper"
      exit 0
      ;;
    kill)
      kill -KILL -1 2>/dev/null || true
      exit 0
      ;;
  esac
done

# Nobody reads standard error any more, and the shell's own word on a killed job would be its end.
exec 2>/dev/null
kill -KILL -1 2>/dev/null || true
wait || true
rm -rf "$run"
