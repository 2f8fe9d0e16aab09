#!/usr/bin/env bash
# What a resolver that sends the client's subnet asks for a target whose alias it has already.
#
# Versions: pdns-recursor 4.8.8 of Debian 12.
# Seen: alias and target are in two zones, the alias is the same for all (scope 0), the target another one
# for each /24. The first client's subnet costs two questions, one for each name. Each later subnet costs
# two questions, too, both for the target: one without a subnet, whose answer no client gets, and one with.
# With `qname-minimization=no` (default yes) it is one, with the subnet.
# An engineer would have guessed: a name that is asked with a subnet is asked with it alone.
set -euo pipefail
needs=(pdns-recursor bind9-dnsutils python3-dnspython)
dpkg -s "${needs[@]}" >/dev/null 2>&1 || apt-get install -y -qq --no-install-recommends "${needs[@]}" >/dev/null
folder=$(mktemp -d)
started=()
trap 'kill "${started[@]}" 2>/dev/null || true; wait; rm -rf "$folder"' EXIT
cd "$folder"
PATH=$PATH:/usr/sbin
pdns_recursor --version 2>&1 | sed -n 1p
free='import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])'
port() { /usr/bin/python3 -c "$free"; }
upstream=$(port) minimizes=$(port) plain=$(port)

cat > upstream.py <<'PYTHON'
# Authoritative for a.test and b.test: alias.a.test is a CNAME for all, target.b.test by /24. Prints each question.
import socket, sys
import dns.edns, dns.flags, dns.message, dns.rdatatype, dns.rrset
server = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
server.bind(('127.0.0.1', int(sys.argv[1])))
soa = 'ns.example. h.example. 1 3600 600 86400 60'
while True:
    wire, client = server.recvfrom(65535)
    query = dns.message.from_wire(wire)
    reply = dns.message.make_response(query)
    reply.flags |= dns.flags.AA
    name, kind = query.question[0].name, query.question[0].rdtype
    subnet = next((each for each in query.options if each.otype == 8), None)
    text = name.to_text().lower()
    if kind == dns.rdatatype.A and text in ('alias.a.test.', 'target.b.test.'):
        print(text, subnet.address if subnet else 'without', flush=True)
        which = subnet.address.split('.')[0] if subnet else '1'
        isAlias = text.startswith('alias')
        data = ('CNAME', 'target.b.test.') if isAlias else ('A', f'192.0.2.{which}')
        reply.answer.append(dns.rrset.from_text(name, 60, 'IN', *data))
        if subnet:
            scope = 0 if isAlias else 24
            reply.use_edns(0, 0, 1232, options=[dns.edns.ECSOption(subnet.address, subnet.srclen, scope)])
    else:
        reply.authority.append(dns.rrset.from_text(text.split('.', 1)[1], 60, 'IN', 'SOA', soa))
    server.sendto(reply.to_wire(), client)
PYTHON
/usr/bin/python3 upstream.py "$upstream" > questions & started+=($!)
recursor() { # DIRECTORY PORT QNAME-MINIMIZATION
  mkdir "$1"
  cat > "$1/recursor.conf" <<CONF
local-address=127.0.0.1:$2
hint-file=no
forward-zones=a.test=127.0.0.1:$upstream,b.test=127.0.0.1:$upstream
socket-dir=$folder/$1
write-pid=no
daemon=no
disable-syslog=yes
security-poll-suffix=
dnssec=off
threads=1
edns-subnet-allow-list=a.test,b.test
use-incoming-edns-subnet=yes
qname-minimization=$3
CONF
  pdns_recursor --config-dir="$folder/$1" > "$1/log" 2>&1 & started+=($!)
}
recursor minimizes "$minimizes" yes
recursor plain "$plain" no
for each in "$minimizes" "$plain"; do
  for _ in $(seq 100); do
    dig @127.0.0.1 -p "$each" +tries=1 +time=1 first.a.test A | grep -q 'NOERROR' && break
    sleep 0.2
  done
done
status=0
expect() { # PORT SUBNET QUESTIONS
  local before address asked
  before=$(wc -l < questions)
  address=$(dig @127.0.0.1 -p "$1" +tries=1 +time=5 +short +subnet="$2" alias.a.test A | tail -1)
  asked=$(tail -n +$((before + 1)) questions | tr '\n' ';')
  echo "$2: $address; asked: $asked"
  [ "$address; $asked" = "$3" ] || { echo '  changed'; status=1; }
}
for each in "$minimizes" "$plain"; do
  without='target.b.test. without;'
  [ "$each" = "$minimizes" ] && echo 'qname-minimization=yes' || { echo 'qname-minimization=no'; without=; }
  expect "$each" 198.51.100.0/24 '192.0.2.198; alias.a.test. 198.51.100.0;target.b.test. 198.51.100.0;'
  expect "$each" 203.0.113.0/24 "192.0.2.203; ${without}target.b.test. 203.0.113.0;"
  expect "$each" 10.0.0.0/24 "192.0.2.10; ${without}target.b.test. 10.0.0.0;"
  expect "$each" 198.51.100.0/24 '192.0.2.198; '
done
exit "$status"
