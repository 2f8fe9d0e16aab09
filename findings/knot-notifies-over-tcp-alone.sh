#!/usr/bin/env bash
# Over which transport primaries send NOTIFY.
#
# Versions: knot 3.2.6, bind9 9.18.49 and nsd 4.6.1 of Debian 12.
# Seen: BIND and NSD send it over UDP. Knot opens a TCP connection for it, and where nobody listens there (`connection reset`) it tries that
# again, and never sends a datagram: behind a filter that lets UDP through alone, secondaries wait for the refresh time of the SOA record.
# An engineer would have guessed: UDP first, which RFC 1996 section 3.5 has, with TCP where a filter or the size needs it.
set -euo pipefail
needs=(knot bind9 nsd python3)
dpkg -s "${needs[@]}" >/dev/null 2>&1 || apt-get install -y -qq --no-install-recommends "${needs[@]}" >/dev/null
folder=$(mktemp -d)
started=()
trap 'kill "${started[@]}" 2>/dev/null || true; wait; rm -rf "$folder"' EXIT
cd "$folder"
chmod 777 .
PATH=$PATH:/usr/sbin
dpkg-query -W "${needs[@]}"
port() { /usr/bin/python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])'; }
cat > listener.py <<'PYTHON'
# Notes over which transports a NOTIFY comes to a port within 10 seconds; `udp` listens there alone.
import select, socket, sys, time
port, also_tcp, seen = int(sys.argv[1]), sys.argv[2] == "both", set()
udp = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
udp.bind(("127.0.0.1", port))
sockets = [udp]
if also_tcp:
    tcp = socket.socket()
    tcp.bind(("127.0.0.1", port))
    tcp.listen(8)
    sockets.append(tcp)
end = time.monotonic() + 10
while time.monotonic() < end:
    for ready in select.select(sockets, [], [], 0.2)[0]:
        if ready is udp:
            message = udp.recv(4096)
        else:
            connection, _ = ready.accept()
            message = connection.recv(4096)[2:]
            connection.close()
        if len(message) > 2 and message[2] >> 3 & 15 == 4:
            seen.add("UDP" if ready is udp else "TCP")
print(" ".join(sorted(seen)) or "nothing")
PYTHON
printf '%s\n' '$ORIGIN c.example.' '$TTL 60' '@ SOA ns hostmaster 1 3600 600 86400 60' '@ NS ns' 'ns A 192.0.2.1' > zone
listeners=()
for each in bind nsd knot knot-udp; do
  at=$(port)
  /usr/bin/python3 listener.py "$at" "$([ $each = knot-udp ] && echo udp || echo both)" > "$each.said" &
  listeners+=($!)
  declare "to_${each//-/_}=$at"
done
sleep 1
cat > named.conf <<CONF
options { directory "$folder"; pid-file none; listen-on port $(port) { 127.0.0.1; }; listen-on-v6 { none; }; recursion no;
  notify explicit; also-notify { 127.0.0.1 port $to_bind; }; notify-delay 0; };
controls { };
zone "c.example" { type primary; file "$folder/zone"; };
CONF
named -4 -g -c named.conf > bind.log 2>&1 &
started+=($!)
cat > nsd.conf <<CONF
server:
  ip-address: 127.0.0.1@$(port)
  pidfile: ""
  username: ""
  zonelistfile: $folder/nsd.list
  xfrdfile: $folder/nsd.xfrd
  database: ""
remote-control:
  control-enable: no
zone:
  name: c.example
  zonefile: $folder/zone
  notify: 127.0.0.1@$to_nsd NOKEY
CONF
nsd -d -c nsd.conf > nsd.log 2>&1 &
started+=($!)
mkdir k
cat > knot.conf <<CONF
server:
  listen: 127.0.0.1@$(port)
  rundir: $folder/k
database:
  storage: $folder/k
log:
  - target: stdout
    any: info
remote:
  - id: both
    address: 127.0.0.1@$to_knot
  - id: udp
    address: 127.0.0.1@$to_knot_udp
zone:
  - domain: c.example
    file: $folder/zone
    zonefile-sync: -1
    notify: [both, udp]
CONF
knotd -c knot.conf > knot.log 2>&1 &
started+=($!)
wait "${listeners[@]}"
status=0
expect() { # WHAT SAID EXPECTED
  echo "$1: $2"
  [ "$2" = "$3" ] || { echo "  changed: it was $3"; status=1; }
}
expect 'BIND, to UDP and TCP' "$(cat bind.said)" UDP
expect 'NSD, to UDP and TCP' "$(cat nsd.said)" UDP
expect 'Knot, to UDP and TCP' "$(cat knot.said)" TCP
expect 'Knot, to UDP alone' "$(cat knot-udp.said)" nothing
exit $status
