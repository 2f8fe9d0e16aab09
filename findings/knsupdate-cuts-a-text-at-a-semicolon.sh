#!/usr/bin/env bash
# What knsupdate and nsupdate send for a text with a semicolon that has no quotes, such as a key of DKIM.
#
# Versions: knot-dnsutils 3.2.6, bind9-dnsutils 9.18.49 (and named of bind9 9.18.49 as the server) of Debian 12.
# Seen: `update add k._domainkey.c.example. 60 TXT v=DKIM1; p=abc`. nsupdate sends "v=DKIM1;" "p=abc", which readers join. For knsupdate
# the rest of the line is a comment: it sends "v=DKIM1", a record without a key. Both end with 0 and say nothing. Behind a record,
# `; why` is a comment for knsupdate, and a syntax error for nsupdate, whose comments are whole lines.
# An engineer would have guessed: knsupdate reads the scripts of nsupdate, as its manual describes the same commands.
set -euo pipefail
needs=(knot-dnsutils bind9-dnsutils bind9 python3)
dpkg -s "${needs[@]}" >/dev/null 2>&1 || apt-get install -y -qq --no-install-recommends "${needs[@]}" >/dev/null
folder=$(mktemp -d)
trap 'kill "${server:-}" 2>/dev/null || true; wait; rm -rf "$folder"' EXIT
cd "$folder"
chmod 755 .
PATH=$PATH:/usr/sbin
dpkg-query -W "${needs[@]}"
at=$(/usr/bin/python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])')
printf '%s\n' '$TTL 60' '@ SOA ns hostmaster 1 3600 600 86400 60' '@ NS ns' 'ns A 192.0.2.1' > zone
cat > named.conf <<CONF
options { directory "$folder"; pid-file none; listen-on port $at { 127.0.0.1; }; listen-on-v6 { none; }; recursion no; notify no; };
controls { };
zone "c.example" { type primary; file "$folder/zone"; allow-update { 127.0.0.1; }; };
CONF
named -4 -g -c named.conf > log 2>&1 &
server=$!
for _ in $(seq 100); do [ -n "$(dig @127.0.0.1 -p "$at" +tries=1 +time=1 +short c.example SOA 2>/dev/null)" ] && break; sleep 0.1; done
update() { # TOOL NAME REST: how the tool ends, and what the name has then
  local ends=0
  printf '%s\n' "server 127.0.0.1 $at" 'zone c.example.' "update add $2.c.example. 60 $3" send | "$1" >/dev/null 2>&1 || ends=$?
  echo "ends with $ends, $(dig @127.0.0.1 -p "$at" +short "$2.c.example" "${3%% *}")"
}
status=0
expect() { # WHAT SAID EXPECTED
  echo "$1: $2"
  [ "$2" = "$3" ] || { echo "  changed: it was $3"; status=1; }
}
expect 'nsupdate, without quotes' "$(update nsupdate a 'TXT v=DKIM1; p=abc')" 'ends with 0, "v=DKIM1;" "p=abc"'
expect 'knsupdate, without quotes' "$(update knsupdate b 'TXT v=DKIM1; p=abc')" 'ends with 0, "v=DKIM1"'
expect 'nsupdate, in quotes' "$(update nsupdate c 'TXT "v=DKIM1; p=abc"')" 'ends with 0, "v=DKIM1; p=abc"'
expect 'knsupdate, in quotes' "$(update knsupdate d 'TXT "v=DKIM1; p=abc"')" 'ends with 0, "v=DKIM1; p=abc"'
expect 'nsupdate, a comment behind a record' "$(update nsupdate e 'A 192.0.2.9 ; why')" 'ends with 1, '
expect 'knsupdate, a comment behind a record' "$(update knsupdate f 'A 192.0.2.9 ; why')" 'ends with 0, 192.0.2.9'
exit $status
