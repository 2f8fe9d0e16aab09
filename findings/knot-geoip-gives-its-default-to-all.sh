#!/usr/bin/env bash
# For which clients an answer of knotd with mod-geoip holds, and what a resolver that sends the client's subnet makes of it.
#
# Versions: knot and knot-module-geoip 3.2.6, unbound 1.17.1 (`subnetcache`), bind9-dnsutils 9.18.49 (dig) of Debian 12.
# Seen: www has an address for 10.1.0.0/16, and another one in the zone for everybody else. A client of 10.1.0.0/16 gets the first with
# the scope 16. One of 10.9.0.0/16 gets the second with the scope 0, which says that it holds for all clients. unbound believes it: when a
# client from elsewhere has asked first, those of 10.1.0.0/16 get the second address, too, until its TTL ends. The other way round both are right.
# The same goes for a name that the module alone has: elsewhere it is NXDOMAIN with the scope 0.
# An engineer would have guessed: where the answer depends on the subnet, the scope of each answer says so (RFC 7871 sections 7.2.1 and 7.4).
set -euo pipefail
needs=(knot knot-module-geoip unbound bind9-dnsutils python3)
dpkg -s "${needs[@]}" >/dev/null 2>&1 || apt-get install -y -qq --no-install-recommends "${needs[@]}" >/dev/null
folder=$(mktemp -d)
started=()
trap 'kill "${started[@]}" 2>/dev/null || true; wait; rm -rf "$folder"' EXIT
cd "$folder"
chmod 755 .
PATH=$PATH:/usr/sbin
dpkg-query -W "${needs[@]}"
port() { /usr/bin/python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])'; }
knot=$(port) resolver=$(port)
printf '%s\n' '$ORIGIN c.example.' '$TTL 60' '@ SOA ns hostmaster 1 3600 600 86400 60' '@ NS ns' 'ns A 127.0.0.1' 'www A 192.0.2.100' 'web A 192.0.2.100' > zone
for name in www web geo; do printf '%s.c.example:\n  - net: 10.1.0.0/16\n    A: 192.0.2.11\n' $name; done > nets
cat > knot.conf <<CONF
server:
  listen: 127.0.0.1@$knot
  rundir: $folder
  edns-client-subnet: on
database:
  storage: $folder
mod-geoip:
  - id: places
    config-file: $folder/nets
    mode: subnet
zone:
  - domain: c.example
    file: $folder/zone
    zonefile-sync: -1
    module: mod-geoip/places
CONF
knotd -c knot.conf > knot.log 2>&1 &
started+=($!)
cat > unbound.conf <<CONF
server:
  interface: 127.0.0.1@$resolver
  username: ""
  chroot: ""
  directory: "$folder"
  pidfile: ""
  use-syslog: no
  num-threads: 1
  do-not-query-localhost: no
  module-config: "subnetcache iterator"
  send-client-subnet: 127.0.0.1
  client-subnet-zone: "c.example"
  max-client-subnet-ipv4: 24
remote-control:
  control-enable: no
stub-zone:
  name: "c.example"
  stub-addr: 127.0.0.1@$knot
CONF
unbound -d -c unbound.conf > unbound.log 2>&1 &
started+=($!)
for at in "$knot" "$resolver"; do
  for _ in $(seq 100); do [ -n "$(dig @127.0.0.1 -p "$at" +tries=1 +time=1 +short ns.c.example A 2>/dev/null)" ] && break; sleep 0.1; done
done
ask() { # PORT SUBNET NAME: rcode, address, and the subnet with the scope that the answer holds for
  dig @127.0.0.1 -p "$1" "+subnet=$2" "$3.c.example" A > said
  echo "$(grep -o 'status: [A-Z]*' said | cut -d' ' -f2) $(awk '$4 == "A" {print $5}' said) $(sed -n 's/; CLIENT-SUBNET: //p' said)" | tr -s ' '
}
status=0
expect() { # WHAT SAID EXPECTED
  echo "$1: $2"
  [ "$2" = "$3" ] || { echo "  changed: it was $3"; status=1; }
}
expect 'Knot, www, a net of its own' "$(ask "$knot" 10.1.5.0/24 www)" 'NOERROR 192.0.2.11 10.1.5.0/24/16'
expect 'Knot, www, elsewhere' "$(ask "$knot" 10.9.5.0/24 www)" 'NOERROR 192.0.2.100 10.9.5.0/24/0'
expect 'Knot, geo, a net of its own' "$(ask "$knot" 10.1.5.0/24 geo)" 'NOERROR 192.0.2.11 10.1.5.0/24/16'
expect 'Knot, geo, elsewhere' "$(ask "$knot" 10.9.5.0/24 geo)" 'NXDOMAIN 10.9.5.0/24/0'
expect 'unbound, www, elsewhere first' "$(ask "$resolver" 10.9.5.0/24 www | cut -d' ' -f2)" 192.0.2.100
expect 'unbound, www, then the net of its own' "$(ask "$resolver" 10.1.5.0/24 www | cut -d' ' -f2)" 192.0.2.100
expect 'unbound, web, the net of its own first' "$(ask "$resolver" 10.1.5.0/24 web | cut -d' ' -f2)" 192.0.2.11
expect 'unbound, web, then elsewhere' "$(ask "$resolver" 10.9.5.0/24 web | cut -d' ' -f2)" 192.0.2.100
exit $status
