#!/bin/sh
# Builds the FerretDB stand-in: FerretDB itself (a Go program) and, beside it, a root folder with
# PostgreSQL and the DocumentDB extension out of Debian's packages, and a ready database cluster.
#
#   ferretdb-build.sh READY_DIR FERRETDB_VERSION
#
# The caller holds a lock. READY_DIR appears whole, by one rename, or not at all.
#
# Debian's packages are unpacked, not installed: no maintainer script runs, nothing on the machine
# changes, and it takes seconds where a bootstrap takes a minute. What those scripts would have done
# and is needed here (a user, a link, a hosts file) is done below by hand.
set -eu

ready=$1
ferretdb=$2

[ -d "$ready" ] && exit 0

say() { echo "[build] $*"; }
fail() { echo "[build] $*" >&2; exit 1; }

[ "$(id -u)" = 0 ] || fail 'needs root: it unpacks a root folder and runs PostgreSQL in it'
[ "$(sed -n 's/^ID=//p' /etc/os-release 2>/dev/null)" = debian ] || fail 'needs Debian'
for tool in apt-get apt-cache dpkg-deb tar unshare mount chroot; do
  command -v "$tool" >/dev/null 2>&1 || fail "needs $tool"
done

# The lock is held, so whatever an earlier build left half-made is nobody's.
cache=$(dirname "$ready")
rm -rf "$cache"/.building-*
work=$(mktemp -d "$cache/.building-XXXXXX")
chmod 755 "$work"
go_pid=
cleanup() {
  code=$?
  [ -n "$go_pid" ] && kill "$go_pid" 2>/dev/null || true
  rm -rf "$work"
  exit "$code"
}
trap cleanup EXIT
trap 'exit 1' HUP INT TERM

# --- Go, if the machine has one that is new enough to fetch the toolchain FerretDB asks for -------

find_go() {
  for go in "$(command -v go 2>/dev/null || true)" /usr/local/go/bin/go; do
    [ -x "$go" ] || continue
    case $("$go" env GOVERSION 2>/dev/null) in
      go1.2[1-9]* | go1.[3-9][0-9]*) echo "$go"; return ;;
    esac
  done
}

build_ferretdb() {
  say "FerretDB $ferretdb with $("$1" env GOVERSION)"
  mkdir -p "$work/gopath-bin"
  GOBIN="$work/gopath-bin" CGO_ENABLED=0 GOFLAGS="${GOFLAGS:-} -trimpath" \
    "$1" install -ldflags '-s -w' "github.com/FerretDB/FerretDB/v2/cmd/ferretdb@$ferretdb"
}

go=$(find_go)
if [ -n "$go" ]; then
  # The longest part by far, so it runs beside all the others.
  build_ferretdb "$go" &
  go_pid=$!
fi

# --- Debian's packages, through the mirror and with the settings this machine's apt has -----------

codename=$(sed -n 's/^VERSION_CODENAME=//p' /etc/os-release)
target='$(RELEASE) $(COMPONENT) $(REPO_URI)'
mirror=$(apt-get indextargets --format "$target" 'Created-By: Packages' |
  awk -v release="$codename" '$1 == release && $2 == "main" { print $3; exit }')
[ -n "$mirror" ] || fail "apt is configured with no Debian mirror for '$codename main'"
keyring=/usr/share/keyrings/debian-archive-keyring.gpg
signed=
[ -f "$keyring" ] && signed="[signed-by=$keyring] "

# The machine's own lists, pins and installed packages must neither be changed nor have a say.
lean_apt() {
  tool=$1
  shift
  "$tool" \
    -o Dir::State="$work/apt/state" -o Dir::State::status="$work/apt/status" \
    -o Dir::Cache="$work/apt/cache" -o Dir::Cache::archives="$work/apt/archives" \
    -o Dir::Etc::sourcelist="$work/apt/sources.list" -o Dir::Etc::sourceparts=/dev/null \
    -o Dir::Etc::preferences=/dev/null -o Dir::Etc::preferencesparts=/dev/null \
    -o APT::Default-Release="$suite" -o APT::Sandbox::User=root \
    -o APT::Install-Recommends=false -o APT::Install-Suggests=false \
    -o Acquire::Languages=none -o Acquire::Retries=2 \
    -o Acquire::IndexTargets::deb::DEP-11::DefaultEnabled=false \
    -o Acquire::IndexTargets::deb::Contents-deb::DefaultEnabled=false \
    -qq "$@"
}

package=
for suite in testing sid; do
  rm -rf "$work/apt"
  mkdir -p "$work/apt/state/lists/partial" "$work/apt/cache" "$work/apt/archives/partial"
  : >"$work/apt/status"
  echo "deb $signed$mirror $suite main" >"$work/apt/sources.list"
  say "package lists of Debian $suite"
  lean_apt apt-get update || continue
  package=$(lean_apt apt-cache search --names-only '^postgresql-[0-9]+-documentdb$' |
    awk '{ print $1 }' | sort -V | tail -n 1)
  [ -n "$package" ] && break
done
[ -n "$package" ] || fail 'no Debian suite offers the DocumentDB extension of PostgreSQL'
postgres=$(echo "$package" | cut -d- -f2)

# dash: initdb starts its helpers through /bin/sh.
say "$package and all it needs"
lean_apt apt-get install -y --download-only "$package" dash

