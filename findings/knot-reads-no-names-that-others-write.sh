#!/usr/bin/env bash
# Whether knot reads zone files that BIND, ldns and dnspython write, where a name has an apostrophe, `&` or `+` in it.
#
# Versions: knot 3.2.6 (kzonecheck reads as knotd does), bind9-utils 9.18.49, ldnsutils 1.8.3, python3-dnspython 2.3.0, nsd 4.6.1 of Debian 12.
# Seen: the file has `bob\'s\032printer._ipp._tcp`, and all tools read it. named-compilezone (and so dig), ldns-read-zone and dnspython
# write `bob's\032printer`. NSD reads that, Knot does not: `invalid domain name character`, and the zone is not loaded. The same
# goes for all of ! # % & ' + , : < = > ? [ ] ^ ` { | } ~ without a backslash, in owners and in values.
# An engineer would have guessed: what `dig AXFR` prints is a zone file for each server; RFC 1035 section 5.1 has few characters with a
# meaning, and these are none of them. As a secondary Knot takes the same names.
set -euo pipefail
needs=(knot knot-dnsutils bind9-utils ldnsutils python3-dnspython nsd)
dpkg -s "${needs[@]}" >/dev/null 2>&1 || apt-get install -y -qq --no-install-recommends "${needs[@]}" >/dev/null
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
PATH=$PATH:/usr/sbin
dpkg-query -W "${needs[@]}"
printf '%s\n' '$ORIGIN c.example.' '$TTL 60' 'c.example. SOA ns hostmaster 1 3600 600 86400 60' 'c.example. NS ns' 'ns A 192.0.2.1' \
  "bob\\'s\\032printer._ipp._tcp SRV 0 0 631 ns" "_ipp._tcp PTR bob\\'s\\032printer._ipp._tcp" > zone
named-compilezone -q -i none -k ignore -o bind c.example zone
ldns-read-zone zone > ldns
/usr/bin/python3 -c 'import dns.zone; dns.zone.from_file("zone", "c.example.", relativize=False).to_file("dnspython", relativize=False)'
knot() { if kzonecheck -v -o c.example "$1" >said 2>&1; then echo 'reads it'; else grep -o -m1 'invalid domain name character' said || echo 'refuses it'; fi; }
nsd() { if nsd-checkzone c.example "$1" >/dev/null 2>&1; then echo 'reads it'; else echo 'refuses it'; fi; }
status=0
expect() { # WHAT SAID EXPECTED
  echo "$1: $2"
  [ "$2" = "$3" ] || { echo "  changed: it was $3"; status=1; }
}
expect 'Knot, the file with backslashes' "$(knot zone)" 'reads it'
for tool in bind ldns dnspython; do
  expect "$tool writes" "$(awk '$4 == "SRV" {print $1}' "$tool")" "bob's\\032printer._ipp._tcp.c.example."
  expect "NSD, the file of $tool" "$(nsd "$tool")" 'reads it'
  expect "Knot, the file of $tool" "$(knot "$tool")" 'invalid domain name character'
done
refused=
for each in '!' '#' '%' '&' "'" '*' '+' ',' - / : '<' = '>' '?' '[' ']' '^' _ '`' '{' '|' '}' '~'; do
  printf '%s\n' '$TTL 60' '@ SOA ns hostmaster 1 3600 600 86400 60' '@ NS ns' 'ns A 192.0.2.1' "a${each}b A 192.0.2.2" > one
  [ "$(knot one)" = 'reads it' ] || refused+=$each
done
expect 'Knot refuses in a name' "$refused" "!#%&'+,:<=>?[]^\`{|}~"
exit $status
