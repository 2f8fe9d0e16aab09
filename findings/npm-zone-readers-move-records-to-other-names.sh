#!/usr/bin/env bash
# What zone file readers of npm make of a line without an owner, of times with a unit, and of a second $ORIGIN.
#
# Versions: npm packages zone-file 1.0.0, @fungible-systems/zone-file 2.0.0 (the same code in TypeScript), dns-zonefile 0.3.2 and dnsz 4.5.2;
# bind9-utils 9.18.49 of Debian 12 beside them.
# Seen, of a file that named-compilezone reads; none of them says anything:
# - A line that begins with a space has the owner of the line before. zone-file makes `300` the owner of `    300 AAAA ...`, `IN` that of `  IN NS ns2`, and
#   `MX` that of `  MX 20 mail2`. dns-zonefile gives each such line to the apex: the zone itself gets the IPv6 address of ns1. dnsz leaves the MX out.
# - `1d 2h 4w 1h` in the SOA record is 1, 2, 4 and 1 seconds for zone-file and dns-zonefile; dnsz has it as text.
# - The last `$ORIGIN` of the file is that of all its names in zone-file and dns-zonefile. dnsz has owners right, and leaves names in values relative.
# - `ns2 IN 300 A ...` is left out by dns-zonefile, has no TTL in zone-file, and the type IN in dnsz. HTTPS and TLSA records are left out by all but dnsz.
# An engineer would have guessed: what reads zone files has the records of the examples in RFC 1035 sections 5.1 and 5.3, or says what it cannot read.
set -euo pipefail
needs=(bind9-utils)
dpkg -s "${needs[@]}" >/dev/null 2>&1 || apt-get install -y -qq --no-install-recommends "${needs[@]}" >/dev/null
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
PATH=$PATH:/usr/sbin
npm install --silent --no-audit --no-fund --ignore-scripts zone-file@1.0.0 @fungible-systems/zone-file@2.0.0 dns-zonefile@0.3.2 dnsz@4.5.2 > /dev/null
cat > zone <<'ZONE'
$ORIGIN c.example.
$TTL 1h
@ IN SOA ns1 host ( 1 1d 2h 4w 1h )
@ IN NS ns1
  IN NS ns2
ns1 300 IN A 192.0.2.1
    300 IN AAAA 2001:db8::1
ns2 IN 300 A 192.0.2.2
@ MX 10 mail
  MX 20 mail2
tlsa TLSA 3 1 1 0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef
h HTTPS 1 . alpn=h2
$ORIGIN sub.c.example.
x A 192.0.2.5
ZONE
cat > read.mjs <<'JS'
// Prints the records that a reader finds: owner, TTL, type and data, and the origin.
import { readFileSync } from 'node:fs'
const name = process.argv[2]
const library = await import(name)
const text = readFileSync('zone', 'utf8')
const of = (field) => library[field] ?? library.default[field]
if (name === 'dnsz') {
  const { origin, records } = of('parseZone')(text)
  for (const { name: owner, ttl, type, content } of records) console.log(owner, ttl, type, content)
  console.log('origin', origin)
} else {
  const zone = of(name === 'dns-zonefile' ? 'parse' : 'parseZoneFile')(text)
  for (const [type, records] of Object.entries(zone)) {
    if (type === 'soa') console.log('SOA', ...['refresh', 'retry', 'expire', 'minimum'].map((time) => records[time]))
    if (!Array.isArray(records)) continue
    for (const { name: owner, ttl = '-', ip, host } of records) console.log(owner, ttl, type.toUpperCase(), ip ?? host)
  }
  console.log('origin', zone.$origin)
}
JS
status=0
expect() { # WHAT SAID EXPECTED
  echo "$1:"
  sed 's/^/  /' <<< "$2"
  [ "$2" = "$3" ] || { echo '  changed: it was'; sed 's/^/    /' <<< "$3"; status=1; }
}
expect BIND "$(named-compilezone -q -i none -o - c.example zone | awk '{$3 = ""; print}' | tr -s ' ' | cut -c1-60 | LC_ALL=C sort)" \
'c.example. 3600 MX 10 mail.c.example.
c.example. 3600 MX 20 mail2.c.example.
c.example. 3600 NS ns1.c.example.
c.example. 3600 NS ns2.c.example.
c.example. 3600 SOA ns1.c.example. host.c.example. 1 86400 7
h.c.example. 3600 HTTPS 1 . alpn="h2"
ns1.c.example. 300 A 192.0.2.1
ns1.c.example. 300 AAAA 2001:db8::1
ns2.c.example. 300 A 192.0.2.2
tlsa.c.example. 3600 TLSA 3 1 1 0123456789ABCDEF0123456789AB
x.sub.c.example. 3600 A 192.0.2.5'
blockstack='SOA 1 2 4 1
@ - NS ns1
IN - NS ns2
ns1 300 A 192.0.2.1
ns2 - A 192.0.2.2
x - A 192.0.2.5
300 - AAAA 2001:db8::1
@ - MX mail
MX 20 MX mail2
origin sub.c.example.'
expect zone-file "$(node read.mjs zone-file)" "$blockstack"
expect @fungible-systems/zone-file "$(node read.mjs @fungible-systems/zone-file)" "$blockstack"
expect dns-zonefile "$(node read.mjs dns-zonefile)" 'SOA 1 2 4 1
@ - NS ns1
@ - NS ns2
ns1 300 A 192.0.2.1
x - A 192.0.2.5
@ 300 AAAA 2001:db8::1
@ - MX mail
@ - MX mail2
origin sub.c.example.'
expect dnsz "$(node read.mjs dnsz | cut -c1-60)" 'c.example 3600 SOA ns1 host 1 1d 2h 4w 1h
c.example 3600 NS ns1
c.example 3600 NS ns2
ns1.c.example 300 A 192.0.2.1
ns1.c.example 300 AAAA 2001:db8::1
ns2.c.example 3600 IN 300 A 192.0.2.2
c.example 3600 MX 10 mail
tlsa.c.example 3600 TLSA 3 1 1 0123456789abcdef0123456789abc
h.c.example 3600 HTTPS 1 . alpn=h2
x.sub.c.example 3600 A 192.0.2.5
origin sub.c.example'
exit $status
