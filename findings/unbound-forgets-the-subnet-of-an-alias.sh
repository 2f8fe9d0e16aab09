#!/usr/bin/env bash
# What resolvers with client subnet answer where an alias is chosen by subnet and its target's server knows none.
#
# Versions: unbound 1.17.1 (`subnetcache`) and pdns-recursor 4.8.8 of Debian 12.
# Seen: the CNAME is another one for each /24 (scope 24). Where the target's answer has
# - the scope 24 or 0: both resolvers give each client the alias of its subnet.
# - no client subnet option: unbound gives the first client's alias to the clients of all subnets that
#   ask later, but not with `client-subnet-always-forward: yes`. The recursor asks for each subnet.
# Where the alias is the same for everybody (scope 0) and the target is not, unbound asks for both
# again for each subnet, the recursor for the target alone. Questions without a subnet are not counted:
# `pdns-recursor-asks-a-target-twice.sh` shows those.
# An engineer would have guessed: an answer is kept for the narrowest scope of its parts.
set -euo pipefail
needs=(unbound pdns-recursor bind9-dnsutils python3-dnspython)
dpkg -s "${needs[@]}" >/dev/null 2>&1 || apt-get install -y -qq --no-install-recommends "${needs[@]}" >/dev/null
folder=$(mktemp -d)
started=()
trap 'kill "${started[@]}" 2>/dev/null || true; wait; rm -rf "$folder"' EXIT
cd "$folder"
PATH=$PATH:/usr/sbin
unbound -V | sed -n 1p; pdns_recursor --version 2>&1 | sed -n 1p
free='import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])'
port() { /usr/bin/python3 -c "$free"; }
upstream=$(port) unbound=$(port) forwards=$(port) recursor=$(port)

cat > upstream.py <<'PYTHON'
# Authoritative for example.test. alias-S-T is a CNAME to target-T with a word before it, and S, T are scopes:
# "by" is 24 with another record for each /24, "all" is 0, "none" is no option. Prints each question.
import socket, sys
import dns.edns, dns.flags, dns.message, dns.rdatatype, dns.rrset
server = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
server.bind(('127.0.0.1', int(sys.argv[1])))
soa = 'ns.example.test. h.example.test. 1 3600 600 86400 60'
while True:
    wire, client = server.recvfrom(65535)
    query = dns.message.from_wire(wire)
    reply = dns.message.make_response(query)
    reply.flags |= dns.flags.AA
    name, kind = query.question[0].name, query.question[0].rdtype
    subnet = next((each for each in query.options if each.otype == 8), None)
    words = name.to_text().lower().split('.')[0].split('-')
    if kind != dns.rdatatype.A or len(words) < 3 or subnet is None:
        reply.authority.append(dns.rrset.from_text('example.test.', 60, 'IN', 'SOA', soa))
    else:
        print('-'.join(words), subnet.address, flush=True)
        first = subnet.address.split('.')[0]
        scope, which = words[1], first if words[1] == 'by' else '1'
        if words[0] == 'alias':
            target = f'target-{words[2]}-of-{scope}-{which}.example.test.'
            reply.answer.append(dns.rrset.from_text(name, 60, 'IN', 'CNAME', target))
        else:
            reply.answer.append(dns.rrset.from_text(name, 60, 'IN', 'A', f'192.0.2.{which}'))
        if scope != 'none':
            echo = dns.edns.ECSOption(subnet.address, subnet.srclen, 24 if scope == 'by' else 0)
            reply.use_edns(0, 0, 1232, options=[echo])
    server.sendto(reply.to_wire(), client)
PYTHON
/usr/bin/python3 upstream.py "$upstream" > questions & started+=($!)

unbound() { # DIRECTORY PORT ALWAYS-FORWARD
  mkdir "$1"
  cat > "$1/conf" <<END
server:
  directory: "$folder/$1"
  chroot: ""
  username: ""
  pidfile: ""
  use-syslog: no
  do-daemonize: no
  interface: 127.0.0.1@$2
  do-not-query-localhost: no
  module-config: "subnetcache iterator"
  send-client-subnet: 127.0.0.1
  client-subnet-always-forward: $3
  local-zone: "test." nodefault
stub-zone:
  name: "example.test"
  stub-addr: 127.0.0.1@$upstream
remote-control:
  control-enable: no
END
  command unbound -d -c "$1/conf" > "$1/log" 2>&1 & started+=($!)
}
unbound unbound "$unbound" no
unbound forwards "$forwards" yes
mkdir recursor
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
edns-subnet-allow-list=example.test
use-incoming-edns-subnet=yes
END
pdns_recursor --config-dir="$folder/recursor" > recursor/log 2>&1 & started+=($!)

ask() { dig @127.0.0.1 -p "$1" +tries=1 +time=5 +short +subnet="$3" "$2.example.test" A | head -1; }
status=0
expect() { # RESOLVER PORT NAME ALIASES QUESTIONS
  local before aliases asked
  before=$(wc -l < questions)
  aliases=$(for each in 198.51.100.0/24 203.0.113.0/24 10.0.0.0/24 198.51.100.0/24; do
    ask "$2" "$3" "$each" | sed 's/.*-\([0-9]*\)\.example.*/\1/'
  done | tr '\n' ' ')
  asked=$(($(wc -l < questions) - before))
  echo "$1, $3: aliases $aliases; $asked questions"
  [ "$aliases $asked" = "$4 $5" ] || { echo '  changed'; status=1; }
}
for each in "$unbound" "$forwards" "$recursor"; do
  for _ in $(seq 100); do
    dig @127.0.0.1 -p "$each" +tries=1 +time=1 first.example.test A | grep -q NOERROR && break
    sleep 0.2
  done
done
right='198 203 10 198 '
expect unbound "$unbound" alias-by-by "$right" 6
expect unbound "$unbound" alias-by-all "$right" 6
expect unbound "$unbound" alias-by-none '198 198 198 198 ' 2
expect unbound "$unbound" alias-all-by '1 1 1 1 ' 6
expect forwards "$forwards" alias-by-none "$right" 6
expect recursor "$recursor" alias-by-by "$right" 6
expect recursor "$recursor" alias-by-all "$right" 6
expect recursor "$recursor" alias-by-none "$right" 6
expect recursor "$recursor" alias-all-by '1 1 1 1 ' 4
exit "$status"
