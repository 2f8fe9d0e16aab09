#!/usr/bin/env bash
# Which differences of two zone files ldns-compare-zones tells, and which it does not.
#
# Versions: ldnsutils 1.8.3 and bind9-utils 9.18.49 of Debian 12.
# Seen, with `-a -s -e` (all differences, the SOA record too, status 2 where there is one):
# - Other TTLs are none: each record of a zone may have 5 in one file and 86400 in the other, and it prints `+0 -0 ~0` and ends with 0.
# - A record that stands in a file twice is one: `~1`, and status 2, though a set has each record once.
# - Without `-s` another serial, and all else in the SOA record, is none (its manual says so).
# named-compilezone and diff show the first and the last, and not the second.
# An engineer would have guessed: the TTL is a part of the record, and a tool that is run after a zone has moved to another server shows what moved
# otherwise. Its manual has no word on TTLs.
set -euo pipefail
needs=(ldnsutils bind9-utils)
dpkg -s "${needs[@]}" >/dev/null 2>&1 || apt-get install -y -qq --no-install-recommends "${needs[@]}" >/dev/null
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
PATH=$PATH:/usr/sbin
dpkg-query -W ldnsutils bind9-utils
cat > before <<ZONE
c.example. 86400 IN SOA ns1.c.example. host.c.example. 1 3600 600 86400 300
c.example. 86400 IN NS ns1.c.example.
ns1.c.example. 86400 IN A 192.0.2.1
www.c.example. 86400 IN A 192.0.2.2
ZONE
sed 's/86400 IN/5 IN/' before > ttls
{ cat before; tail -1 before; } > twice
sed 's/\. 1 3600/. 2 3600/' before > serial
sed 's/192.0.2.2/192.0.2.3/' before > address
status=0
expect() { # WHAT SAID EXPECTED
  echo "$1: $2"
  [ "$2" = "$3" ] || { echo "  changed: it was $3"; status=1; }
}
ldns() { # OPTION... FILE: the summary, and the status
  local said code=0
  said=$(ldns-compare-zones -e "${@:1:$#-1}" before "${@: -1}") || code=$?
  echo "$(tail -1 <<< "$said" | xargs), status $code"
}
compiled() { named-compilezone -q -i none -o - c.example "$1"; }
bind() { diff <(compiled before) <(compiled "$1") > /dev/null && echo same || echo others; }
expect 'another address, ldns' "$(ldns -a -s address)" '+0 -0 ~1, status 2'
expect 'another address, BIND and diff' "$(bind address)" others
expect 'other TTLs, ldns' "$(ldns -a -s ttls)" '+0 -0 ~0, status 0'
expect 'other TTLs, BIND and diff' "$(bind ttls)" others
expect 'a record twice, ldns' "$(ldns -a -s twice)" '+0 -0 ~1, status 2'
expect 'a record twice, BIND and diff' "$(bind twice)" same
expect 'another serial, ldns' "$(ldns -a serial)" '+0 -0 ~0, status 0'
expect 'another serial, ldns -s' "$(ldns -a -s serial)" '+0 -0 ~1, status 2'
expect 'another serial, BIND and diff' "$(bind serial)" others
exit $status
