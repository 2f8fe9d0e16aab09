#!/usr/bin/env bash
# For whom dnsdist with a packet cache keeps an answer, where the server is told of the client and chooses by it.
#
# Versions: dnsdist 1.7.3, bind9-dnsutils 9.18.49 (dig) and python3-dnspython 2.3.0 (the server) of Debian 12.
# Seen: a server answers each client with its own address, and says so by the scope of the client subnet where it got one.
# - `useProxyProtocol=true`: the header is put in front of what the cache has no answer for. The first client's answer is given to all others.
# - `useClientSubnet=true`: each client has its own, also where the scope is 0; one answer is for all then with `newPacketCache(1000, {parseECS=true})`.
# - `useProxyProtocol=true, useClientSubnet=true`, which a server needs that goes by the option alone: each has its own.
# Nothing is said, and without the cache both ways are right.
# An engineer would have guessed: two ways to tell a server of its client are alike to the cache, as nothing in the answer of the first says that it is for all.
set -euo pipefail
needs=(dnsdist bind9-dnsutils python3-dnspython)
dpkg -s "${needs[@]}" >/dev/null 2>&1 || apt-get install -y -qq --no-install-recommends "${needs[@]}" >/dev/null
folder=$(mktemp -d)
started=()
trap 'kill "${started[@]}" 2>/dev/null || true; wait; rm -rf "$folder"' EXIT
cd "$folder"
PATH=$PATH:/usr/sbin
dpkg-query -W dnsdist
port() { /usr/bin/python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])'; }
cat > server.py <<'PYTHON'
# Answers A with the client's address: that of the subnet, of a PROXY header (version 2), or of the datagram. Names with "all" have the scope 0.
import socket, sys
import dns.edns, dns.flags, dns.message, dns.rrset
server = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
server.bind(('127.0.0.1', int(sys.argv[1])))
while True:
    wire, peer = server.recvfrom(4096)
    client = peer[0]
    if wire.startswith(b'\r\n\r\n\0\r\nQUIT\n'):
        client = socket.inet_ntoa(wire[16:20])
        wire = wire[16 + int.from_bytes(wire[14:16], 'big'):]
    query = dns.message.from_wire(wire)
    subnet = next((option for option in query.options if isinstance(option, dns.edns.ECSOption)), None)
    name = query.question[0].name
    reply = dns.message.make_response(query)
    reply.flags |= dns.flags.AA
    if subnet:
        client = subnet.address
        scope = 0 if b'all' in name.labels[0] else subnet.srclen
        reply.use_edns(0, 0, 1232, options=[dns.edns.ECSOption(client, subnet.srclen, scope)])
    reply.answer.append(dns.rrset.from_text(name, 60, 'IN', 'A', client))
    server.sendto(reply.to_wire(), peer)
PYTHON
server=$(port)
/usr/bin/python3 server.py "$server" & started+=($!)
seen() { # HOW CACHE NAME: what three clients get
  local front; front=$(port)
  cat > "$front.conf" <<CONF
setLocal('127.0.0.1:$front')
setSecurityPollSuffix('')
setACL({'127.0.0.0/8'})
newServer({address='127.0.0.1:$server', healthCheckMode='up', $1})
$2
CONF
  dnsdist --supervised --disable-syslog -C "$front.conf" > "log.$front" 2>&1 &
  local dist=$! client
  for _ in $(seq 100); do dig @127.0.0.1 -p "$front" +short +tries=1 +time=1 ready.c.example A 2> /dev/null | grep -q 127 && break; sleep 0.1; done
  for client in 127.0.2.1 127.0.3.1 127.0.4.1; do
    dig @127.0.0.1 -p "$front" -b "$client" +short +nocookie +tries=2 +time=2 "$3.c.example" A
  done | paste -sd ' '
  kill "$dist"; wait "$dist" 2> /dev/null || true
}
status=0
expect() { # WHAT SAID EXPECTED
  echo "$1: $2"
  [ "$2" = "$3" ] || { echo "  changed: it was $3"; status=1; }
}
cache="getPool(''):setCache(newPacketCache(1000))"
scopes="getPool(''):setCache(newPacketCache(1000, {parseECS=true}))"
expect 'PROXY, no cache' "$(seen useProxyProtocol=true '' www)" '127.0.2.1 127.0.3.1 127.0.4.1'
expect 'PROXY, cache' "$(seen useProxyProtocol=true "$cache" www)" '127.0.2.1 127.0.2.1 127.0.2.1'
expect 'client subnet, no cache' "$(seen useClientSubnet=true '' www)" '127.0.2.0 127.0.3.0 127.0.4.0'
expect 'client subnet, cache' "$(seen useClientSubnet=true "$cache" www)" '127.0.2.0 127.0.3.0 127.0.4.0'
expect 'client subnet, cache, scope 0' "$(seen useClientSubnet=true "$cache" all)" '127.0.2.0 127.0.3.0 127.0.4.0'
expect 'client subnet, cache with parseECS, scope 0' "$(seen useClientSubnet=true "$scopes" all)" '127.0.2.0 127.0.2.0 127.0.2.0'
expect 'client subnet, cache with parseECS' "$(seen useClientSubnet=true "$scopes" www)" '127.0.2.0 127.0.3.0 127.0.4.0'
expect 'both, cache' "$(seen 'useProxyProtocol=true, useClientSubnet=true' "$cache" www)" '127.0.2.0 127.0.3.0 127.0.4.0'
exit $status
