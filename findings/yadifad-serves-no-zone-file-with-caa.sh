#!/usr/bin/env bash
# Which types of records in a zone file keep yadifad from serving the zone.
#
# Versions: yadifa 2.6.4 (and dig 9.18.49 as the client) of Debian 12.
# Seen: one CAA, DNAME, URI, LOC, CSYNC, SVCB or HTTPS record, and each name of the zone is SERVFAIL; the log says UNSUPPORTED_RECORD
# or UNKNOWN_DNS_TYPE. yadifad goes on. The same CAA record as `TYPE257 \# 8 ...`, and an HTTPS record as `TYPE65 \# 3 ...`, are served, and dig
# shows them by name. TLSA, CDS, OPENPGPKEY and NAPTR may be written by name.
# An engineer would have guessed: a server of 2023 reads CAA (RFC 6844, of 2013) and DNAME (RFC 2672, of 1999), or leaves that record out.
set -euo pipefail
needs=(yadifa bind9-dnsutils python3)
dpkg -s "${needs[@]}" >/dev/null 2>&1 || apt-get install -y -qq --no-install-recommends "${needs[@]}" >/dev/null
folder=$(mktemp -d)
started=()
trap 'kill "${started[@]}" 2>/dev/null || true; wait; rm -rf "$folder"' EXIT
cd "$folder"
PATH=$PATH:/usr/sbin
dpkg-query -W "${needs[@]:0:2}"
port=$(/usr/bin/python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])')
good=('CAA TYPE257 \# 8 0005697373756578' 'HTTPS TYPE65 \# 3 000100' 'TLSA TLSA 3 1 1 E3B0' 'CDS CDS 0 0 0 00' 'OPENPGPKEY OPENPGPKEY AAAA'
  'NAPTR NAPTR 1 1 "s" "x" "" .')
bad=('CAA 0 issue "x"' 'DNAME ns' 'URI 1 1 "http://h/"' 'LOC 42 N 71 W 0m' 'CSYNC 66 3 A' 'SVCB 1 .' 'HTTPS 1 .')
cat > yadifad.conf <<CONF
<main>
  listen 127.0.0.1 port $port
  uid $(id -u)
  gid $(id -g)
  daemon off
  data-path $folder
  keys-path $folder
  xfr-path $folder
  log-path $folder
  pid-file $folder/pid
</main>
<rrl>
  enabled false
</rrl>
CONF
count=0
zone() { # RECORD: a zone of its own, with this record at x
  count=$((count + 1))
  printf '%s\n' '$TTL 60' '@ SOA ns hostmaster 1 3600 600 86400 60' '@ NS ns' 'ns A 192.0.2.1' "x $1" > z$count
  printf '%s\n' '<zone>' "  domain z$count.example" '  type primary' "  file z$count" '</zone>' >> yadifad.conf
}
for each in "${good[@]}"; do zone "${each#* }"; done
for each in "${bad[@]}"; do zone "$each"; done
yadifad -c yadifad.conf --nodaemon > log 2>&1 & started+=($!)
ask() { # ZONE NAME TYPE: the rcode, and the type of the answer
  dig @127.0.0.1 -p "$port" +tries=1 +time=1 +noall +comments +answer "$2.z$1.example" "$3" |
    awk '/status:/ {gsub(/.*status: |,.*/, ""); print} $1 ~ /example/ {print $4}' | paste -sd ' '
}
for _ in $(seq 100); do
  [ "$(ask ${#good[@]} ns A)" = 'NOERROR A' ] && [ "$(grep -c 'failed to load the zone' log)" -ge ${#bad[@]} ] && break
  sleep 0.2
done
status=0
expect() { # WHAT SAID EXPECTED
  echo "$1: $2"
  [ "$2" = "$3" ] || { echo "  changed: it was $3"; status=1; }
}
count=0
for each in "${good[@]}"; do
  count=$((count + 1))
  expect "${each#* }, ns" "$(ask $count ns A)" 'NOERROR A'
  expect "${each#* }" "$(ask $count x "${each%% *}")" "NOERROR ${each%% *}"
done
for each in "${bad[@]}"; do
  count=$((count + 1))
  expect "$each, ns" "$(ask $count ns A)" SERVFAIL
done
exit $status