if [ -z "$go" ]; then
  golang=$(lean_apt apt-cache depends golang-go | sed -n 's/.*Depends: \(golang-[0-9.]*-go\)$/\1/p')
  [ -n "$golang" ] || fail 'Go is not on the PATH, and Debian names no version of it'
  say "$golang, for want of a Go on the PATH"
  mkdir -p "$work/go/debs"
  (cd "$work/go/debs" && lean_apt apt-get download "$golang" "${golang%-go}-src")
  for deb in "$work"/go/debs/*.deb; do dpkg-deb -x "$deb" "$work/go"; done
  export GOROOT="$work/go/usr/lib/${golang%-go}"
  GOROOT=$(echo "$GOROOT" | sed 's,/golang-,/go-,')
  build_ferretdb "$GOROOT/bin/go" &
  go_pid=$!
fi

# --- The root folder ------------------------------------------------------------------------------

root=$work/out/root
mkdir -p "$root/usr"
for folder in bin sbin lib lib64; do
  mkdir -p "$root/usr/$folder"
  ln -s "usr/$folder" "$root/$folder"
done
say 'unpacking'
for deb in "$work"/apt/archives/*.deb; do
  dpkg-deb --fsys-tarfile "$deb" | tar -x -C "$root" --keep-directory-symlink \
    --exclude='./usr/share/doc' --exclude='./usr/share/man' --exclude='./usr/share/locale' \
    --exclude='./usr/share/gdal' --exclude='./usr/share/fonts' --exclude='./usr/share/perl*' \
    --exclude='./usr/share/i18n' --exclude='./usr/include' --exclude='./usr/lib/systemd' \
    --exclude='./usr/lib/*/perl*' --exclude='./usr/lib/*/libperl*' --exclude='./usr/lib/*/gconv' \
    --exclude='./usr/lib/*/libgdal*' --exclude='./usr/lib/postgresql/*/lib/bitcode' \
    --exclude='./usr/lib/postgresql/*/lib/pgxs'
done

# The mount points of a run, and what the packages' own scripts would have written.
mkdir -p "$root/data" "$root/dev" "$root/run" "$root/tmp" "$root/etc"
echo 'root:x:0:0:root:/:/bin/sh' >"$root/etc/passwd"
echo 'postgres:x:61026:61026::/data:/bin/sh' >>"$root/etc/passwd"
printf 'root:x:0:\npostgres:x:61026:\n' >"$root/etc/group"
printf '127.0.0.1 localhost\n::1 localhost\n' >"$root/etc/hosts"
echo 'hosts: files' >"$root/etc/nsswitch.conf"
extensions=$root/usr/share/postgresql/$postgres/extension
[ -e "$extensions/postgis.control" ] || ln -s postgis-3.control "$extensions/postgis.control"

# --- The cluster every run starts from ------------------------------------------------------------

say 'database cluster'
mkdir -p "$work/out/template"
cat >"$work/template.sh" <<'TEMPLATE'
set -eu
root=$1 data=$2 postgres=$3
for device in null zero random urandom; do
  : >>"$root/dev/$device"
  mount --bind "/dev/$device" "$root/dev/$device"
done
mkdir -p "$root/dev/shm"
mount -t tmpfs -o mode=1777 tmpfs "$root/dev/shm"
mount -t tmpfs -o mode=1777 tmpfs "$root/run"
mount -t tmpfs -o mode=1777 tmpfs "$root/tmp"
mount --bind "$data" "$root/data"
chown 61026:61026 "$data"
chmod 700 "$data"
in_root() {
  env -i HOME=/data LC_ALL=C.UTF-8 TZ=UTC \
    PATH="/usr/lib/postgresql/$postgres/bin:/usr/sbin:/usr/bin:/sbin:/bin" \
    chroot --userspec=61026:61026 "$root" "$@"
}
in_root initdb -D /data -U postgres -A trust -E UTF8 --locale=C.UTF-8 --no-instructions
# No TCP at all: FerretDB, the scheduler and the extension itself use the socket, which only the
# mount namespace of its own run can see. So runs beside each other need no port for PostgreSQL.
cat >>"$data/postgresql.conf" <<'CONF'
listen_addresses = ''
unix_socket_directories = '/run'
shared_preload_libraries = 'pg_cron, pg_documentdb_core, pg_documentdb'
cron.database_name = 'postgres'
cron.host = '/run'
cron.log_run = off
documentdb.localhost_connection_string = 'host=/run'
timezone = 'UTC'
log_timezone = 'UTC'
log_min_messages = warning
autovacuum_naptime = '5min'
min_wal_size = '32MB'
max_wal_size = '256MB'
CONF
in_root pg_ctl -D /data -w -t 60 -l /data/template.log start
in_root psql -h /run -U postgres -qAt -v ON_ERROR_STOP=1 postgres >"$data/versions" <<'SQL'
CREATE EXTENSION documentdb CASCADE;
SELECT 'PostgreSQL ' || split_part(current_setting('server_version'), ' ', 1);
SELECT 'DocumentDB ' || documentdb_api.binary_version();
SQL
in_root pg_ctl -D /data -w -t 60 -m fast stop
rm -f "$data/template.log"
TEMPLATE
unshare --mount --propagation private --pid --fork --kill-child \
  sh "$work/template.sh" "$root" "$work/out/template" "$postgres"
mv "$work/out/template/versions" "$work/out/versions"
echo "$postgres" >"$work/out/postgresql-major"

# --- FerretDB -------------------------------------------------------------------------------------

say 'waiting for FerretDB'
wait "$go_pid" || fail "FerretDB $ferretdb did not build"
go_pid=
cp "$work/gopath-bin/ferretdb" "$root/usr/bin/ferretdb"
echo "FerretDB $ferretdb" >>"$work/out/versions"

# On disk before it counts as ready.
sync -f "$work/out" 2>/dev/null || sync
mv "$work/out" "$ready"
say 'ready'
