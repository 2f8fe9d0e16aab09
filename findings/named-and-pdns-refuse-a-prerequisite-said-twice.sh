#!/usr/bin/env bash
# What named and pdns_server make of an UPDATE whose prerequisite for the records of a set names one of them twice.
#
# Versions: bind9 9.18.49, knot 3.2.6, pdns-server 4.7.3 with its gsqlite3 backend (nsupdate of bind9-dnsutils 9.18.49 asks) of Debian 12.
# Seen: ns.c.example has two addresses. `prereq yxrrset` with both of them is true in any order in all three. With one of
# them twice Knot finds it true; BIND and PowerDNS answer NXRRSET and change nothing. A type or a name that is asked for
# twice, and a record that is added twice in one message, are no error in any of them.
# An engineer would have guessed: RFC 2136 section 3.2.3 compares sets, and a set has each record once, as it has for additions.
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
bind=$(port) knot=$(port) pdns=$(port)
printf '%s\n' '$ORIGIN c.example.' '$TTL 60' '@ SOA ns hostmaster 1 3600 600 86400 60' '@ NS ns' 'ns A 192.0.2.1' 'ns A 192.0.2.2' > zone
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
CONF
pdnsutil --config-dir="$folder" load-zone c.example zone >/dev/null 2>&1
pdns_server --config-dir="$folder" --daemon=no --guardian=no > pdns.log 2>&1 &
started+=($!)
send() { # PORT LINES: the rcode of one message
  { printf '%b\n' "server 127.0.0.1 $1" 'zone c.example.' "$2" send answer | nsupdate 2>&1 || true; } | sed -n 's/.*status: \([A-Z]*\),.*/\1/p'
}
for at in "$bind" "$knot" "$pdns"; do
  for _ in $(seq 100); do [ "$(send "$at" 'update add first.c.example. 60 TXT x')" = NOERROR ] && break; sleep 0.1; done
done
status=0
tell() { # WHAT LINES OF-BIND-AND-POWERDNS
  for server in bind knot pdns; do
    local said want=NOERROR
    said=$(send "${!server}" "$2\nupdate add x.c.example. 60 A 192.0.2.9")
    [ "$server" = knot ] || want=$3
    echo "$server, $1: $said"
    [ "$said" = "$want" ] || { echo "  changed: it was $want"; status=1; }
  done
}
one='prereq yxrrset ns.c.example. A 192.0.2.1' two='prereq yxrrset ns.c.example. A 192.0.2.2'
tell 'both records' "$one\n$two" NOERROR
tell 'both records, the other way round' "$two\n$one" NOERROR
tell 'both records, the first one twice' "$one\n$two\n$one" NXRRSET
tell 'both records, the second one twice' "$one\n$two\n$two" NXRRSET
tell 'the type, twice' 'prereq yxrrset ns.c.example. A\nprereq yxrrset ns.c.example. A' NOERROR
tell 'the name, twice' 'prereq yxdomain ns.c.example.\nprereq yxdomain ns.c.example.' NOERROR
tell 'a record added twice' 'update add y.c.example. 60 A 192.0.2.9\nupdate add y.c.example. 60 A 192.0.2.9' NOERROR
exit $status
