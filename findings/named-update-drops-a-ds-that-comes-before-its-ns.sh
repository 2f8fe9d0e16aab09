#!/usr/bin/env bash
# What named makes of DS records in an UPDATE for a name that has no NS records yet, or no longer.
#
# Versions: bind9 9.18.49; knot 3.2.6, and pdns-server 4.7.3 with its gsqlite3 backend beside it, of Debian 12 (nsupdate 9.18.49 asks).
# Seen: NOERROR from all of them.
# - A DS record is added, and the NS record in the next message: BIND has no DS record then. Knot and PowerDNS have it.
# - NS and DS are there; a message deletes the NS record, the next one adds another one: in BIND the DS record is gone.
# - Both in one message, in any order: all have both.
# An engineer would have guessed: an addition that is answered with NOERROR is made (RFC 2136 section 3.4.2.2 names what is left out), and what
# a message does not name stays. The zone below has no chain of trust then, and nothing tells.
set -euo pipefail
needs=(bind9 bind9-dnsutils knot pdns-server pdns-backend-sqlite3 sqlite3 python3)
dpkg -s "${needs[@]}" >/dev/null 2>&1 || apt-get install -y -qq --no-install-recommends "${needs[@]}" >/dev/null
folder=$(mktemp -d)
started=()
trap 'kill "${started[@]}" 2>/dev/null || true; wait; rm -rf "$folder"' EXIT
cd "$folder"
chmod 755 .
PATH=$PATH:/usr/sbin
dpkg-query -W "${needs[@]}"
port() { /usr/bin/python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])'; }
pdns=$(port) bind=$(port) knot=$(port)
printf '%s\n' '$ORIGIN c.example.' '$TTL 60' '@ SOA ns hostmaster 1 3600 600 86400 60' '@ NS ns' 'ns A 192.0.2.1' 'ns2 A 192.0.2.2' > zone
cp zone bind.zone
cat > named.conf <<CONF
options { directory "$folder"; pid-file none; listen-on port $bind { 127.0.0.1; }; listen-on-v6 { none; }; recursion no; notify no; };
controls { };
zone "c.example" { type primary; file "$folder/bind.zone"; allow-update { 127.0.0.1; }; };
CONF
named -4 -g -c named.conf > bind.log 2>&1 &
started+=($!)
mkdir k
cat > knot.conf <<CONF
server:
  listen: 127.0.0.1@$knot
  rundir: $folder/k
database:
  storage: $folder/k
acl:
  - id: all
    address: 127.0.0.1
    action: update
zone:
  - domain: c.example
    file: $folder/zone
    zonefile-sync: -1
    acl: all
CONF
knotd -c knot.conf > knot.log 2>&1 &
started+=($!)
sqlite3 db < /usr/share/pdns-backend-sqlite3/schema/schema.sqlite3.sql
cat > pdns.conf <<CONF
launch=gsqlite3
gsqlite3-database=$folder/db
local-address=127.0.0.1
local-port=$pdns
socket-dir=$folder
dnsupdate=yes
allow-dnsupdate-from=127.0.0.0/8
cache-ttl=0
query-cache-ttl=0
negquery-cache-ttl=0
CONF
pdnsutil --config-dir="$folder" load-zone c.example zone >/dev/null 2>&1
pdns_server --config-dir="$folder" --daemon=no --guardian=no > pdns.log 2>&1 &
started+=($!)
for at in "$pdns" "$bind" "$knot"; do
  for _ in $(seq 100); do [ -n "$(dig @127.0.0.1 -p "$at" +tries=1 +time=1 +short c.example SOA 2>/dev/null)" ] && break; sleep 0.1; done
done
ds='DS 1 13 2 0123456789012345678901234567890123456789012345678901234567890123'
after() { # PORT NAME STEPS: which records the name has when the steps are taken
  printf '%b\n' "server 127.0.0.1 $1" 'zone c.example.' "$3" send | nsupdate || return
  local has=
  [ -n "$(dig @127.0.0.1 -p "$1" +noall +authority "x.$2.c.example" | awk '$4 == "NS"')" ] && has+='NS '
  [ -n "$(dig @127.0.0.1 -p "$1" +short "$2.c.example" DS)" ] && has+=DS
  echo "$has"
}
status=0
tell() { # WHAT NAME STEPS OF-BIND
  for server in bind knot pdns; do
    local said want='NS DS'
    said=$(after "${!server}" "$2" "$3")
    [ "$server" = bind ] && want=$4
    echo "$server, $1: $said"
    [ "$said" = "$want" ] || { echo "  changed: it was $want"; status=1; }
  done
}
add() { echo "update add $1.c.example. 60 $2"; }
tell 'DS, then NS, in two messages' a "$(add a "$ds")\nsend\n$(add a 'NS ns.c.example.')" 'NS '
tell 'NS, then DS, in two messages' b "$(add b 'NS ns.c.example.')\nsend\n$(add b "$ds")" 'NS DS'
tell 'DS and NS in one message' d "$(add d "$ds")\n$(add d 'NS ns.c.example.')" 'NS DS'
tell 'NS deleted, then another added, in two messages' b "update delete b.c.example. NS\nsend\n$(add b 'NS ns2.c.example.')" 'NS '
tell 'NS deleted and another added in one message' d "update delete d.c.example. NS\n$(add d 'NS ns2.c.example.')" 'NS DS'
exit $status
