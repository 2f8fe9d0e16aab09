#!/usr/bin/env bash
# What knotd makes of an UPDATE that adds records which are there, with another TTL.
#
# Versions: knot 3.2.6 of Debian 12 (and nsupdate 9.18.49 as the client).
# Seen: NOERROR, and nothing changes: the records keep their TTL, also where all of a set are added again. A set takes the
# new TTL where one of its records is deleted in the same message, or where a record comes that it had not.
# An engineer would have guessed: RFC 2136 section 3.4.2.2 has a record that is there replaced by the one that is added.
set -euo pipefail
needs=(knot bind9-dnsutils python3)
dpkg -s "${needs[@]}" >/dev/null 2>&1 || apt-get install -y -qq --no-install-recommends "${needs[@]}" >/dev/null
folder=$(mktemp -d)
started=()
trap 'kill "${started[@]}" 2>/dev/null || true; wait; rm -rf "$folder"' EXIT
cd "$folder"
PATH=$PATH:/usr/sbin
knotd --version
port=$(/usr/bin/python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])')
cat > knot.conf <<CONF
server:
  listen: 127.0.0.1@$port
  rundir: $folder
database:
  storage: $folder
acl:
  - id: local
    address: 127.0.0.0/8
    action: update
zone:
  - domain: c.example
    file: $folder/zone
    acl: local
CONF
cat > zone <<ZONE
c.example. 3600 SOA ns1.c.example. host.c.example. 1 3600 600 86400 300
c.example. 3600 NS ns1.c.example.
ns1.c.example. 3600 A 192.0.2.1
www.c.example. 3600 A 192.0.2.3
www.c.example. 3600 A 192.0.2.4
ZONE
knotd -c knot.conf > log 2>&1 &
started+=($!)
ask() { dig @127.0.0.1 -p "$port" +tries=1 +time=1 +noall +answer www.c.example A | awk '{print $2, $5}' | sort | paste -sd ' '; }
for _ in $(seq 100); do [ -n "$(ask)" ] && break; sleep 0.1; done
status=0
expect() { # WHAT SAID EXPECTED
  echo "$1: $2"
  [ "$2" = "$3" ] || { echo "  changed: it was $3"; status=1; }
}
update() { # LINES: sends them as one message, and says its rcode and what is there then.
  printf 'server 127.0.0.1 %s\nzone c.example.\n%b\nsend\nanswer\n' "$port" "$1" | nsupdate 2>&1 |
    sed -n 's/.*status: \([A-Z]*\),.*/\1/p' | tr '\n' ' '
  ask
}
expect 'before' "$(ask)" '3600 192.0.2.3 3600 192.0.2.4'
expect 'one added again with 600' "$(update 'update add www.c.example. 600 A 192.0.2.3')" \
  'NOERROR 3600 192.0.2.3 3600 192.0.2.4'
expect 'both added again with 600' \
  "$(update 'update add www.c.example. 600 A 192.0.2.3\nupdate add www.c.example. 600 A 192.0.2.4')" \
  'NOERROR 3600 192.0.2.3 3600 192.0.2.4'
expect 'one deleted and added again with 900' \
  "$(update 'update delete www.c.example. A 192.0.2.3\nupdate add www.c.example. 900 A 192.0.2.3')" \
  'NOERROR 900 192.0.2.3 900 192.0.2.4'
expect 'a third added with 600' "$(update 'update add www.c.example. 600 A 192.0.2.5')" \
  'NOERROR 600 192.0.2.3 600 192.0.2.4 600 192.0.2.5'
exit $status
