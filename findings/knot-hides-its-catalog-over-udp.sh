#!/usr/bin/env bash
# How knotd answers for a catalog zone that it makes itself (catalog-role: generate).
#
# Versions: knot 3.2.6 of Debian 12 (and dig 9.18.49 as the client).
# Seen: to an address whose ACL permits transfers, SOA and AXFR of the catalog zone are answered over TCP, and SOA is REFUSED over UDP.
# A secondary that asks for the SOA over UDP first, as RFC 1996 section 3.11 and BIND have it, never transfers it.
# An engineer would have guessed: the transport is nothing to an SOA record; that of an ordinary zone is answered over both.
set -euo pipefail
needs=(knot bind9-dnsutils python3)
dpkg -s "${needs[@]}" >/dev/null 2>&1 || apt-get install -y -qq --no-install-recommends "${needs[@]}" >/dev/null
folder=$(mktemp -d)
started=()
trap 'kill "${started[@]}" 2>/dev/null || true; wait; rm -rf "$folder"' EXIT
cd "$folder"
PATH=$PATH:/usr/sbin
knotd --version
port=$(/usr/bin/python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])')
cat > zone <<ZONE
c.example. 3600 SOA ns1.c.example. host.c.example. 1 3600 600 86400 300
c.example. 3600 NS ns1.c.example.
ns1.c.example. 3600 A 192.0.2.1
ZONE
cat > knot.conf <<CONF
server:
  listen: 127.0.0.1@$port
  rundir: $folder
database:
  storage: $folder
acl:
  - id: local
    address: 127.0.0.0/8
    action: transfer
template:
  - id: member
    catalog-role: member
    catalog-zone: catalog.example
zone:
  - domain: catalog.example
    catalog-role: generate
    acl: local
  - domain: c.example
    file: $folder/zone
    acl: local
    template: member
CONF
knotd -c knot.conf > log 2>&1 &
started+=($!)
soa() { # NAME TRANSPORT: the rcode, and how many records the answer has.
  dig @127.0.0.1 -p "$port" +tries=1 +time=2 "$2" "$1" SOA | sed -n 's/.*status: \([A-Z]*\),.*/\1/p; s/.*ANSWER: \([0-9]*\),.*/\1/p' | paste -sd ' '
}
for _ in $(seq 100); do [ "$(soa catalog.example +tcp)" = 'NOERROR 1' ] && break; sleep 0.1; done
status=0
expect() { # WHAT SAID EXPECTED
  echo "$1: $2"
  [ "$2" = "$3" ] || { echo "  changed: it was $3"; status=1; }
}
expect 'SOA of an ordinary zone over UDP' "$(soa c.example +notcp)" 'NOERROR 1'
expect 'SOA of the catalog zone over TCP' "$(soa catalog.example +tcp)" 'NOERROR 1'
expect 'SOA of the catalog zone over UDP' "$(soa catalog.example +notcp)" 'REFUSED 0'
members=$(dig @127.0.0.1 -p "$port" +tries=1 +time=2 +noall +answer catalog.example AXFR | grep -c 'PTR[[:space:]]*c.example.' || true)
expect 'members in a transfer of the catalog zone' "$members" 1
exit $status
