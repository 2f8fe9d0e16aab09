#!/usr/bin/env bash
# Where records are put that stand in an included zone file, and below the line that includes it.
#
# Versions: bind9-utils 9.18.49, nsd 4.6.1, pdns-tools 4.7.3, libnet-dns-perl 1.36, ldnsutils 1.8.3, all of Debian 12.
# Seen: the file has `outer`, `$INCLUDE part sub.c.example.`, and a line without an owner name; `part` sets its own `$TTL`.
# - PowerDNS leaves the name in `$INCLUDE` out: `inner` of `part` becomes `inner.c.example`, not `inner.sub.c.example`.
# - The line without an owner is `outer` for BIND, the included `inner` for NSD and PowerDNS, the apex for Net::DNS.
# - `$TTL 77` of `part` holds for the rest of the file in BIND, NSD and PowerDNS, and not in Net::DNS.
# - ldns says that it has no `$INCLUDE`. The others say nothing.
# An engineer would have guessed: RFC 1035 section 5.1 has the name set the origin of the included file, and the state of
# a file, its origin, owner and TTL, is the same above and below the line.
set -euo pipefail
needs=(bind9-utils nsd pdns-tools libnet-dns-perl ldnsutils python3)
dpkg -s "${needs[@]}" >/dev/null 2>&1 || apt-get install -y -qq --no-install-recommends "${needs[@]}" >/dev/null
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
PATH=$PATH:/usr/sbin
dpkg-query -W "${needs[@]:0:5}"
printf '%s\n' '$TTL 77' 'inner A 192.0.2.9' > part
cat > zone <<ZONE
\$ORIGIN c.example.
\$TTL 3600
@ SOA ns hostmaster 1 3600 600 86400 60
@ NS ns
ns A 192.0.2.1
outer TXT "x"
\$INCLUDE $folder/part sub.c.example.
      A 192.0.2.3
last A 192.0.2.4
ZONE
records() { awk '$2 ~ /^[0-9]+$/ && $(NF-1) == "A" && $1 !~ /^ns\./ {print $1, $2, $NF}' | sort -k3,3 -r | paste -sd ' '; }
bind() { named-compilezone -q -i none -o - c.example zone | records; }
nsd() { # Fills in what nsd-checkzone leaves out: owners that stay, and the origin.
  nsd-checkzone -p c.example zone | awk '$1 == "$ORIGIN" {origin = $2; next} /^;/ {next}
    {if ($0 ~ /^[^ \t]/) {owner = $1 "." origin; $1 = ""; $0 = $0} print owner, $1, $(NF-1), $NF}' | records
}
powerdns() {
  zone2json --zone=zone --zone-name=c.example 2>/dev/null | /usr/bin/python3 -c '
import json, sys
for each in json.load(sys.stdin)["records"]: print(each["name"], each["ttl"], each["type"], each["content"])' | records
}
netdns() {
  perl -MNet::DNS::ZoneFile -e 'my $zone = Net::DNS::ZoneFile->new("zone", "c.example");
    while (my $each = $zone->read) { print $each->plain, "\n" }' | records
}
status=0
expect() { # WHAT SAID EXPECTED
  echo "$1: $2"
  [ "$2" = "$3" ] || { echo "  changed: it was $3"; status=1; }
}
expect BIND "$(bind)" 'inner.sub.c.example. 77 192.0.2.9 last.c.example. 77 192.0.2.4 outer.c.example. 77 192.0.2.3'
expect NSD "$(nsd)" 'inner.sub.c.example. 77 192.0.2.9 last.c.example. 77 192.0.2.4 inner.sub.c.example. 77 192.0.2.3'
expect PowerDNS "$(powerdns)" 'inner.c.example. 77 192.0.2.9 last.c.example. 77 192.0.2.4 inner.c.example. 77 192.0.2.3'
expect Net::DNS "$(netdns)" 'inner.sub.c.example. 77 192.0.2.9 last.c.example. 3600 192.0.2.4 c.example. 3600 192.0.2.3'
expect ldns "$(ldns-read-zone zone 2>&1 >/dev/null | head -1)" 'Syntax error, $INCLUDE not implemented at line 7'
exit $status
