#!/usr/bin/env bash
# How long resolvers tell clients of an error after the only server of a zone has refused one question, once.
#
# Versions: unbound 1.17.1, bind9 9.18.49, knot-resolver 5.6.0, pdns-recursor 4.8.8 and dnsdist 1.7.3 (with a packet cache) of Debian 12.
# Seen: a server answers the first question for a name with REFUSED, each later one with an address.
# - unbound asks again at once, and clients see nothing of it. BIND and Knot Resolver (`policy.STUB`) have the address 10 seconds later.
# - dnsdist answers REFUSED for a minute, and the address at 75 seconds.
# - The Recursor answers SERVFAIL for a minute (`packetcache-servfail-ttl`). In three runs of four it did at 75 seconds, too, for two minutes in
#   all and without a question: where clients go on asking, one may ask after what was kept has ended, and before the server may be asked again.
# An engineer would have guessed: a refusal is an error of the moment, which RFC 2308 section 7 has a resolver keep for little time, if at all.
set -euo pipefail
needs=(unbound bind9 bind9-dnsutils knot-resolver pdns-recursor dnsdist python3-dnspython)
dpkg -s "${needs[@]}" >/dev/null 2>&1 || apt-get install -y -qq --no-install-recommends "${needs[@]}" >/dev/null
folder=$(mktemp -d)
started=()
trap 'kill "${started[@]}" 2>/dev/null || true; wait; rm -rf "$folder"' EXIT
cd "$folder"
chmod 777 .
PATH=$PATH:/usr/sbin
dpkg-query -W "${needs[@]}"
port() { /usr/bin/python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])'; }
server=$(port) unbound=$(port) bind=$(port) kresd=$(port) recursor=$(port) dnsdist=$(port)
cat > server.py <<'PYTHON'
# Refuses the first question for an address of x-... in c.example, answers all later ones, and prints each.
import socket, sys
import dns.flags, dns.message, dns.rcode, dns.rrset
socket_ = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
socket_.bind(("127.0.0.1", int(sys.argv[1])))
seen = set()
while True:
    wire, client = socket_.recvfrom(65535)
    query = dns.message.from_wire(wire)
    reply = dns.message.make_response(query)
    name = query.question[0].name.to_text().lower()
    if name.startswith("x-") and query.question[0].rdtype == 1 and name not in seen:
        seen.add(name)
        reply.set_rcode(dns.rcode.REFUSED)
    else:
        reply.flags |= dns.flags.AA
        if query.question[0].rdtype == 1:
            reply.answer.append(dns.rrset.from_text(name, 300, "IN", "A", "192.0.2.1"))
        else:
            reply.authority.append(dns.rrset.from_text("c.example.", 300, "IN", "SOA", "ns.c.example. h.c.example. 1 1 1 1 60"))
    print(name, flush=True)
    socket_.sendto(reply.to_wire(), client)
PYTHON
/usr/bin/python3 server.py "$server" > questions &
started+=($!)
cat > unbound.conf <<CONF
server:
  interface: 127.0.0.1@$unbound
  username: ""
  chroot: ""
  directory: "$folder"
  pidfile: ""
  use-syslog: no
  do-not-query-localhost: no
  module-config: "iterator"
remote-control:
  control-enable: no
forward-zone:
  name: "c.example"
  forward-addr: 127.0.0.1@$server
CONF
unbound -d -c unbound.conf > unbound.log 2>&1 &
started+=($!)
cat > named.conf <<CONF
options { directory "$folder"; pid-file none; listen-on port $bind { 127.0.0.1; }; listen-on-v6 { none; }; dnssec-validation no;
  forward only; forwarders port $server { 127.0.0.1; }; };
controls { };
CONF
named -4 -g -c named.conf > bind.log 2>&1 &
started+=($!)
mkdir k r
cat > kresd.conf <<CONF
net.listen('127.0.0.1', $kresd)
cache.size = 10 * MB
trust_anchors.remove('.')
modules = { 'policy' }
policy.add(policy.all(policy.STUB('127.0.0.1@$server')))
CONF
kresd -n -c "$folder/kresd.conf" "$folder/k" > kresd.log 2>&1 &
started+=($!)
pdns_recursor --config-dir="$folder/r" --socket-dir="$folder/r" --local-address=127.0.0.1 --local-port="$recursor" --daemon=no \
  --forward-zones="c.example=127.0.0.1:$server" --dont-query= --dnssec=off --security-poll-suffix= > recursor.log 2>&1 &
started+=($!)
cat > dnsdist.conf <<CONF
setLocal("127.0.0.1:$dnsdist")
newServer({address="127.0.0.1:$server", healthCheckMode="up"})
getPool(""):setCache(newPacketCache(1000))
setSecurityPollSuffix("")
CONF
dnsdist --supervised -C dnsdist.conf > dnsdist.log 2>&1 &
started+=($!)
all=(unbound bind kresd recursor dnsdist)
for each in "${all[@]}"; do
  for _ in $(seq 100); do [ -n "$(dig @127.0.0.1 -p "${!each}" +tries=1 +time=1 +short ready.c.example A 2>/dev/null)" ] && break; sleep 0.1; done
done
ask() { dig @127.0.0.1 -p "${!1}" +tries=1 +time=8 "x-$1.c.example" A | sed -n 's/.*status: \([A-Z]*\),.*/\1/p'; }
begin=$SECONDS
for each in "${all[@]}"; do declare "said_$each=$(ask "$each")"; done
for second in 10 45 75; do
  while [ $((SECONDS - begin)) -lt "$second" ]; do ask recursor >/dev/null; sleep 0.4; done
  for each in "${all[@]}"; do declare "said_$each+= $(ask "$each")"; done
done
status=0
expect() { # WHAT SAID EXPECTED
  echo "$1: $2"
  [ "$2" = "$3" ] || { echo "  changed: it was $3"; status=1; }
}
expect 'unbound, at once and after 10, 45 and 75 seconds' "$said_unbound" 'NOERROR NOERROR NOERROR NOERROR'
expect 'BIND' "$said_bind" 'SERVFAIL NOERROR NOERROR NOERROR'
expect 'Knot Resolver' "$said_kresd" 'REFUSED NOERROR NOERROR NOERROR'
expect 'dnsdist' "$said_dnsdist" 'REFUSED REFUSED REFUSED NOERROR'
expect 'PowerDNS Recursor, until 45 seconds' "${said_recursor% *}" 'SERVFAIL SERVFAIL SERVFAIL'
echo "PowerDNS Recursor, at 75 seconds: ${said_recursor##* }"
exit $status
