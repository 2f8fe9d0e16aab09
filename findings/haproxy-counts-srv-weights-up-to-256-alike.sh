#!/usr/bin/env bash
# What HAProxy makes of the weights and priorities of SRV records, where they name the servers of a backend.
#
# Version: haproxy 2.6.12 of Debian 12.
# Seen: `server-template` with `resolvers` gives each server a weight between 0 and 256, a 256th of the record's, rounded up.
# So 10 and 90 both become 1, and so do 1 and 256: the shares are equal. Weights in the tens of thousands keep their
# shares. A record of weight 0 gets no requests at all. Priorities are not looked at: servers of 5 and 9, which are there
# for the time when those of 1 are gone, get as many requests.
# An engineer would have guessed: shares as RFC 2782 says, also for small numbers, a small chance for weight 0, and
# priorities that make `backup` servers.
set -euo pipefail
needs=(haproxy python3-dnspython)
dpkg -s "${needs[@]}" >/dev/null 2>&1 || apt-get install -y -qq --no-install-recommends "${needs[@]}" >/dev/null
folder=$(mktemp -d)
started=()
trap 'kill "${started[@]}" 2>/dev/null || true; wait; rm -rf "$folder"' EXIT
cd "$folder"
PATH=$PATH:/usr/sbin
haproxy -v | sed -n 1p

cat > server.py <<'PYTHON'
# Answers SRV questions; the third label of the name has the records: w10-1x90-1 is weight 10, then 90, of priority 1.
import socket
import dns.flags, dns.message, dns.rdatatype, dns.rrset
server = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
server.bind(('127.0.0.1', 0))
print(server.getsockname()[1], flush=True)
while True:
    wire, client = server.recvfrom(65535)
    reply = dns.message.make_response(dns.message.from_wire(wire))
    reply.flags |= dns.flags.AA
    question = reply.question[0]
    if question.rdtype == dns.rdatatype.SRV:
        pairs = [pair.split('-') for pair in question.name.labels[2].decode()[1:].split('x')]
        hosts = [f'host{n}.example.test.' for n in range(len(pairs))]
        rows = [f'{priority} {weight} 80 {host}' for (weight, priority), host in zip(pairs, hosts)]
        reply.answer.append(dns.rrset.from_text(question.name, 5, 'IN', 'SRV', *rows))
        for n, host in enumerate(hosts):
            reply.additional.append(dns.rrset.from_text(host, 5, 'IN', 'A', f'192.0.2.{n + 1}'))
    server.sendto(reply.to_wire(), client)
PYTHON
/usr/bin/python3 server.py > port & started+=($!)
for _ in $(seq 100); do [ -s port ] && break; sleep 0.1; done

cat > haproxy.cfg <<END
global
  stats socket $folder/socket
defaults
  timeout connect 1s
  timeout client 1s
  timeout server 1s
resolvers dns
  nameserver one 127.0.0.1:$(cat port)
END
cases=(w10-1x90-1x0-1 w1-1x256-1x257-1 w300-1x600-1x65535-1 w6400-1x57600-1 w100-1x100-5x100-9)
for each in "${cases[@]}"; do
  printf 'backend %s\n  server-template s 3 _http._tcp.%s.example.test resolvers dns init-addr none\n' "$each" "$each" >> haproxy.cfg
done
haproxy -db -f haproxy.cfg > log 2>&1 & started+=($!)
cat > weights.py <<'PYTHON'
# BACKEND: the weights of its servers that have an address, in the order of their addresses.
import socket, sys
with socket.socket(socket.AF_UNIX) as connection:
    connection.connect('socket')
    connection.sendall(f'show servers state {sys.argv[1]}\n'.encode())
    rows = [row.split() for row in connection.makefile().readlines()[2:]]
print(' '.join(row[7] for row in sorted(rows, key=lambda row: row[4:5]) if len(row) > 7 and row[4].startswith('192.')))
PYTHON
status=0
expect() { # RECORDS WEIGHTS
  local said
  for _ in $(seq 100); do
    said=$(/usr/bin/python3 weights.py "$1" 2>&1) || true
    [ "$said" = "$2" ] && break
    sleep 0.1
  done
  echo "weight-priority of the records $1: weights of the servers $said"
  [ "$said" = "$2" ] || { echo "  changed: they were $2"; status=1; }
}
expect w10-1x90-1x0-1 '1 1 0'
expect w1-1x256-1x257-1 '1 1 2'
expect w300-1x600-1x65535-1 '2 3 256'
expect w6400-1x57600-1 '25 225'
expect w100-1x100-5x100-9 '1 1 1'
exit "$status"
