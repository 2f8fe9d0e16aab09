#!/usr/bin/env bash
# With which TSIG key pdns_server and named transfer the zones of a catalog zone.
#
# Versions: pdns-server 4.7.3 and bind9 9.18.49 (also as the primary) of Debian 12.
# Seen: the primary asks a key of each transfer. pdns_server takes the catalog with the key of the catalog,
# makes its member, and asks for that without a key, so that it is refused until `pdnsutil activate-tsig-key`
# has been called for the member itself. named takes both with the key in `default-primaries`.
# An engineer would have guessed: members inherit the key as they inherit the primaries.
set -euo pipefail
needs=(pdns-server pdns-backend-sqlite3 sqlite3 bind9 bind9-dnsutils python3)
dpkg -s "${needs[@]}" >/dev/null 2>&1 || apt-get install -y -qq --no-install-recommends "${needs[@]}" >/dev/null
folder=$(mktemp -d)
started=()
trap 'kill "${started[@]}" 2>/dev/null || true; wait; rm -rf "$folder"' EXIT
cd "$folder"
PATH=$PATH:/usr/sbin
named -v; pdns_server --version 2>&1 | sed -n '1s|.*PowerDNS A|PowerDNS A|p' || true
free='import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])'
port() { /usr/bin/python3 -c "$free"; }
primary=$(port) pdns=$(port) named=$(port)
secret=AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=
mkdir primary pdns named
printf '$TTL 60\n@ SOA ns h 1 3600 600 86400 60\n@ NS ns\nns A 192.0.2.250\nwww A 192.0.2.1\n' > zone
printf '%s\n' '$TTL 60' '@ SOA invalid. invalid. 1 3600 600 86400 60' '@ NS invalid.' 'version TXT "2"' \
  'm.zones PTR member.example.' > catalog
options() { # DIRECTORY PORT
  cat <<END
key "transfer.example" { algorithm hmac-sha256; secret "$secret"; };
controls { };
options {
  directory "$folder/$1"; pid-file none; session-keyfile none; recursion no; notify no;
  listen-on port $2 { 127.0.0.1; }; listen-on-v6 { none; }; allow-transfer { key "transfer.example"; };
END
}
{
  options primary "$primary"; echo '};'
  echo "zone \"catalog.example\" { type primary; file \"$folder/catalog\"; };"
  echo "zone \"member.example\" { type primary; file \"$folder/zone\"; };"
} > primary.conf
named -f -g -c primary.conf > primary/log 2>&1 & started+=($!)
ask() { dig @127.0.0.1 -p "$1" +tries=1 +time=1 +short www.member.example A; }
for _ in $(seq 100); do [ "$(ask "$primary")" = 192.0.2.1 ] && break; sleep 0.1; done

cat > pdns/pdns.conf <<END
launch=gsqlite3
gsqlite3-database=$folder/pdns/db
gsqlite3-dnssec=yes
local-address=127.0.0.1
local-port=$pdns
secondary=yes
xfr-cycle-interval=1
zone-cache-refresh-interval=0
socket-dir=$folder/pdns
write-pid=no
disable-syslog=yes
security-poll-suffix=
END
sqlite3 pdns/db < /usr/share/doc/pdns-backend-sqlite3/schema.sqlite3.sql
util() { pdnsutil --config-dir="$folder/pdns" "$@" >> pdns/util 2>&1; }
util import-tsig-key transfer.example hmac-sha256 "$secret"
util create-secondary-zone catalog.example "127.0.0.1:$primary"
util set-kind catalog.example consumer
util activate-tsig-key catalog.example transfer.example consumer
pdns_server --config-dir="$folder/pdns" --daemon=no --guardian=no > pdns/log 2>&1 & started+=($!)
by="127.0.0.1 port $primary key transfer.example;"
{
  options named "$named"
  echo "  catalog-zones { zone \"catalog.example\" default-primaries { $by }; };"
  echo "}; zone \"catalog.example\" { type secondary; file \"catalog\"; primaries { $by }; };"
} > named.conf
named -f -g -c named.conf > named/log 2>&1 & started+=($!)

status=0
expect() { # WHAT SAID EXPECTED
  echo "$1: ${2:-nothing}"
  [ "$2" = "$3" ] || { echo '  changed'; status=1; }
}
for _ in $(seq 150); do [ "$(ask "$named")" = 192.0.2.1 ] && break; sleep 0.2; done
expect 'named' "$(ask "$named")" 192.0.2.1
for _ in $(seq 150); do grep -q "'member.example'.*unable to xfr" pdns/log && break; sleep 0.2; done
grep -o "'member.example'.*unable to xfr[^(]*([^)]*)[^(]*" pdns/log | head -1 || true
expect 'pdns_server has' "$(sqlite3 pdns/db 'select name from domains order by id' | tr '\n' ' ')" \
  'catalog.example member.example '
expect 'pdns_server' "$(ask "$pdns")" ''
util activate-tsig-key member.example transfer.example secondary
for _ in $(seq 150); do [ "$(ask "$pdns")" = 192.0.2.1 ] && break; sleep 0.2; done
expect 'pdns_server, key activated for the member' "$(ask "$pdns")" 192.0.2.1
exit "$status"
