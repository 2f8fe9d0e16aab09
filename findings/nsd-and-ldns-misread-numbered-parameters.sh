#!/usr/bin/env bash
# What nsd and ldns make of parameters of HTTPS records that are written by number, such as key1 for alpn and key3 for port.
#
# Versions: nsd 4.6.1 and ldnsutils 1.8.3; bind9-utils 9.18.49, knot 3.2.6 and python3-dnspython 2.3.0 beside them, of Debian 12.
# Seen: `key1=\002h2` is the list of one protocol, h2, for BIND, Knot and dnspython. NSD and ldns take the octets for the text behind `alpn=`, and
# serve or write a protocol of three octets, whose first one is 2. `key3=\000\065` is port 65 for the three; ldns makes port 0
# of it, NSD refuses it. `key4=` with four octets is refused by both. ldns says nothing of the first two, nor NSD of the first.
# An engineer would have guessed: a number in place of a name has the octets of the wire behind it (RFC 9460 section 2.1), whatever a reader knows.
set -euo pipefail
needs=(nsd ldnsutils bind9-utils bind9-dnsutils knot python3-dnspython)
dpkg -s "${needs[@]}" >/dev/null 2>&1 || apt-get install -y -qq --no-install-recommends "${needs[@]}" >/dev/null
folder=$(mktemp -d)
trap 'kill "${server:-}" 2>/dev/null || true; wait; rm -rf "$folder"' EXIT
cd "$folder"
chmod 777 .
PATH=$PATH:/usr/sbin
dpkg-query -W "${needs[@]}"
at=$(/usr/bin/python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])')
cat > nsd.conf <<CONF
server:
  ip-address: 127.0.0.1@$at
  pidfile: ""
  username: ""
  zonelistfile: $folder/nsd.list
  xfrdfile: $folder/nsd.xfrd
  database: ""
remote-control:
  control-enable: no
CONF
for row in 'a key1=\002h2' 'b key3=\000\065' 'c key4=\192\000\002\001'; do
  name=${row%% *}
  printf '%s\n' "\$ORIGIN $name.example." '$TTL 60' "$name.example. SOA ns hostmaster 1 3600 600 86400 60" "$name.example. NS ns" \
    'ns A 192.0.2.1' "x HTTPS 1 . ${row#* }" > "$name"
  printf 'zone:\n  name: %s.example\n  zonefile: %s\n' "$name" "$folder/$name" >> nsd.conf
done
nsd -d -c nsd.conf > log 2>&1 &
server=$!
for _ in $(seq 100); do [ -n "$(dig @127.0.0.1 -p "$at" +tries=1 +time=1 +short a.example SOA 2>/dev/null)" ] && break; sleep 0.1; done
shown() { awk '{for (i = 1; i <= NF; i++) if ($i == "HTTPS") {$1 = $1; sub(/.*HTTPS 1 \. /, ""); print}}'; }
bind() { named-compilezone -q -i none -o - "$1.example" "$1" | shown; }
ldns() { { ldns-read-zone "$1" 2>/dev/null || echo 'HTTPS 1 . refused'; } | shown; }
nsd() { if nsd-checkzone "$1.example" "$1" >/dev/null 2>&1; then dig @127.0.0.1 -p "$at" "x.$1.example" HTTPS +noall +answer | shown; else echo refused; fi; }
knot() { if kzonecheck -o "$1.example" "$1" >/dev/null 2>&1; then echo read; else echo refused; fi; }
dnspython() { /usr/bin/python3 -c 'import dns.zone, sys; print(str(dns.zone.from_file(sys.argv[1], sys.argv[1] + ".example.").find_rdataset("x", "HTTPS")[0])[4:])' "$1"; }
status=0
expect() { # ZONE TOOL EXPECTED
  local said; said=$("$2" "$1")
  echo "$(sed -n 's/^x HTTPS 1 \. //p' "$1"), $2: $said"
  [ "$said" = "$3" ] || { echo "  changed: it was $3"; status=1; }
}
for tool in bind dnspython; do
  expect a $tool 'alpn="h2"'
  expect b $tool "$([ $tool = bind ] && echo 'port=65' || echo 'port="65"')"
  expect c $tool "$([ $tool = bind ] && echo 'ipv4hint=192.0.2.1' || echo 'ipv4hint="192.0.2.1"')"
done
for zone in a b c; do expect $zone knot read; done
expect a nsd 'alpn="\002h2"'
expect b nsd refused
expect c nsd refused
expect a ldns 'alpn=\002h2'
expect b ldns 'port=0'
expect c ldns refused
exit $status
