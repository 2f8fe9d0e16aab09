#!/usr/bin/env bash
# What pdns_server makes of an UPDATE that deletes an NS record of the apex, and adds it again with another TTL.
#
# Versions: pdns-server 4.7.3 with its gsqlite3 backend, of Debian 12 (and nsupdate 9.18.49 as the client).
# Seen: the record is gone afterwards. The same two steps at another name leave the record with the new TTL:
# deletions of NS records at the apex are carried out after everything else in the message. The reply is NOERROR.
# An engineer would have guessed: RFC 2136 section 3.4.2 has the steps carried out in their order, so the record is there.
set -euo pipefail
needs=(pdns-server pdns-backend-sqlite3 sqlite3 bind9-dnsutils python3)
dpkg -s "${needs[@]}" >/dev/null 2>&1 || apt-get install -y -qq --no-install-recommends "${needs[@]}" >/dev/null
folder=$(mktemp -d)
started=()
trap 'kill "${started[@]}" 2>/dev/null || true; wait; rm -rf "$folder"' EXIT
cd "$folder"
PATH=$PATH:/usr/sbin
pdns_server --version 2>&1 | sed -n '1s|.*PowerDNS A|PowerDNS A|p' || true
port=$(/usr/bin/python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])')
cat > pdns.conf <<CONF
launch=gsqlite3
gsqlite3-database=$folder/db
local-address=127.0.0.1
local-port=$port
primary=yes
dnsupdate=yes
allow-dnsupdate-from=127.0.0.0/8
zone-cache-refresh-interval=0
query-cache-ttl=0
cache-ttl=0
socket-dir=$folder
CONF
sqlite3 db < /usr/share/doc/pdns-backend-sqlite3/schema.sqlite3.sql
tool() { pdnsutil --config-dir="$folder" "$@" >/dev/null 2>&1; }
tool create-zone c.example ns1.c.example
tool add-record c.example . NS 3600 ns2.c.example
tool add-record c.example sub NS 3600 ns2.c.example
pdns_server --config-dir="$folder" --daemon=no --guardian=no > log 2>&1 &
started+=($!)
ask() { dig @127.0.0.1 -p "$port" +tries=1 +time=1 +noall +answer +authority "$1" NS | awk -v n="$1." '$1 == n && $5 == "ns2.c.example." {print $2}'; }
for _ in $(seq 100); do [ "$(ask c.example)" = 3600 ] && break; sleep 0.1; done
status=0
expect() { # WHAT SAID EXPECTED
  echo "$1: $2"
  [ "$2" = "$3" ] || { echo "  changed: it was $3"; status=1; }
}
again() { # NAME: deletes ns2 there, and adds it with a TTL of 600; says the TTL that it has then.
  printf 'server 127.0.0.1 %s\nzone c.example.\nupdate delete %s. NS ns2.c.example.\nupdate add %s. 600 NS ns2.c.example.\nsend\n' \
    "$port" "$1" "$1" | nsupdate
  ttl=$(ask "$1")
  echo "${ttl:-gone}"
}
expect 'TTL at the apex, before' "$(ask c.example)" 3600
expect 'TTL below the apex, deleted and added again with 600' "$(again sub.c.example)" 600
expect 'TTL at the apex, deleted and added again with 600' "$(again c.example)" gone
exit $status
