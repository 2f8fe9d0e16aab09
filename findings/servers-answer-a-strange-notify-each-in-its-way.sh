#!/usr/bin/env bash
# What servers say to a NOTIFY for a zone that they do not have.
#
# Versions: bind9 9.18.49, knot 3.2.6, nsd 4.6.1, pdns-server 4.7.3 of Debian 12.
# Seen: BIND and Knot say NOTAUTH, PowerDNS says REFUSED, NSD says NXDOMAIN and leaves out the question.
# An engineer would have guessed: RFC 1996 section 3.12 has one answer for it, and a reply repeats its question.
set -euo pipefail
needs=(bind9 knot nsd pdns-server pdns-backend-sqlite3 sqlite3 bind9-dnsutils python3)
dpkg -s "${needs[@]}" >/dev/null 2>&1 || apt-get install -y -qq --no-install-recommends "${needs[@]}" >/dev/null
folder=$(mktemp -d)
started=()
trap 'kill "${started[@]}" 2>/dev/null || true; wait; rm -rf "$folder"' EXIT
cd "$folder"
chmod 755 .
PATH=$PATH:/usr/sbin
port() { /usr/bin/python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])'; }
bind=$(port) knot=$(port) nsd=$(port) pdns=$(port)
cat > zone <<ZONE
c.example. 3600 SOA ns1.c.example. host.c.example. 1 3600 600 86400 300
c.example. 3600 NS ns1.c.example.
ns1.c.example. 3600 A 192.0.2.1
ZONE
cat > named.conf <<CONF
options { directory "$folder"; pid-file none; listen-on port $bind { 127.0.0.1; }; listen-on-v6 { none; }; recursion no; };
controls { };
zone "c.example" { type primary; file "$folder/zone"; };
CONF
named -4 -g -c named.conf > bind.log 2>&1 &
started+=($!)
cat > knot.conf <<CONF
server:
  listen: 127.0.0.1@$knot
  rundir: $folder
database:
  storage: $folder
zone:
  - domain: c.example
    file: $folder/zone
CONF
knotd -c knot.conf > knot.log 2>&1 &
started+=($!)
cat > nsd.conf <<CONF
server:
  ip-address: 127.0.0.1@$nsd
  pidfile: ""
  username: ""
  zonelistfile: $folder/nsd.list
  xfrdfile: $folder/nsd.xfrd
  database: ""
remote-control:
  control-enable: no
zone:
  name: c.example
  zonefile: $folder/zone
CONF
nsd -d -c nsd.conf > nsd.log 2>&1 &
started+=($!)
sqlite3 db < /usr/share/doc/pdns-backend-sqlite3/schema.sqlite3.sql
cat > pdns.conf <<CONF
launch=gsqlite3
gsqlite3-database=$folder/db
local-address=127.0.0.1
local-port=$pdns
secondary=yes
socket-dir=$folder
CONF
pdnsutil --config-dir="$folder" create-zone c.example ns1.c.example >/dev/null 2>&1
pdns_server --config-dir="$folder" --daemon=no --guardian=no > pdns.log 2>&1 &
started+=($!)
for at in "$bind" "$knot" "$nsd" "$pdns"; do
  for _ in $(seq 100); do [ -n "$(dig @127.0.0.1 -p "$at" +tries=1 +time=1 +short c.example SOA 2>/dev/null)" ] && break; sleep 0.1; done
done
notify() { # PORT: the rcode, and how many questions the reply has.
  /usr/bin/python3 - "$1" <<'PY'
import socket, struct, sys
names = {0: "NOERROR", 3: "NXDOMAIN", 5: "REFUSED", 9: "NOTAUTH"}
question = b"\x05other\x07example\x00" + struct.pack("!HH", 6, 1)
message = struct.pack("!HHHHHH", 7, 0x2400, 1, 0, 0, 0) + question
with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as client:
    client.settimeout(5)
    client.sendto(message, ("127.0.0.1", int(sys.argv[1])))
    _, flags, questions, *_ = struct.unpack("!HHHHHH", client.recv(512)[:12])
print(names.get(flags & 15, flags & 15), questions)
PY
}
status=0
expect() { # WHAT SAID EXPECTED
  echo "$1: $2"
  [ "$2" = "$3" ] || { echo "  changed: it was $3"; status=1; }
}
expect 'BIND' "$(notify "$bind")" 'NOTAUTH 1'
expect 'Knot DNS' "$(notify "$knot")" 'NOTAUTH 1'
expect 'PowerDNS' "$(notify "$pdns")" 'REFUSED 1'
expect 'NSD' "$(notify "$nsd")" 'NXDOMAIN 0'
exit $status
