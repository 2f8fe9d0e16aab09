#!/usr/bin/env bash
# Which TTL servers give the records of a set that stand in the zone file with two TTLs.
#
# Versions: bind9 9.18.49, knot 3.2.6, nsd 4.6.1, yadifa 2.6.4, pdns-server and pdns-backend-bind 4.7.3 of Debian 12.
# Seen, of a set with 300 and 600 in this order:
# - BIND: 300, the first, with a warning, where the two lines are neighbours (or others of the name stand between
#   them); 600, the last, without one, where a line with another name stands between them.
# - Knot and yadifa: 600, the last, without a warning.
# - NSD and PowerDNS: each record its own, so that one answer has both.
# An engineer would have guessed: RFC 2181 section 5.2 knows one TTL for a set, so the file is refused, or all have the same,
# and no other lines of the file have a part in it.
set -euo pipefail
needs=(bind9 bind9-dnsutils knot nsd yadifa pdns-server pdns-backend-bind python3)
dpkg -s "${needs[@]}" >/dev/null 2>&1 || apt-get install -y -qq --no-install-recommends "${needs[@]}" >/dev/null
folder=$(mktemp -d)
started=()
trap 'kill "${started[@]}" 2>/dev/null || true; wait; rm -rf "$folder"' EXIT
cd "$folder"
PATH=$PATH:/usr/sbin
dpkg-query -W "${needs[@]}"
free='import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])'
port() { /usr/bin/python3 -c "$free"; }
named=$(port) knot=$(port) nsd=$(port) yadifa=$(port) pdns=$(port)
cat > zone <<'ZONE'
$ORIGIN c.example.
$TTL 3600
@ SOA ns hostmaster 1 3600 600 86400 60
@ NS ns
ns A 192.0.2.1
up 300 A 192.0.2.3
up 600 A 192.0.2.4
down 600 A 192.0.2.3
down 300 A 192.0.2.4
far 300 A 192.0.2.3
between A 192.0.2.1
far 600 A 192.0.2.4
near 300 A 192.0.2.3
near TXT "x"
near 600 A 192.0.2.4
ZONE
mkdir k n y p
cp zone y/zone
cat > named.conf <<CONF
options { directory "$folder"; listen-on port $named { 127.0.0.1; }; listen-on-v6 { none; }; pid-file none; session-keyfile none; recursion no; };
controls {};
zone "c.example" { type primary; file "zone"; };
CONF
printf '%s\n' server: "  listen: 127.0.0.1@$knot" "  rundir: $folder/k" database: "  storage: $folder/k" log: '  - target: stderr' \
  '    any: warning' zone: '  - domain: c.example' "    file: $folder/zone" > knot.conf
cat > nsd.conf <<CONF
server:
  ip-address: 127.0.0.1@$nsd
  username: ""
  database: ""
  pidfile: ""
  zonesdir: $folder/n
  xfrdfile: $folder/n/xfrd
  xfrdir: $folder/n
  zonelistfile: $folder/n/zones
remote-control:
  control-enable: no
zone:
  name: c.example
  zonefile: $folder/zone
CONF
cat > yadifad.conf <<CONF
<main>
  listen 127.0.0.1 port $yadifa
  uid $(id -u)
  gid $(id -g)
  daemon off
  data-path $folder/y
  keys-path $folder/y
  xfr-path $folder/y
  log-path $folder/y
  pid-file $folder/y/pid
</main>
<zone>
  domain c.example
  type primary
  file zone
</zone>
CONF
echo "zone \"c.example\" { type native; file \"$folder/zone\"; };" > zones.conf
printf '%s\n' launch=bind "bind-config=$folder/zones.conf" local-address=127.0.0.1 "local-port=$pdns" \
  "socket-dir=$folder/p" write-pid=no disable-syslog=yes security-poll-suffix= > p/pdns.conf
named -g -c named.conf > named.log 2>&1 & started+=($!)
knotd -c knot.conf > knot.log 2>&1 & started+=($!)
nsd -d -c nsd.conf > nsd.log 2>&1 & started+=($!)
yadifad -c yadifad.conf --nodaemon > yadifa.log 2>&1 & started+=($!)
pdns_server --config-dir=p --daemon=no --guardian=no > pdns.log 2>&1 & started+=($!)
ask() { # PORT NAME: the TTLs of the two records, in their order in the file
  dig @127.0.0.1 -p "$1" +tries=1 +time=2 +noall +answer "$2.c.example" A | awk '{print $5, $2}' | sort | awk '{print $2}' | paste -sd ' '
}
for each in $named $knot $nsd $yadifa $pdns; do
  for _ in $(seq 100); do [[ $(ask "$each" up) =~ 00 ]] && break; sleep 0.2; done
done
status=0
expect() { # WHAT SAID EXPECTED
  echo "$1: $2"
  [ "$2" = "$3" ] || { echo "  changed: it was $3"; status=1; }
}
all() { # NAME PORT UP DOWN FAR NEAR
  expect "$1, 300 then 600" "$(ask "$2" up)" "$3"
  expect "$1, 600 then 300" "$(ask "$2" down)" "$4"
  expect "$1, another name between them" "$(ask "$2" far)" "$5"
  expect "$1, another type between them" "$(ask "$2" near)" "$6"
}
all BIND "$named" '300 300' '600 600' '600 600' '300 300'
all Knot "$knot" '600 600' '300 300' '600 600' '600 600'
all yadifa "$yadifa" '600 600' '300 300' '600 600' '600 600'
all NSD "$nsd" '300 600' '600 300' '300 600' '300 600'
all PowerDNS "$pdns" '300 600' '600 300' '300 600' '300 600'
expect 'warnings of BIND, by line of the file' "$(grep -o 'zone:[0-9]*: TTL set to prior TTL' named.log | cut -d: -f2 | paste -sd ' ')" '7 9 15'
expect 'warnings of Knot' "$(grep -ic ttl knot.log)" 0
exit $status
