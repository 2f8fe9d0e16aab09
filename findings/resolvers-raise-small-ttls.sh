#!/usr/bin/env bash
# How long resolvers keep an answer whose TTL is 0 or 1, asked three times in a row.
#
# Versions: pdns-recursor 4.8.8, knot-resolver 5.6.0, unbound 1.17.1, dnsmasq 2.90 of Debian 12.
# Seen: unbound and dnsmasq ask again for each question of TTL 0. The recursor gives the TTL 1 and keeps
# the answer for a second (`minimum-ttl-override`), Knot Resolver keeps TTL 0 and TTL 1 for five seconds
# (`cache.min_ttl`), and with `policy.FORWARD` shows clients the TTL 5.
# An engineer would have guessed: TTL 0 is not kept (RFC 1035 section 3.2.1), TTL 1 is kept for a second.
# A server that gives each question its turn by TTL 0 gives one turn to all questions of five seconds.
set -euo pipefail
needs=(pdns-recursor knot-resolver unbound dnsmasq-base bind9-dnsutils python3-dnspython)
dpkg -s "${needs[@]}" >/dev/null 2>&1 || apt-get install -y -qq --no-install-recommends "${needs[@]}" >/dev/null
folder=$(mktemp -d)
started=()
trap 'kill "${started[@]}" 2>/dev/null || true; wait; rm -rf "$folder"' EXIT
cd "$folder"
PATH=$PATH:/usr/sbin
pdns_recursor --version 2>&1 | sed -n 1p; kresd --version; unbound -V | sed -n 1p
dnsmasq --version | sed -n 1p
free='import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])'
port() { /usr/bin/python3 -c "$free"; }
upstream=$(port) unbound=$(port) recursor=$(port) kresd=$(port) dnsmasq=$(port)

cat > upstream.py <<'PYTHON'
# Authoritative for example.test: the A record of tN has the TTL N. Prints each question.
import socket, struct, sys, threading
import dns.flags, dns.message, dns.rdatatype, dns.rrset
port = int(sys.argv[1])
def answer(wire):
    query = dns.message.from_wire(wire)
    reply = dns.message.make_response(query)
    reply.flags |= dns.flags.AA
    question = query.question[0]
    name = question.name.to_text().lower()
    soa = 'ns.example.test. h.example.test. 1 3600 600 86400 60'
    is_ours = name[0] == 't' and name.endswith('.example.test.')
    if is_ours and question.rdtype == dns.rdatatype.A:
        print(name, flush=True)
        ttl = int(name.split('.')[0][1:])
        reply.answer.append(dns.rrset.from_text(question.name, ttl, 'IN', 'A', '192.0.2.1'))
    elif name == 'example.test.' and question.rdtype == dns.rdatatype.SOA:
        reply.answer.append(dns.rrset.from_text(name, 60, 'IN', 'SOA', soa))
    else:
        reply.authority.append(dns.rrset.from_text('example.test.', 60, 'IN', 'SOA', soa))
    return reply.to_wire()
def datagrams():
    server = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    server.bind(('127.0.0.1', port))
    while True:
        wire, client = server.recvfrom(65535)
        server.sendto(answer(wire), client)
def stream(client):
    with client, client.makefile('rb') as octets:
        while len(head := octets.read(2)) == 2:
            said = answer(octets.read(struct.unpack('>H', head)[0]))
            client.sendall(struct.pack('>H', len(said)) + said)
threading.Thread(target=datagrams, daemon=True).start()
server = socket.create_server(('127.0.0.1', port))
while True:
    threading.Thread(target=stream, args=(server.accept()[0],), daemon=True).start()
PYTHON
/usr/bin/python3 upstream.py "$upstream" > questions & started+=($!)
ask() { dig @127.0.0.1 -p "$1" +tries=1 +time=2 +noall +answer "$2.example.test" A | awk '{print $2}'; }
for _ in $(seq 100); do ask "$upstream" t300 | grep -q '^300' && break; sleep 0.1; done

mkdir unbound recursor kresd
cat > unbound/conf <<END
server:
  directory: "$folder/unbound"
  chroot: ""
  username: ""
  pidfile: ""
  use-syslog: no
  do-daemonize: no
  interface: 127.0.0.1@$unbound
  do-not-query-localhost: no
  module-config: "iterator"
  local-zone: "test." nodefault
stub-zone:
  name: "example.test"
  stub-addr: 127.0.0.1@$upstream
remote-control:
  control-enable: no
END
unbound -d -c unbound/conf > unbound/log 2>&1 & started+=($!)
cat > recursor/recursor.conf <<END
local-address=127.0.0.1:$recursor
hint-file=no
forward-zones=example.test=127.0.0.1:$upstream
socket-dir=$folder/recursor
write-pid=no
daemon=no
disable-syslog=yes
security-poll-suffix=
dnssec=off
END
pdns_recursor --config-dir="$folder/recursor" > recursor/log 2>&1 & started+=($!)
cat > kresd/conf <<END
net.listen('127.0.0.1', $kresd, { kind = 'dns' })
cache.size = 10 * MB
trust_anchors.remove('.')
modules = { 'policy', 'hints' }
modules.unload('priming')
hints.root({ ['root.test.'] = '127.0.0.1' })
policy.add(policy.suffix(policy.FORWARD('127.0.0.1@$upstream'), policy.todnames({ 'example.test.' })))
END
kresd -n -c "$folder/kresd/conf" "$folder/kresd" > kresd/log 2>&1 & started+=($!)
dnsmasq -k -p "$dnsmasq" --listen-address=127.0.0.1 --bind-interfaces --no-resolv --no-hosts \
  --user="$(id -un)" --pid-file= --server="/example.test/127.0.0.1#$upstream" > dnsmasq.log 2>&1 &
started+=($!)

status=0
expect() { # RESOLVER PORT NAME TTL QUESTIONS-FEWEST QUESTIONS-MOST
  for _ in $(seq 60); do ask "$2" t300 | grep -q '^[0-9]' && break; sleep 0.5; done
  : > questions.before; wc -l < questions > questions.before
  local ttls; ttls=$(ask "$2" "$3"; ask "$2" "$3"; ask "$2" "$3")
  local asked=$(($(wc -l < questions) - $(cat questions.before)))
  echo "$1, $3: TTLs $(tr '\n' ' ' <<< "$ttls"), upstream asked $asked times"
  [ "$(head -1 <<< "$ttls")" = "$4" ] && [ "$asked" -ge "$5" ] && [ "$asked" -le "$6" ] ||
    { echo '  changed'; status=1; }
}
expect unbound "$unbound" t0 0 3 3
expect dnsmasq "$dnsmasq" t0 0 3 3
expect recursor "$recursor" t0 1 1 2
expect kresd "$kresd" t0 5 1 1
expect kresd "$kresd" t1 5 1 1
exit "$status"
