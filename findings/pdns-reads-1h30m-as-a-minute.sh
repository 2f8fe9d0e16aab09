#!/usr/bin/env bash
# What PowerDNS makes of times with two units in a zone file, such as 1h30m.
#
# Versions: pdns-tools 4.7.3 (zone2json, whose parser is that of pdns_server) and bind9-utils 9.18.49 of Debian 12.
# Seen: `$TTL 1h30m` is 60 seconds and `1m30s` in the SOA record is 1: the first number is taken with the last unit. Nothing
# is said. One unit (`1h`) is right. named-compilezone, and with it the zones that come from BIND, have 5400 and 90.
# An engineer would have guessed: a time that is taken is taken as BIND takes it, or refused as the same time is
# in front of a record (`www 1h30m A ...`: "doesn't look like a qtype").
set -euo pipefail
needs=(pdns-tools bind9-utils python3)
dpkg -s "${needs[@]}" >/dev/null 2>&1 || apt-get install -y -qq --no-install-recommends "${needs[@]}" >/dev/null
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
PATH=$PATH:/usr/sbin
dpkg-query -W pdns-tools bind9-utils
printf '%s\n' '$TTL 1h30m' '@ SOA ns hostmaster 1 1h30m 15m 2w 1m30s' '@ NS ns' 'ns A 192.0.2.1' > zone
bind() { # The TTL of each record, and the times of the SOA record.
  named-compilezone -q -i none -o - c.example zone | awk '{ttl = ttl " " $2} $4 == "SOA" {soa = $8 " " $9 " " $10 " " $11} END {print ttl " |", soa}'
}
powerdns() {
  zone2json --zone=zone --zone-name=c.example 2>/dev/null | /usr/bin/python3 -c '
import json, sys
records = json.load(sys.stdin)["records"]
soa = next(each["content"] for each in records if each["type"] == "SOA")
print(" " + " ".join(str(each["ttl"]) for each in records), "|", " ".join(soa.split()[3:]))'
}
status=0
expect() { # WHAT SAID EXPECTED
  echo "$1:$2"
  [ "$2" = "$3" ] || { echo "  changed: it was$3"; status=1; }
}
expect 'BIND' "$(bind)" ' 5400 5400 5400 | 5400 900 1209600 90'
expect 'PowerDNS' "$(powerdns)" ' 60 60 60 | 60 900 1209600 1'
echo 'www 1h30m A 192.0.2.2' >> zone
expect 'in front of a record, PowerDNS' " $(zone2json --zone=zone --zone-name=c.example 2>&1 | grep -o "'1h30m' doesn't look like a qtype")" \
  " '1h30m' doesn't look like a qtype"
exit $status
