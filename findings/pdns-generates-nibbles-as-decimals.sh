#!/usr/bin/env bash
# What PowerDNS makes of `$GENERATE` with nibbles, the form for reverse zones of IPv6.
#
# Versions: pdns-tools 4.7.3 (zone2json, whose parser is that of pdns_server) and bind9-utils 9.18.49 of Debian 12.
# Seen: `$GENERATE 16-18 ${0,3,n} PTR h$` makes 0.1, 1.1 and 2.1 for BIND, and 016, 017 and 018 for PowerDNS: names of one label, which
# nobody asks for. Nothing is said. The radixes d, o, x and X are taken as BIND takes them.
# An engineer would have guessed: a radix that is not known is refused.
set -euo pipefail
needs=(pdns-tools bind9-utils python3)
dpkg -s "${needs[@]}" >/dev/null 2>&1 || apt-get install -y -qq --no-install-recommends "${needs[@]}" >/dev/null
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
PATH=$PATH:/usr/sbin
dpkg-query -W "${needs[@]:0:2}"
origin=8.b.d.0.1.0.0.2.ip6.arpa
bind() { named-compilezone -q -i none -o - $origin zone | awk '$4 == "PTR" {print $1}'; }
powerdns() {
  zone2json --zone=zone --zone-name=$origin 2>/dev/null | /usr/bin/python3 -c '
import json, sys
for each in json.load(sys.stdin)["records"]:
    if each["type"] == "PTR": print(each["name"])'
}
status=0
expect() { # WHAT SAID EXPECTED
  echo "$1: $2"
  [ "$2" = "$3" ] || { echo "  changed: it was $3"; status=1; }
}
for each in 'd 016,017,018 016,017,018' 'o 020,021,022 020,021,022' 'x 010,011,012 010,011,012' 'X 010,011,012 010,011,012' \
  'n 0.1,1.1,2.1 016,017,018' 'N 0.1,1.1,2.1 016,017,018'; do
  read -r radix there here <<< "$each"
  printf '%s\n' '$TTL 60' '@ SOA ns.c.example. hostmaster.c.example. 1 3600 600 86400 60' '@ NS ns.c.example.' \
    "\$GENERATE 16-18 \${0,3,$radix} PTR h\$.c.example." > zone
  expect "$radix, BIND" "$(bind | sed "s/\.$origin\.$//" | sort | paste -sd ,)" "$there"
  expect "$radix, PowerDNS" "$(powerdns | sed "s/\.$origin\.$//" | sort | paste -sd ,)" "$here"
done
exit $status
