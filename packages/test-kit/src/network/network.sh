#!/bin/sh
# Holds a network for as long as standard input is open:
#
#   unshare --net network.sh SIZE
#
# Hosts are network namespaces around a bridge, which is in this one; the process that started this one
# has an interface too. Prints a line for each host: its address, and a process in it. The kernel
# deletes all interfaces with the namespaces.
set -eu

on() { # PROCESS COMMAND...: in the namespace of the process
  process=$1
  shift
  nsenter --net="/proc/$process/ns/net" -- "$@"
}

ip link add hub type bridge
ip link set hub up

outside="latchkey$$"
ip link add outside type veth peer name "$outside" netns "$PPID"
ip link set outside master hub up
# No other interface of the machine has this number, so no other network gets the same 16 addresses of
# 198.18.0.0/15, which is for such tests (RFC 2544).
number=$(on "$PPID" ip -oneline link show "$outside" | cut -d: -f1)
first=$((number % 8192 * 16))
address() { # HOST
  echo "198.$((18 + first / 65536)).$((first / 256 % 256)).$((first % 256 + $1))"
}
on "$PPID" ip address add "$(address 1)/28" dev "$outside"
on "$PPID" ip link set "$outside" up

hosts=
trap 'kill $hosts' EXIT
for host in $(seq "$1"); do
  # Ends with this shell, even if that is killed.
  setpriv --pdeathsig KILL unshare --net sleep infinity < /dev/null > /dev/null 2>&1 &
  hosts="$hosts $!"
  until [ "$(readlink "/proc/$!/ns/net")" != "$(readlink /proc/self/ns/net)" ]; do sleep 0.01; done
  ip link add "host$host" type veth peer name eth0 netns "$!"
  ip link set "host$host" master hub up
  on "$!" ip link set lo up
  on "$!" ip address add "$(address $((host + 1)))/28" dev eth0
  on "$!" ip link set eth0 up
  # Leaves room for rules before the one that takes what is for this host.
  on "$!" ip rule add pref 1 lookup local
  on "$!" ip rule delete pref 0
  echo "$(address $((host + 1))) $!"
done
echo

read -r _ || true
