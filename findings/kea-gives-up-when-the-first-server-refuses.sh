#!/usr/bin/env bash
# When D2 of Kea, which writes names of leases by UPDATE, asks the second server that is listed for a zone.
#
# Version: kea-dhcp-ddns-server 2.2.0 of Debian 12.
# Seen: while the first server is silent, D2 asks it three times and then the second one, which takes the name. When the
# first one answers SERVFAIL, REFUSED, NOTAUTH or NOTIMP, that is the end: DHCP_DDNS_ADD_FAILED, the second one is not
# asked, and nothing is tried again.
# An engineer would have guessed: a list of servers is there for all that can happen to one of them. A server that says
# that it cannot just now does more harm than a dead one.
set -euo pipefail
needs=(kea-dhcp-ddns-server python3-dnspython)
dpkg -s "${needs[@]}" >/dev/null 2>&1 || apt-get install -y -qq --no-install-recommends "${needs[@]}" >/dev/null
folder=$(mktemp -d)
started=()
trap 'kill "${started[@]}" 2>/dev/null || true; wait; rm -rf "$folder"' EXIT
cd "$folder"
PATH=$PATH:/usr/sbin
echo "kea-dhcp-ddns $(kea-dhcp-ddns -v | sed -n 1p)"

cat > server.py <<'PYTHON'
# RCODE: answers each update over UDP with it, or none with "silent"; writes a line for each into a file.
import socket, sys
import dns.message, dns.rcode
code = sys.argv[1]
server = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
server.bind(('127.0.0.1', 0))
print(server.getsockname()[1], flush=True)
with open(f'{code}.asked', 'w') as asked:
    while True:
        wire, client = server.recvfrom(65535)
        print('update', file=asked, flush=True)
        if code != 'silent':
            reply = dns.message.make_response(dns.message.from_wire(wire))
            reply.set_rcode(dns.rcode.from_text(code))
            server.sendto(reply.to_wire(), client)
PYTHON
codes=(silent SERVFAIL REFUSED NOTAUTH NOTIMP)
domains=
for code in NOERROR "${codes[@]}"; do
  /usr/bin/python3 server.py "$code" > "$code" & started+=($!)
  for _ in $(seq 100); do [ -s "$code" ] && break; sleep 0.1; done
  [ "$code" = NOERROR ] || domains+="${domains:+,} { \"name\": \"${code,,}.example.\", \"dns-servers\": [
    { \"ip-address\": \"127.0.0.1\", \"port\": $(cat "$code") }, { \"ip-address\": \"127.0.0.1\", \"port\": $(cat NOERROR) } ] }"
done
free='import socket; s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])'
port=$(/usr/bin/python3 -c "$free")
cat > d2.json <<END
{ "DhcpDdns": { "ip-address": "127.0.0.1", "port": $port, "dns-server-timeout": 300, "tsig-keys": [],
  "forward-ddns": { "ddns-domains": [ $domains ] }, "reverse-ddns": {},
  "loggers": [ { "name": "kea-dhcp-ddns", "severity": "INFO", "output_options": [ { "output": "stdout", "flush": true } ] } ] } }
END
KEA_PIDFILE_DIR=$folder KEA_LOCKFILE_DIR=none kea-dhcp-ddns -c d2.json > d2.log 2>&1 & started+=($!)
for _ in $(seq 100); do grep -q DHCP_DDNS_STARTED d2.log && break; sleep 0.1; done

cat > lease.py <<'PYTHON'
# PORT NAME NUMBER: tells D2 of a lease as a DHCP server of Kea does: a length, and JSON.
import json, socket, struct, sys
request = json.dumps({
    'change-type': 0, 'forward-change': True, 'reverse-change': False, 'fqdn': sys.argv[2],
    'ip-address': '192.0.2.7', 'dhcid': '0001' + sys.argv[3] * 33, 'lease-expires-on': '20400101000000',
    'lease-length': 1300, 'use-conflict-resolution': True,
}).encode()
to = ('127.0.0.1', int(sys.argv[1]))
socket.socket(socket.AF_INET, socket.SOCK_DGRAM).sendto(struct.pack('>H', len(request)) + request, to)
PYTHON
asked() { wc -l < "$1.asked"; }
status=0 number=10
expect() { # RCODE TIMES-FIRST TIMES-SECOND OUTCOME
  local before said name="pc1.${1,,}.example."
  before=$(asked NOERROR)
  /usr/bin/python3 lease.py "$port" "$name" "$((++number))"
  for _ in $(seq 200); do grep -qF "FQDN: [$name]" d2.log && break; sleep 0.1; done
  said="first server asked $(asked "$1") times, second one $(($(asked NOERROR) - before)) times"
  said+=", $(grep -F -B 3 "FQDN: [$name]" d2.log | grep -o 'DHCP_DDNS_ADD_[A-Z]*')"
  echo "the first server says $1: $said"
  [ "$said" = "first server asked $2 times, second one $3 times, DHCP_DDNS_ADD_$4" ] || { echo "  changed: it was $*"; status=1; }
}
expect silent 3 1 SUCCEEDED
expect SERVFAIL 1 0 FAILED
expect REFUSED 1 0 FAILED
expect NOTAUTH 1 0 FAILED
expect NOTIMP 1 0 FAILED
exit "$status"
