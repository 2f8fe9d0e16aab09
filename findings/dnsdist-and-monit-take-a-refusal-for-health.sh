#!/usr/bin/env bash
# Which answers the health checks of programs take for those of a DNS server that is well.
#
# Versions: dnsdist 1.7.3, monit 5.33.0, prometheus-blackbox-exporter 0.23.0 of Debian 12.
# Seen: a server that refuses every question, as one does that has lost its zones, is up for dnsdist and for
# `protocol dns` of monit. dnsdist takes NXDOMAIN, too, and with `mustResolve=true` neither of them, but still NOTAUTH, an
# answer without records and a referral. The DNS probe of the blackbox exporter takes an answer without an address for a
# success unless `validate_answer_rrs` says what must be in it, though it has asked for one.
# An engineer would have guessed: a check that names a zone's name to ask (`checkName`) wants that name to be answered.
set -euo pipefail
needs=(dnsdist monit prometheus-blackbox-exporter python3-dnspython curl)
dpkg -s "${needs[@]}" >/dev/null 2>&1 || apt-get install -y -qq --no-install-recommends "${needs[@]}" >/dev/null
folder=$(mktemp -d)
started=()
trap 'kill "${started[@]}" 2>/dev/null || true; wait; rm -rf "$folder"' EXIT
cd "$folder"
PATH=$PATH:/usr/sbin
dpkg-query -W -f '${Package} ${Version}\n' dnsdist monit prometheus-blackbox-exporter

cat > server.py <<'PYTHON'
# KIND: answers all questions over UDP in this way.
import socket, sys
import dns.flags, dns.message, dns.rcode, dns.rrset
kind = sys.argv[1]
server = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
server.bind(('127.0.0.1', 0))
print(server.getsockname()[1], flush=True)
def add(section, name, *row): section.append(dns.rrset.from_text(name, 5, 'IN', *row))
while True:
    wire, client = server.recvfrom(65535)
    reply = dns.message.make_response(dns.message.from_wire(wire))
    name = reply.question[0].name
    if kind in ('address', 'nodata'): reply.flags |= dns.flags.AA
    if kind == 'address': add(reply.answer, name, 'A', '192.0.2.1')
    elif kind == 'nodata': add(reply.authority, 'example.test.', 'SOA', 'ns. h. 1 2 3 4 5')
    elif kind == 'referral': add(reply.authority, '.', 'NS', 'ns.example.')
    else: reply.set_rcode(dns.rcode.from_text(kind))
    server.sendto(reply.to_wire(), client)
PYTHON
kinds=(address nodata referral REFUSED NXDOMAIN SERVFAIL NOTAUTH)
for kind in "${kinds[@]}"; do /usr/bin/python3 server.py "$kind" > "$kind" & started+=($!); done
for kind in "${kinds[@]}"; do for _ in $(seq 100); do [ -s "$kind" ] && break; sleep 0.1; done; done
port() { /usr/bin/python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])'; }

{
  echo "setLocal('127.0.0.1:$(port)')"
  echo "controlSocket('127.0.0.1:$(port)')"
  echo "setKey('$(head -c 32 /dev/urandom | base64)')"
  echo "setSecurityPollSuffix('')"
  for kind in "${kinds[@]}"; do for must in false true; do
    echo "newServer{address='127.0.0.1:$(cat "$kind")', name='$kind-$must', checkName='www.example.test.', checkInterval=1, mustResolve=$must}"
  done; done
} > dnsdist.conf
dnsdist --supervised --disable-syslog -C dnsdist.conf > dnsdist.log 2>&1 & started+=($!)
{
  printf 'set daemon 1\nset log %s/monit.log\n' "$folder"
  for file in pid id state; do echo "set ${file}file $folder/monit.$file"; done
  for kind in "${kinds[@]}"; do
    printf 'check host %s with address 127.0.0.1\n  if failed port %s type udp protocol dns then alert\n' "$kind" "$(cat "$kind")"
  done
} > monitrc
chmod 600 monitrc
monit -I -c monitrc > monit.out 2>&1 & started+=($!)
cat > blackbox.yml <<END
modules:
  dns: { prober: dns, timeout: 2s, dns: { query_name: www.example.test, query_type: A } }
END
blackbox=$(port)
prometheus-blackbox-exporter --config.file=blackbox.yml --web.listen-address="127.0.0.1:$blackbox" > blackbox.log 2>&1 & started+=($!)

probe() { curl -s "http://127.0.0.1:$blackbox/probe?target=127.0.0.1:$(cat "$1")&module=dns" | sed -n 's/^probe_success 1/yes/p; s/^probe_success 0/no/p'; }
for _ in $(seq 100); do [ "$(probe address)" = yes ] && break; sleep 0.1; done
servers() { dnsdist -C dnsdist.conf -c -e 'showServers()' 2> /dev/null; }
for _ in $(seq 30); do [ "$(servers | grep -c ' up ')" = 10 ] && break; sleep 0.5; done
for _ in $(seq 100); do [ "$(grep -c "^'NOTAUTH' failed" monit.out)" -gt 1 ] && break; sleep 0.1; done
status=0
expect() { # KIND DNSDIST MUST-RESOLVE MONIT BLACKBOX
  local kind=$1 said monit=yes
  up() { servers | grep -q " $kind-$1  *[^ ]*  *up " && echo yes || echo no; }
  grep -q "^'$kind' failed" monit.out && monit=no
  said="$(up false) $(up true) $monit $(probe "$kind")"
  echo "$kind is well for dnsdist, with mustResolve, monit, blackbox exporter: $said"
  [ "$said" = "$2 $3 $4 $5" ] || { echo "  changed: it was $2 $3 $4 $5"; status=1; }
}
expect address yes yes yes yes
expect nodata yes yes yes yes
expect referral yes yes yes yes
expect REFUSED yes no yes no
expect NXDOMAIN yes no no no
expect SERVFAIL no no no no
expect NOTAUTH yes yes no no
exit "$status"
