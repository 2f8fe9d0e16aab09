#!/usr/bin/env bash
# Which client subnet resolvers send for clients of private networks, and for those behind the NAT of a provider (100.64.0.0/10).
#
# Versions: pdns-recursor 4.8.8, unbound 1.17.1 (`subnetcache`), python3-dnspython 2.3.0 as the server, kdig of knot-dnsutils 3.2.6 of Debian 12.
# Seen, where the server's zone is in `edns-subnet-allow-list`:
# - The Recursor sends 203.0.113.0/24 for 203.0.113.7, and 127.0.0.1/32 for 10.1.2.3, 192.168.5.7 and 100.64.1.7: what is not in `ecs-add-for` gets
#   `ecs-scope-zero-address`, and without one 127.0.0.1. A server that chooses by place has no place for it, where without the option it has that of
#   the resolver. With `ecs-scope-zero-address=192.0.2.53` it is that address.
# - unbound sends 10.1.2.0/24 and 100.64.1.0/24, as they are.
# An engineer would have guessed: no option, or a source prefix of 0 (RFC 7871 section 7.1.2), for clients that the server cannot know.
set -euo pipefail
needs=(pdns-recursor unbound python3-dnspython knot-dnsutils)
dpkg -s "${needs[@]}" >/dev/null 2>&1 || apt-get install -y -qq --no-install-recommends "${needs[@]}" >/dev/null
folder=$(mktemp -d)
started=()
trap 'kill "${started[@]}" 2>/dev/null || true; wait; rm -rf "$folder"' EXIT
cd "$folder"
PATH=$PATH:/usr/sbin
dpkg-query -W pdns-recursor unbound
port() { /usr/bin/python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])'; }
server=$(port)
cat > server.py <<'PYTHON'
# Answers each question with an address. Writes what was asked.
import socket, sys
import dns.edns, dns.flags, dns.message, dns.rrset
server = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
server.bind(('127.0.0.1', int(sys.argv[1])))
while True:
    wire, client = server.recvfrom(4096)
    query = dns.message.from_wire(wire)
    name = query.question[0].name
    label = name.labels[0].decode()
    subnet = next((option for option in query.options if isinstance(option, dns.edns.ECSOption)), None)
    print(label, subnet and f'{subnet.address}/{subnet.srclen}', flush=True)
    reply = dns.message.make_response(query)
    reply.flags |= dns.flags.AA
    reply.answer.append(dns.rrset.from_text(name, 60, 'IN', 'A', '192.0.2.1'))
    if subnet:
        reply.use_edns(0, 0, 1232, options=[dns.edns.ECSOption(subnet.address, subnet.srclen, subnet.srclen)])
    server.sendto(reply.to_wire(), client)
PYTHON
/usr/bin/python3 server.py "$server" > seen & started+=($!)
recursor() { # PORT SETTING...
  mkdir "sockets.$1"
  pdns_recursor --config-dir="$folder" --socket-dir="$folder/sockets.$1" --local-address=127.0.0.1 --local-port="$1" \
    --forward-zones=c.example=127.0.0.1:"$server" --edns-subnet-allow-list=c.example --dont-query= --allow-from=0.0.0.0/0 \
    --proxy-protocol-from=127.0.0.0/8 --daemon=no --dnssec=off --security-poll-suffix= "${@:2}" > "log.$1" 2>&1 & started+=($!)
}
first=$(port); recursor "$first"
second=$(port); recursor "$second" --ecs-scope-zero-address=192.0.2.53
third=$(port)
cat > unbound.conf <<CONF
server:
  interface: 127.0.0.1
  port: $third
  proxy-protocol-port: $third
  username: ""
  chroot: ""
  directory: "$folder"
  pidfile: ""
  use-syslog: no
  do-daemonize: no
  access-control: 0.0.0.0/0 allow
  do-not-query-localhost: no
  module-config: "subnetcache iterator"
  send-client-subnet: 127.0.0.1
remote-control:
  control-enable: no
stub-zone:
  name: c.example
  stub-addr: 127.0.0.1@$server
CONF
unbound -d -c unbound.conf > log.unbound 2>&1 & started+=($!)
ask() { # PORT CLIENT LABEL
  kdig @127.0.0.1 -p "$1" +proxy="$2#1000-127.0.0.1#53" +short +retry=0 +time=2 "$3.c.example" A 2> /dev/null | grep -x 192.0.2.1
}
for resolver in "$first" "$second" "$third"; do
  for _ in $(seq 100); do ask "$resolver" 203.0.113.7 "ready$resolver" > /dev/null && break; sleep 0.1; done
done
sent() { # PORT CLIENT: the subnet in the question for a new name
  ask "$1" "$2" "n$names" > /dev/null
  awk -v name="n$names" '$1 == name {print $2}' seen
}
status=0
expect() { # WHAT SAID EXPECTED
  echo "$1: $2"
  [ "$2" = "$3" ] || { echo "  changed: it was $3"; status=1; }
}
names=0
for client in 10.1.2.3 192.168.5.7 100.64.1.7; do
  names=$((names + 1)); expect "Recursor, for $client" "$(sent "$first" $client)" 127.0.0.1/32
done
names=$((names + 1)); expect 'Recursor, for 203.0.113.7' "$(sent "$first" 203.0.113.7)" 203.0.113.0/24
names=$((names + 1)); expect 'Recursor with ecs-scope-zero-address, for 10.1.2.3' "$(sent "$second" 10.1.2.3)" 192.0.2.53/32
names=$((names + 1)); expect 'unbound, for 10.1.2.3' "$(sent "$third" 10.1.2.3)" 10.1.2.0/24
names=$((names + 1)); expect 'unbound, for 100.64.1.7' "$(sent "$third" 100.64.1.7)" 100.64.1.0/24
exit $status
