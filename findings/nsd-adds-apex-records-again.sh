#!/usr/bin/env bash
# What an IXFR of nsd adds, where nsd makes it from two versions of a zone file (`create-ixfr: yes`).
#
# Versions: nsd 4.6.1 as the primary, bind9 9.18.49 and knot 3.2.6 as secondaries, of Debian 12.
# Seen: the new version has another serial, and another text at www. The IXFR has these, and adds the TXT and MX records of the apex, which
# were there and are there, and which it does not delete. Other names are right, and so is an apex with SOA and NS records alone.
# BIND notes `update with no effect` and takes it. Knot says `such record already exists in zone`, and transfers the whole zone, each time.
# An engineer would have guessed: an IXFR has the differences (RFC 1995 section 4), and a server that keeps them saves transfers.
set -euo pipefail
needs=(nsd bind9 bind9-dnsutils knot python3)
dpkg -s "${needs[@]}" >/dev/null 2>&1 || apt-get install -y -qq --no-install-recommends "${needs[@]}" >/dev/null
folder=$(mktemp -d)
started=()
trap 'kill "${started[@]}" 2>/dev/null || true; wait; rm -rf "$folder"' EXIT
cd "$folder"
chmod 777 .
PATH=$PATH:/usr/sbin
port() { /usr/bin/python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])'; }
nsd=$(port) bind=$(port) knot=$(port)
write() { # SERIAL TEXT
  printf '%s\n' '$TTL 300' "@ SOA ns hostmaster $1 3600 600 86400 60" '@ NS ns' 'ns A 192.0.2.1' "www TXT \"$2\"" > d.zone
  { cat d.zone; printf '%s\n' '@ TXT "apex"' '@ MX 10 ns'; } > c.zone
}
write 1 one
cat > nsd.conf <<CONF
server:
  ip-address: 127.0.0.1@$nsd
  pidfile: ""
  username: ""
  zonelistfile: $folder/nsd.list
  xfrdfile: $folder/nsd.xfrd
  database: ""
remote-control:
  control-interface: $folder/control
  control-enable: yes
zone:
  name: c.example
  zonefile: $folder/c.zone
  provide-xfr: 127.0.0.1 NOKEY
  notify: 127.0.0.1@$bind NOKEY
  notify: 127.0.0.1@$knot NOKEY
  store-ixfr: yes
  create-ixfr: yes
zone:
  name: d.example
  zonefile: $folder/d.zone
  provide-xfr: 127.0.0.1 NOKEY
  store-ixfr: yes
  create-ixfr: yes
CONF
nsd -d -c nsd.conf > nsd.log 2>&1 &
started+=($!)
cat > named.conf <<CONF
options { directory "$folder"; pid-file none; listen-on port $bind { 127.0.0.1; }; listen-on-v6 { none; }; recursion no; };
controls { };
zone "c.example" { type secondary; primaries { 127.0.0.1 port $nsd; }; };
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
log:
  - target: stdout
    any: info
remote:
  - id: nsd
    address: 127.0.0.1@$nsd
acl:
  - id: nsd
    address: 127.0.0.1
    action: notify
zone:
  - domain: c.example
    master: nsd
    acl: nsd
    storage: $folder/k
CONF
knotd -c knot.conf > knot.log 2>&1 &
started+=($!)
serial() { dig @127.0.0.1 -p "$1" +tries=1 +time=1 +short c.example SOA 2>/dev/null | awk '{print $3}'; }
reach() { # SERIAL
  for at in "$nsd" "$bind" "$knot"; do for _ in $(seq 100); do [ "$(serial "$at")" = "$1" ] && break; sleep 0.2; done; done
}
reach 1
sleep 1
write 2 two
nsd-control -c nsd.conf reload >/dev/null
reach 2
status=0
expect() { # WHAT SAID EXPECTED
  echo "$1: $2"
  [ "$2" = "$3" ] || { echo "  changed: it was $3"; status=1; }
}
changes() { dig @127.0.0.1 -p "$nsd" "$1" IXFR=1 +noall +answer | awk '{printf "%s %s%s", $1, $4, $4 == "SOA" ? " " $7 ", " : ", "}' | sed 's/, $//; s/\.c\.example\.//g; s/[cd]\.example\./@/g'; }
expect 'IXFR of c.example, with TXT and MX at the apex' "$(changes c.example)" '@ SOA 2, @ SOA 1, www TXT, @ SOA 2, @ TXT, @ MX, www TXT, @ SOA 2'
expect 'IXFR of d.example, with SOA and NS alone' "$(changes d.example | sed 's/\.@//g')" '@ SOA 2, @ SOA 1, www TXT, @ SOA 2, www TXT, @ SOA 2'
expect 'BIND: records that change nothing' "$(grep -c 'update with no effect' bind.log)" 2
expect 'Knot' "$(grep -o 'fallback to AXFR (such record already exists in zone)' knot.log)" 'fallback to AXFR (such record already exists in zone)'
for at in "$bind" "$knot"; do
  expect 'text of www at a secondary' "$(dig @127.0.0.1 -p "$at" +short www.c.example TXT)" '"two"'
done
exit $status
