#!/usr/bin/env bash
# What secondaries answer when their primary has been silent for longer than the EXPIRE of the zone.
#
# Versions: pdns-server and pdns-backend-sqlite3 4.7.3; bind9 9.18.49, knot 3.2.6 and nsd 4.6.1 beside it, of Debian 12.
# Seen: the SOA record has refresh 2, retry 1 and expire 6. Before: all four answer. Some seconds after the primary has ended, BIND, Knot and NSD
# say SERVFAIL. PowerDNS answers with AA from what it had, 15 seconds later and for good: addresses of a year ago are given out by one of the name servers.
# An engineer would have guessed: a secondary stops (RFC 1035 section 3.3.13, RFC 1034 section 4.3.5), so that resolvers ask the servers that still follow.
# Its makers know: https://github.com/PowerDNS/pdns/issues/11185.
set -euo pipefail
needs=(pdns-server pdns-backend-sqlite3 sqlite3 bind9 bind9-dnsutils knot nsd python3)
dpkg -s "${needs[@]}" >/dev/null 2>&1 || apt-get install -y -qq --no-install-recommends "${needs[@]}" >/dev/null
folder=$(mktemp -d)
started=()
trap 'kill "${started[@]}" 2>/dev/null || true; wait; rm -rf "$folder"' EXIT
cd "$folder"
PATH=$PATH:/usr/sbin
dpkg-query -W pdns-server bind9 knot nsd
port() { /usr/bin/python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])'; }
printf 'c.example. 300 IN %s\n' 'SOA ns1.c.example. host.c.example. 1 2 1 6 300' 'NS ns1.c.example.' > zone
printf '%s.c.example. 300 IN A 192.0.2.1\n' ns1 www > part; cat part >> zone
named_with() { # NAME PORT OPTIONS ZONE
  mkdir "$1"
  cat > "$1.conf" <<CONF
options {
  directory "$folder/$1"; pid-file none; session-keyfile "$folder/$1/session.key";
  listen-on port $2 { 127.0.0.1; }; listen-on-v6 { none; };
  recursion no; notify no; $3
};
controls { };
zone "c.example" { $4 };
CONF
  named -g -c "$1.conf" > "log.$1" 2>&1 & started+=($!)
}
rcode() { # PORT: the rcode, and AA
  dig @127.0.0.1 -p "$1" +norecurse +tries=1 +time=2 www.c.example A 2> /dev/null | sed -n 's/.*status: \([A-Z]*\),.*/\1/p; s/^;; flags: .*\baa\b.*/aa/p' | paste -sd ' '
}
wait_for() { # PORT ANSWER SECONDS
  for _ in $(seq $(($3 * 5))); do [ "$(rcode "$1")" = "$2" ] && return; sleep 0.2; done
}
main=$(port); named_with main "$main" '' "type primary; file \"$folder/zone\"; allow-transfer { any; };"
primary=$!
wait_for "$main" 'NOERROR aa' 10
bind=$(port); named_with bind "$bind" 'min-refresh-time 1; min-retry-time 1;' "type secondary; file \"bind.zone\"; primaries { 127.0.0.1 port $main; };"
knot=$(port); mkdir knot
cat > knot.conf <<CONF
server:
  listen: 127.0.0.1@$knot
  rundir: $folder/knot
database:
  storage: $folder/knot
remote:
  - id: primary
    address: 127.0.0.1@$main
zone:
  - domain: c.example
    master: primary
    file: $folder/knot.zone
CONF
knotd -c knot.conf > log.knot 2>&1 & started+=($!)
nsd=$(port); mkdir nsd
cat > nsd.conf <<CONF
server:
  ip-address: 127.0.0.1@$nsd
  username: ""
  chroot: ""
  zonesdir: "$folder/nsd"
  pidfile: "$folder/nsd/pid"
  xfrdfile: "$folder/nsd/xfrd"
  zonelistfile: "$folder/nsd/zones"
  xfrdir: "$folder/nsd"
  server-count: 1
  database: ""
remote-control:
  control-enable: no
zone:
  name: c.example
  zonefile: c.zone
  request-xfr: AXFR 127.0.0.1@$main NOKEY
CONF
nsd -d -c nsd.conf > log.nsd 2>&1 & started+=($!)
powerdns=$(port); mkdir pdns
sqlite3 pdns/base < /usr/share/doc/pdns-backend-sqlite3/schema.sqlite3.sql
sqlite3 pdns/base "insert into domains (name, master, type) values ('c.example', '127.0.0.1:$main', 'SLAVE')"
printf '%s\n' launch=gsqlite3 "gsqlite3-database=$folder/pdns/base" secondary=yes xfr-cycle-interval=1 local-address=127.0.0.1 "local-port=$powerdns" \
  "socket-dir=$folder/pdns" cache-ttl=0 query-cache-ttl=0 negquery-cache-ttl=0 zone-cache-refresh-interval=0 security-poll-suffix= > pdns/pdns.conf
pdns_server --config-dir="$folder/pdns" > log.pdns 2>&1 & started+=($!)
status=0
expect() { # WHAT SAID EXPECTED
  echo "$1: $2"
  [ "$2" = "$3" ] || { echo "  changed: it was $3"; status=1; }
}
for server in bind knot nsd powerdns; do
  wait_for "${!server}" 'NOERROR aa' 20
  expect "$server, while the primary answers" "$(rcode "${!server}")" 'NOERROR aa'
done
kill "$primary"; wait "$primary" 2> /dev/null || true
begin=$SECONDS
for server in bind knot nsd; do
  wait_for "${!server}" SERVFAIL 30
  expect "$server, afterwards" "$(rcode "${!server}")" SERVFAIL
done
while [ $((SECONDS - begin)) -lt 20 ]; do sleep 0.5; done
expect 'powerdns, 20 seconds afterwards' "$(rcode "$powerdns")" 'NOERROR aa'
exit $status
