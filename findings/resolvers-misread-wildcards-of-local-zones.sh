#!/usr/bin/env bash
# What unbound and pdns_recursor answer from a zone file of their own, at names that have none but names below them.
#
# Versions: unbound 1.17.1 (`auth-zone`), pdns-recursor 4.8.8 (`auth-zones`), nsd 4.6.1 beside them, all of Debian 12.
# Seen: the zone has a.ent, *.w, x.y.w and host.w, so that ent, w and y.w are there without records.
# - pdns_recursor answers NXDOMAIN for ent and w, as if nothing were below, and gives y.w the records of the wildcard.
# - Both give z.y.w, and pdns_recursor also q.host.w, the records of *.w, though a name between them is there.
# - pdns_recursor answers NXDOMAIN below a DNAME.
# An engineer would have guessed: the answers of NSD for the same file: RFC 8020 section 2, RFC 4592 sections 2.2.2 and 3.3.1, RFC 6672. A resolver
# that believes NXDOMAIN of ent (RFC 8020) has no a.ent.
set -euo pipefail
needs=(unbound pdns-recursor nsd bind9-dnsutils python3)
dpkg -s "${needs[@]}" >/dev/null 2>&1 || apt-get install -y -qq --no-install-recommends "${needs[@]}" >/dev/null
folder=$(mktemp -d)
started=()
trap 'kill "${started[@]}" 2>/dev/null || true; wait; rm -rf "$folder"' EXIT
cd "$folder"
PATH=$PATH:/usr/sbin
dpkg-query -W "${needs[@]}"
free='import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])'
port() { /usr/bin/python3 -c "$free"; }
nsd=$(port) unbound=$(port) recursor=$(port)
cat > zone <<'ZONE'
$ORIGIN c.example.
$TTL 60
@ SOA ns hostmaster 1 3600 600 86400 60
@ NS ns
ns A 192.0.2.1
a.ent A 192.0.2.2
*.w A 192.0.2.3
x.y.w A 192.0.2.4
host.w TXT "x"
old DNAME new
a.new A 192.0.2.5
ZONE
mkdir n r
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
cat > unbound.conf <<CONF
server:
  interface: 127.0.0.1@$unbound
  username: ""
  chroot: ""
  directory: "$folder"
  pidfile: ""
  use-syslog: no
  do-ip6: no
  module-config: "iterator"
remote-control:
  control-enable: no
auth-zone:
  name: c.example
  zonefile: $folder/zone
  for-downstream: yes
  for-upstream: yes
CONF
printf '%s\n' "auth-zones=c.example=$folder/zone" local-address=127.0.0.1 "local-port=$recursor" threads=1 \
  "socket-dir=$folder/r" write-pid=no disable-syslog=yes security-poll-suffix= dnssec=off > r/recursor.conf
nsd -d -c nsd.conf > nsd.log 2>&1 & started+=($!)
unbound -d -p -c unbound.conf > unbound.log 2>&1 & started+=($!)
pdns_recursor --config-dir=r --daemon=no > recursor.log 2>&1 & started+=($!)
ask() { # PORT NAME: the rcode, and the addresses
  dig @127.0.0.1 -p "$1" +tries=1 +time=2 +noall +comments +answer "$2.c.example" A |
    awk '/status:/ {gsub(/.*status: |,.*/, ""); print} $4 == "A" {print $5}' | paste -sd ' '
}
for each in $nsd $unbound $recursor; do
  for _ in $(seq 100); do [ "$(ask "$each" ns)" = 'NOERROR 192.0.2.1' ] && break; sleep 0.2; done
done
status=0
expect() { # NAME NSD UNBOUND RECURSOR
  local said; said="$(ask "$nsd" "$1") | $(ask "$unbound" "$1") | $(ask "$recursor" "$1")"
  echo "$1: $said"
  [ "$said" = "$2 | $3 | $4" ] || { echo "  changed: it was $2 | $3 | $4"; status=1; }
}
echo 'NSD | unbound | PowerDNS Recursor'
wild='NOERROR 192.0.2.3'
expect a.ent 'NOERROR 192.0.2.2' 'NOERROR 192.0.2.2' 'NOERROR 192.0.2.2'
expect ent NOERROR NOERROR NXDOMAIN
expect w NOERROR NOERROR NXDOMAIN
expect z.w "$wild" "$wild" "$wild"
expect y.w NOERROR NOERROR "$wild"
expect z.y.w NXDOMAIN "$wild" "$wild"
expect q.host.w NXDOMAIN NXDOMAIN "$wild"
expect a.old 'NOERROR 192.0.2.5' 'NOERROR 192.0.2.5' NXDOMAIN
exit $status
