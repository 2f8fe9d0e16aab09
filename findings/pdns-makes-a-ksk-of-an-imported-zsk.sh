#!/usr/bin/env bash
# What pdnsutil and ldns-signzone make of the keys of a zone that BIND has signed, and rolls.
#
# Versions: pdns-server and pdns-backend-sqlite3 4.7.3, ldnsutils 1.8.3; bind9-utils 9.18.49 and knot-dnssecutils 3.2.6 beside them, of Debian 12.
# Seen, of files with a KSK, a ZSK, a ZSK that signs from next month on, one that has signed until last month, and one that is deleted:
# - `pdnsutil import-zone-key ZONE FILE` makes each a key with the flags 257, published and active. A ZSK is another record then, whose key tag is
#   one more: signatures of BIND that resolvers have name a tag that the zone has no more. With the words `active zsk` it is the same key.
# - ldns-signzone signs with all of them, also with the one that is deleted, and `pdnsutil` with the word `zsk` would.
# - `dnssec-signzone -S` signs with two, publishes four and leaves the deleted one out. `keymgr import-bind` takes role and times over.
# Nothing is said.
# An engineer would have guessed: the role is taken from the DNSKEY record in the file beside it, and what the file says of times is kept or refused.
set -euo pipefail
needs=(bind9-utils pdns-server pdns-backend-sqlite3 sqlite3 knot-dnssecutils ldnsutils)
dpkg -s "${needs[@]}" >/dev/null 2>&1 || apt-get install -y -qq --no-install-recommends "${needs[@]}" >/dev/null
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
PATH=$PATH:/usr/sbin
dpkg-query -W bind9-utils pdns-server knot-dnssecutils ldnsutils
printf 'c.example. 300 IN %s\n' 'SOA ns1.c.example. host.c.example. 1 3600 600 86400 300' 'NS ns1.c.example.' > zone
echo 'ns1.c.example. 300 IN A 192.0.2.1' >> zone
make() { dnssec-keygen -q -a ECDSAP256SHA256 "$@" c.example; }
names=(ksk zsk future past deleted)
files=("$(make -f KSK)" "$(make)" "$(make -P now -A +30d)" "$(make -P -60d -A -60d -I -30d)" "$(make -P -60d -A -60d -I -30d -D -1d)")
named_so() { # Reads key tags, and says for each which key that is, and how much more the tag is.
  local tag at own
  while read -r tag; do
    for at in "${!files[@]}"; do
      own=$((10#${files[at]: -5}))
      [ "$tag" != "$own" ] || echo "${names[at]}"
      [ "$tag" != $((own + 1)) ] || echo "${names[at]}+1"
    done
  done | sort -u | paste -sd ' '
}
status=0
expect() { # WHAT SAID EXPECTED
  echo "$1: $2"
  [ "$2" = "$3" ] || { echo "  changed: it was $3"; status=1; }
}
signers() { awk '$4 == "RRSIG" {print $11}' "$1" | sort -u; }

dnssec-signzone -S -O full -o c.example -f by-bind zone > /dev/null 2>&1
expect 'BIND signs with' "$(signers by-bind | named_so)" 'ksk zsk'
expect 'BIND publishes' "$(grep -c 'IN DNSKEY' by-bind)" 4

printf '%s\n' database: "  storage: $folder/kasp" zone: '  - domain: c.example' > knot.conf
mkdir kasp
for file in "${files[@]}"; do keymgr -c knot.conf c.example import-bind "$file.private" > /dev/null 2>&1; done
keys() { keymgr -c knot.conf c.example list 2> /dev/null; }
expect 'Knot, roles' "$(keys | grep -o '[KZ]SK' | sort | uniq -c | xargs)" '1 KSK 4 ZSK'
expect 'Knot, keys with a time of their end' "$(keys | grep -c 'retire=[1-9]')" 2

ldns-signzone -o c.example -f by-ldns zone "${files[@]}"
expect 'ldns signs with' "$(signers by-ldns | named_so)" 'deleted future ksk past zsk'
expect 'ldns publishes' "$(grep -c 'IN.DNSKEY' by-ldns)" 5

sqlite3 base < /usr/share/doc/pdns-backend-sqlite3/schema.sqlite3.sql
printf '%s\n' launch=gsqlite3 "gsqlite3-database=$folder/base" gsqlite3-dnssec=yes > pdns.conf
pdns() { pdnsutil --config-dir=. "$@" 2> /dev/null; }
pdns load-zone c.example zone > /dev/null
imported() { # WORD...: what the keys are afterwards that are imported with these words
  local file
  sqlite3 base 'delete from cryptokeys'
  for file in "${files[@]}"; do pdns import-zone-key c.example "$file.private" "$@" > /dev/null; done
  pdns show-zone c.example | sed -n 's/.*flags = \([0-9]*\), tag = \([0-9]*\),.*Active.*Published.*/\1 \2/p' > keys
  cut -d ' ' -f 1 keys | sort | uniq -c | xargs
  cut -d ' ' -f 2 keys | named_so
}
expect 'PowerDNS' "$(imported | paste -sd ' ')" '5 257 deleted+1 future+1 ksk past+1 zsk+1'
expect 'PowerDNS, told `active zsk`' "$(imported active zsk | paste -sd ' ')" '5 256 deleted future past zsk'
exit $status
