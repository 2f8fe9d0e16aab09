#!/usr/bin/env bash
# What pdns_server makes of `\# LENGTH HEX` and of `@` in records of types that it knows.
#
# Versions: pdns-server and pdns-backend-bind 4.7.3; bind9-utils 9.18.49, knot 3.2.6, nsd 4.6.1 and ldnsutils 1.8.3 beside it, of Debian 12.
# Seen: `TXT \# 2 0161` is the text "a" for the others. PowerDNS serves the text "# 2 0161". `TXT @` is the text "@" for BIND, Knot and ldns;
# PowerDNS serves the name of the zone, NSD refuses it. Nothing is said.
# `A \# 4 c0000201`, and the same for MX, SRV, CAA and HTTPS, also as TYPE1 or TYPE257, are read by the others; PowerDNS loads no record of a
# zone that has one. For types that it does not know it reads this form.
# An engineer would have guessed: RFC 3597 section 5 has each type written so, since who writes it need not know what the reader knows.
set -euo pipefail
needs=(pdns-server pdns-backend-bind bind9-utils bind9-dnsutils knot nsd ldnsutils python3)
dpkg -s "${needs[@]}" >/dev/null 2>&1 || apt-get install -y -qq --no-install-recommends "${needs[@]}" >/dev/null
folder=$(mktemp -d)
trap 'kill "${server:-}" 2>/dev/null || true; wait; rm -rf "$folder"' EXIT
cd "$folder"
PATH=$PATH:/usr/sbin
dpkg-query -W "${needs[@]}"
at=$(/usr/bin/python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])')
rows=('TXT \# 2 0161' 'TXT @' 'A \# 4 c0000201' 'TYPE1 \# 4 c0000201' 'MX \# 5 000a016100' 'SRV \# 7 00000000000000'
  'TYPE257 \# 8 0005697373756561' 'HTTPS \# 3 000100' 'TYPE65300 \# 2 abcd')
for row in "${!rows[@]}"; do
  printf '%s\n' "\$ORIGIN z$row.example." '$TTL 60' "z$row.example. SOA ns hostmaster 1 3600 600 86400 60" "z$row.example. NS ns" \
    'ns A 192.0.2.1' "x ${rows[row]}" > "z$row"
  printf 'zone "z%s.example" { type master; file "%s"; };\n' "$row" "$folder/z$row" >> zones
done
printf '%s\n' launch=bind "bind-config=$folder/zones" local-address=127.0.0.1 "local-port=$at" "socket-dir=$folder" > pdns.conf
pdns_server --config-dir="$folder" --daemon=no --guardian=no > log 2>&1 &
server=$!
for _ in $(seq 100); do [ -n "$(dig @127.0.0.1 -p "$at" +tries=1 +time=1 +short z8.example SOA 2>/dev/null)" ] && break; sleep 0.1; done
reads() { if "$@" >/dev/null 2>&1; then echo yes; else echo no; fi; }
others() { # ROW: which of the others read the file
  local zone=z$1.example
  echo "BIND $(reads named-checkzone -i none "$zone" "z$1"), Knot $(reads kzonecheck -o "$zone" "z$1"), NSD $(reads nsd-checkzone "$zone" "z$1"), ldns $(reads ldns-read-zone "z$1")"
}
powerdns() { # ROW: what PowerDNS has
  local type=${rows[$1]%% *} said
  case $type in TYPE1) type=A ;; TYPE257) type=CAA ;; esac
  said=$(dig @127.0.0.1 -p "$at" "x.z$1.example" "$type" +noall +comments +answer)
  grep -q 'status: SERVFAIL\|status: REFUSED' <<<"$said" && echo 'the zone is not there' || awk '/^x/ {$1 = $2 = $3 = $4 = ""; print}' <<<"$said" | sed 's/^ *//'
}
status=0
expect() { # WHAT SAID EXPECTED
  echo "$1: $2"
  [ "$2" = "$3" ] || { echo "  changed: it was $3"; status=1; }
}
all='BIND yes, Knot yes, NSD yes, ldns yes'
away='the zone is not there'
has=('"# 2 0161"' '"z1.example."' "$away" "$away" "$away" "$away" "$away" "$away" '\# 2 ABCD')
for row in "${!rows[@]}"; do
  expect "PowerDNS, ${rows[row]}" "$(powerdns "$row")" "${has[row]}"
  expect '  it is read by' "$(others "$row")" "$([ "$row" = 1 ] && echo "${all/NSD yes/NSD no}" || echo "$all")"
done
expect 'BIND, TXT \# 2 0161' "$(named-compilezone -q -i none -o - z0.example z0 | awk '$4 == "TXT" {print $5}')" '"a"'
exit $status
