#!/usr/bin/env bash
# Which deletions of an UPDATE pdns_server answers with NOERROR and does not carry out.
#
# Versions: pdns-server 4.7.3 with its gsqlite3 backend; bind9 9.18.49 and knot 3.2.6 beside it, of Debian 12 (nsupdate 9.18.49 asks).
# Seen: NOERROR from all three, and then PowerDNS alone still has the record, where the deletion
# - names the target of a CNAME, MX or SRV record in letters of another case: `10 mail` for `10 Mail`. As a prerequisite the same value fits.
# - follows in the same message what adds the record: deletions are carried out before additions. So a set that gets a record and is then
#   deleted has that record. `delete` of the whole name goes the same way.
# An engineer would have guessed: names are equal in any case (RFC 2136 section 1.1.1, RFC 4343), and the steps of a message are carried out in
# their order (RFC 2136 section 3.4.2). A client that has read the zone from Knot or NSD, which write names in lower case, deletes nothing.
# Nor does a transfer of PowerDNS itself tell the letters: a name there ends in those of an equal one before it.
set -euo pipefail
needs=(pdns-server pdns-backend-sqlite3 sqlite3 bind9 knot bind9-dnsutils python3)
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
printf '%s\n' '$ORIGIN c.example.' '$TTL 60' '@ SOA ns hostmaster 1 3600 600 86400 60' '@ NS ns' 'ns A 192.0.2.1' 'mail A 192.0.2.2' \
  '1st MX 10 mail.example.net.' '2nd MX 10 Mail.Example.NET.' 'mx MX 10 Mail' 'alias CNAME Mail' '_x._tcp SRV 0 0 5 Mail' 'a A 192.0.2.3' 'b A 192.0.2.3' > zone
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
allow-axfr-ips=127.0.0.0/8
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
after() { # PORT NAME TYPE STEPS: what the name has when the steps are taken
  printf '%b\n' "server 127.0.0.1 $1" 'zone c.example.' "$4" send | nsupdate || return
  dig @127.0.0.1 -p "$1" +short "$2.c.example" "$3" | tr '\n' ' '
}
status=0
tell() { # WHAT NAME TYPE STEPS PDNS
  for server in pdns bind knot; do
    local said want=
    said=$(after "${!server}" "$2" "$3" "$4")
    [ "$server" = pdns ] && want=$5
    echo "$server, $1: ${said:-no record}"
    [ "$said" = "$want" ] || { echo "  changed: it was ${want:-no record}"; status=1; }
  done
}
tell 'MX in another case' mx MX 'prereq yxrrset mx.c.example. MX 10 mail.c.example.\nupdate delete mx.c.example. MX 10 mail.c.example.' '10 Mail.c.example. '
tell 'CNAME in another case' alias CNAME 'update delete alias.c.example. CNAME mail.c.example.' 'Mail.c.example. '
tell 'SRV in another case' _x._tcp SRV 'update delete _x._tcp.c.example. SRV 0 0 5 mail.c.example.' '0 0 5 Mail.c.example. '
tell 'added, then the set deleted' a A 'update add a.c.example. 60 A 192.0.2.9\nupdate delete a.c.example. A' '192.0.2.9 '
tell 'added, then the name deleted' b A 'update add b.c.example. 60 A 192.0.2.9\nupdate delete b.c.example.' '192.0.2.9 '
tell 'added, then itself deleted' d A 'update add d.c.example. 60 A 192.0.2.9\nupdate delete d.c.example. A 192.0.2.9' '192.0.2.9 '
expect() { # WHAT SAID EXPECTED
  echo "$1: $2"
  [ "$2" = "$3" ] || { echo "  changed: it was $3"; status=1; }
}
expect 'pdns, the name asked for' "$(dig @127.0.0.1 -p "$pdns" +short 2nd.c.example MX)" '10 Mail.Example.NET.'
expect 'pdns, the same name in a transfer' "$(dig @127.0.0.1 -p "$pdns" +noall +answer c.example AXFR | awk '$1 == "2nd.c.example." {print $5, $6}')" '10 mail.example.net.'
expect 'bind, the same name in a transfer' "$(dig @127.0.0.1 -p "$bind" +noall +answer c.example AXFR | awk '$1 == "2nd.c.example." {print $5, $6}')" '10 Mail.Example.NET.'
exit $status
