#!/usr/bin/env bash
# Which TTL a record has that states none, in a zone file without `$TTL`.
#
# Versions: bind9 9.18.49, knot 3.2.6, nsd 4.6.1, pdns-tools 4.7.3, ldnsutils 1.8.3, python3-dnspython 2.3.0 and libnet-dns-perl
# 1.36 of Debian 12.
# Seen: the SOA record has the TTL 300 and the MINIMUM 120, the address of ns the TTL 60, NS and the address of www none.
# - BIND, PowerDNS and ldns: the last one that was stated, so 300 and 60.
# - NSD and Knot: 3600, which the file does not have.
# - dnspython and Net::DNS: the MINIMUM of the SOA record, 120.
# named-compilezone tells of it, the others say nothing. A file that is moved from one server to another changes its TTLs.
# An engineer would have guessed: RFC 1035 section 5.1 has one answer, the last one stated.
set -euo pipefail
needs=(bind9-utils bind9-dnsutils knot nsd pdns-tools ldnsutils python3-dnspython libnet-dns-perl)
dpkg -s "${needs[@]}" >/dev/null 2>&1 || apt-get install -y -qq --no-install-recommends "${needs[@]}" >/dev/null
folder=$(mktemp -d)
started=()
trap 'kill "${started[@]}" 2>/dev/null || true; wait; rm -rf "$folder"' EXIT
cd "$folder"
PATH=$PATH:/usr/sbin
dpkg-query -W "${needs[@]}"
cat > zone <<'ZONE'
$ORIGIN c.example.
c.example. 300 SOA ns hostmaster 1 3600 600 86400 120
@ NS ns
ns 60 A 192.0.2.1
www A 192.0.2.2
ZONE
port=$(/usr/bin/python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])')
printf '%s\n' server: "  listen: 127.0.0.1@$port" "  rundir: $folder" database: "  storage: $folder" zone: \
  '  - domain: c.example' "    file: $folder/zone" > knot.conf
knotd -c knot.conf > knot.log 2>&1 & started+=($!)
ask() { dig @127.0.0.1 -p "$port" +tries=1 +time=1 +noall +answer "$1" "$2" | awk '{print $2}'; }
for _ in $(seq 100); do [ -n "$(ask c.example SOA)" ] && break; sleep 0.1; done
ttls() { awk '$4 == "NS" {ns = $2} $1 == "www.c.example." {www = $2} END {print ns, www}'; } # of lines OWNER TTL IN TYPE ...
nsd() { # The owner of the NS record is that of the SOA record; www stands below its own $ORIGIN.
  nsd-checkzone -p c.example zone | awk '$3 == "NS" {ns = $1} $1 == "www" {www = $2} END {print ns, www}'
}
powerdns() {
  zone2json --zone=zone --zone-name=c.example 2>/dev/null | /usr/bin/python3 -c '
import json, sys
for each in json.load(sys.stdin)["records"]: print(each["name"], each["ttl"], "IN", each["type"])' | ttls
}
dnspython() {
  /usr/bin/python3 -c '
import dns.zone, sys
dns.zone.from_file("zone", "c.example.", relativize=False).to_file(sys.stdout.buffer, relativize=False)' | ttls
}
netdns() {
  perl -MNet::DNS::ZoneFile -e 'my $zone = Net::DNS::ZoneFile->new("zone", "c.example");
    while (my $each = $zone->read) { print $each->plain, "\n" }' | ttls
}
status=0
expect() { # WHAT SAID EXPECTED
  echo "$1: $2"
  [ "$2" = "$3" ] || { echo "  changed: it was $3"; status=1; }
}
expect BIND "$(named-compilezone -q -i none -o - c.example zone | ttls)" '300 60'
expect PowerDNS "$(powerdns)" '300 60'
expect ldns "$(ldns-read-zone zone | ttls)" '300 60'
expect NSD "$(nsd)" '3600 3600'
expect Knot "$(ask c.example NS) $(ask www.c.example A)" '3600 3600'
expect dnspython "$(dnspython)" '120 120'
expect Net::DNS "$(netdns)" '120 120'
exit $status
