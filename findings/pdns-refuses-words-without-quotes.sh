#!/usr/bin/env bash
# What PowerDNS and ldns make of zone files whose texts and keywords are written in the other way that their RFCs have.
#
# Versions: pdns-server, pdns-backend-bind and pdns-backend-sqlite3 4.7.3, ldnsutils 1.8.3; bind9-utils 9.18.49, knot 3.2.6 and
# nsd 4.6.1 beside them, of Debian 12.
# Seen: BIND, Knot and NSD read each of the records below. PowerDNS reads `TXT word` without quotes, and no HINFO, NAPTR or CAA whose
# words have none, no CERT with mnemonics (PGP, RSASHA1), and no IPSECKEY with "." for no gateway. `pdnsutil load-zone` refuses a file
# that has one. The bind backend takes the file and counts no domain as rejected. Then it answers SERVFAIL to each question for a name
# that has such a record, also for its addresses; other names are answered. With one CAA record at the apex it answers SERVFAIL for all
# names of the zone; and AXFR ends behind the first SOA record. ldns-read-zone reads all but the CAA record.
# An engineer would have guessed: quotes are for texts with spaces (RFC 1035 section 5.1; for CAA RFC 8659 section 4.1.1), RFC 4398
# section 2.2 and RFC 4025 section 3.1 have the mnemonics and the ".", and a server says at its start what it cannot serve.
set -euo pipefail
needs=(pdns-server pdns-backend-bind pdns-backend-sqlite3 sqlite3 bind9-utils bind9-dnsutils knot nsd ldnsutils python3)
dpkg -s "${needs[@]}" >/dev/null 2>&1 || apt-get install -y -qq --no-install-recommends "${needs[@]}" >/dev/null
folder=$(mktemp -d)
started=()
trap 'kill "${started[@]}" 2>/dev/null || true; wait; rm -rf "$folder"' EXIT
cd "$folder"
chmod 755 .
PATH=$PATH:/usr/sbin
dpkg-query -W "${needs[@]}"
port=$(/usr/bin/python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])')
records=(
  'TXT word'
  'HINFO PC Linux' 'HINFO "PC" "Linux"'
  'NAPTR 10 10 s SIP+D2U "" sip.c.example.' 'NAPTR 10 10 "s" "SIP+D2U" "" sip.c.example.'
  'CAA 0 issue ca.example' 'CAA 0 issue "ca.example"'
  'CERT PGP 0 0 AQID' 'CERT 3 0 RSASHA1 AQID' 'CERT 3 0 5 AQID'
  'IPSECKEY 10 0 2 . AQID' 'IPSECKEY 10 1 2 192.0.2.1 AQID'
)
head=('$ORIGIN c.example.' '$TTL 60' 'c.example. SOA ns hostmaster 1 3600 600 86400 60' 'c.example. NS ns' 'ns A 192.0.2.1')
mkdir sql
printf '%s\n' launch=gsqlite3 "gsqlite3-database=$folder/sql/db" > sql/pdns.conf
sqlite3 sql/db < /usr/share/pdns-backend-sqlite3/schema/schema.sqlite3.sql
said() { if "$@" >/dev/null 2>&1; then echo read; else echo refused; fi; }
# One file for each record, for the readers of files; and one with all of them for the bind backend.
printf '%s\n' "${head[@]}" > all
for at in "${!records[@]}"; do
  printf '%s\n' "${head[@]}" "r$at ${records[$at]}" > "zone$at"
  echo "r$at ${records[$at]}" >> all
done
printf '%s\n' '$TTL 60' '@ SOA ns hostmaster 1 3600 600 86400 60' '@ NS ns' 'ns A 192.0.2.1' '@ CAA 0 issue ca.example' > apex
sed 's/issue ca.example/issue "ca.example"/' apex > quoted
for each in apex quoted; do echo "zone \"$each.example\" { type native; file \"$folder/$each\"; };"; done > named.conf
echo "zone \"c.example\" { type native; file \"$folder/all\"; };" >> named.conf
printf '%s\n' launch=bind "bind-config=$folder/named.conf" local-address=127.0.0.1 "local-port=$port" "socket-dir=$folder" \
  allow-axfr-ips=127.0.0.1 > pdns.conf
pdns_server --config-dir="$folder" --daemon=no --guardian=no > log 2>&1 &
started+=($!)
for _ in $(seq 100); do [ -n "$(dig @127.0.0.1 -p "$port" +tries=1 +time=1 +short ns.c.example A 2>/dev/null)" ] && break; sleep 0.1; done
status=0
expect() { # WHAT SAID EXPECTED
  echo "$1: $2"
  [ "$2" = "$3" ] || { echo "  changed: it was $3"; status=1; }
}
for _ in $(seq 100); do grep -q ' rejected, ' log && break; sleep 0.1; done
expect 'the bind backend' "$(grep -o '[0-9]* rejected, [0-9]* new' log || true)" '0 rejected, 3 new'
expect 'a name without such records' "$(dig @127.0.0.1 -p "$port" +short ns.c.example A)" 192.0.2.1
rcode() { dig @127.0.0.1 -p "$port" "$@" | sed -n 's/.*status: \([A-Z]*\),.*/\1/p'; }
for each in apex quoted; do
  served=NOERROR lines=5
  [ "$each" = quoted ] || served=SERVFAIL lines=1
  expect "a CAA record at the apex, $each: its SOA, ns" "$(rcode "$each.example" SOA), $(rcode "ns.$each.example" A)" "$served, $served"
  expect "a CAA record at the apex, $each: records in AXFR" \
    "$({ dig @127.0.0.1 -p "$port" +tries=1 +noall +answer "$each.example" AXFR || true; } | grep -c "$each")" "$lines"
done
for at in "${!records[@]}"; do
  record=${records[$at]} ldns=read pdnsutil=read served=NOERROR
  case $record in
    'HINFO PC'* | 'NAPTR 10 10 s'* | 'CAA 0 issue c'* | 'CERT PGP'* | *RSASHA1* | 'IPSECKEY 10 0'*) pdnsutil=refused served=SERVFAIL ;;
  esac
  case $record in 'CAA 0 issue c'*) ldns=refused ;; esac
  codes="$(rcode "r$at.c.example" "${record%% *}"), A with $(rcode "r$at.c.example" A)"
  expect "$record" "BIND $(said named-checkzone -i none c.example "zone$at"), Knot $(said kzonecheck -o c.example "zone$at"), NSD $(
    said nsd-checkzone c.example "zone$at"), ldns $(said ldns-read-zone "zone$at"), pdnsutil $(
    said pdnsutil --config-dir="$folder/sql" load-zone c.example "zone$at"), PowerDNS answers it with $codes" \
    "BIND read, Knot read, NSD read, ldns $ldns, pdnsutil $pdnsutil, PowerDNS answers it with $served, A with $served"
done
exit $status
