#!/usr/bin/env bash
# What becomes of upper-case letters in names of a zone, such as `Office Printer._ipp._tcp`, which people see.
#
# Versions: knot 3.2.6, nsd 4.6.1, bind9 9.18.49, pdns-server and pdns-backend-bind 4.7.3 of Debian 12.
# Seen: BIND and PowerDNS answer and transfer the names as the file has them. Knot and NSD make them lower case when they read the file,
# owners and the names in PTR, SRV, CNAME and MX records alike: who browses sees "office printer", and a secondary of theirs
# passes that on. Targets of HTTPS records stay as they are in Knot, and not in NSD. Texts stay.
# An engineer would have guessed: a server keeps what it is given (RFC 1035 section 2.3.3, RFC 4343 section 4.1); case is nothing to
# comparing names alone. RFC 6763 section 4.1.1 counts on it.
set -euo pipefail
needs=(knot nsd bind9 bind9-dnsutils pdns-server pdns-backend-bind python3)
dpkg -s "${needs[@]}" >/dev/null 2>&1 || apt-get install -y -qq --no-install-recommends "${needs[@]}" >/dev/null
folder=$(mktemp -d)
started=()
trap 'kill "${started[@]}" 2>/dev/null || true; wait; rm -rf "$folder"' EXIT
cd "$folder"
PATH=$PATH:/usr/sbin
dpkg-query -W "${needs[@]}"
free='import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])'
port() { /usr/bin/python3 -c "$free"; }
named=$(port) knot=$(port) nsd=$(port) pdns=$(port)
cat > zone <<'ZONE'
$ORIGIN c.example.
$TTL 60
@ SOA ns hostmaster 1 3600 600 86400 60
@ NS ns
ns A 192.0.2.1
_ipp._tcp PTR Office\032Printer._ipp._tcp
Office\032Printer._ipp._tcp SRV 0 0 631 Host-7.c.example.
Office\032Printer._ipp._tcp TXT "ty=Some Model"
Host-7 A 192.0.2.7
https HTTPS 1 Host-7.c.example.
ZONE
mkdir k n p
cat > named.conf <<CONF
options { directory "$folder"; listen-on port $named { 127.0.0.1; }; listen-on-v6 { none; }; pid-file none; session-keyfile none; recursion no; };
controls {};
zone "c.example" { type primary; file "zone"; allow-transfer { any; }; };
CONF
cat > knot.conf <<CONF
server:
  listen: 127.0.0.1@$knot
  rundir: $folder/k
database:
  storage: $folder/k
acl:
  - id: local
    address: 127.0.0.0/8
    action: transfer
zone:
  - domain: c.example
    file: $folder/zone
    acl: local
CONF
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
  provide-xfr: 127.0.0.0/8 NOKEY
CONF
echo "zone \"c.example\" { type native; file \"$folder/zone\"; };" > zones.conf
printf '%s\n' launch=bind "bind-config=$folder/zones.conf" local-address=127.0.0.1 "local-port=$pdns" allow-axfr-ips=127.0.0.0/8 \
  "socket-dir=$folder/p" write-pid=no disable-syslog=yes security-poll-suffix= > p/pdns.conf
named -g -c named.conf > named.log 2>&1 & started+=($!)
knotd -c knot.conf > knot.log 2>&1 & started+=($!)
nsd -d -c nsd.conf > nsd.log 2>&1 & started+=($!)
pdns_server --config-dir=p --daemon=no --guardian=no > pdns.log 2>&1 & started+=($!)
ask() { dig @127.0.0.1 -p "$1" +tries=1 +time=2 +short "$2.c.example" "$3" 2>/dev/null; } # PORT NAME TYPE
owner() { # PORT TYPE: the owner of the record of this type in a transfer
  dig @127.0.0.1 -p "$1" +tries=1 +time=2 +noall +answer c.example AXFR | awk -v type="$2" '$4 == type {print $1}'
}
for each in $named $knot $nsd $pdns; do
  for _ in $(seq 100); do [ "$(ask "$each" ns A)" = 192.0.2.1 ] && break; sleep 0.2; done
done
status=0
expect() { # WHAT SAID EXPECTED
  echo "$1: $2"
  [ "$2" = "$3" ] || { echo "  changed: it was $3"; status=1; }
}
all() { # NAME PORT INSTANCE HOST HTTPS
  expect "$1, PTR" "$(ask "$2" _ipp._tcp PTR)" "$3._ipp._tcp.c.example."
  expect "$1, SRV" "$(ask "$2" 'Office\032Printer._ipp._tcp' SRV)" "0 0 631 $4.c.example."
  expect "$1, TXT" "$(ask "$2" 'Office\032Printer._ipp._tcp' TXT)" '"ty=Some Model"'
  expect "$1, HTTPS" "$(ask "$2" https HTTPS)" "1 $5.c.example."
  expect "$1, owner in AXFR" "$(owner "$2" SRV)" "$3._ipp._tcp.c.example."
}
all BIND "$named" 'Office\032Printer' Host-7 Host-7
all PowerDNS "$pdns" 'Office\032Printer' Host-7 Host-7
all Knot "$knot" 'office\032printer' host-7 Host-7
all NSD "$nsd" 'office\032printer' host-7 host-7
exit $status
