#!/usr/bin/env bash
# Which answers check_dig of the Monitoring Plugins takes for the expected address (`-a`).
#
# Version: monitoring-plugins-standard 2.3.3 of Debian 12, with dig of bind9-dnsutils 9.18.49.
# Seen: it looks for the text anywhere in a line of dig's answer. So 192.0.2.10 is OK where 192.0.2.1 is expected, 2001:db8::1f
# where 2001:db8::1 is, and so is an alias of `192.0.2.1.backup.example.test` without any address. Another address is
# a warning, not critical, and one that the expected one stands beside is OK.
# An engineer would have guessed: `-a` is an address, and compared as one. After a failover from .1 to .10 the check goes
# on saying that .1 is answered.
set -euo pipefail
needs=(monitoring-plugins-standard bind9-dnsutils python3-dnspython)
dpkg -s "${needs[@]}" >/dev/null 2>&1 || apt-get install -y -qq --no-install-recommends "${needs[@]}" >/dev/null
folder=$(mktemp -d)
started=()
trap 'kill "${started[@]}" 2>/dev/null || true; wait; rm -rf "$folder"' EXIT
cd "$folder"
dpkg-query -W -f '${Package} ${Version}\n' monitoring-plugins-standard bind9-dnsutils

cat > server.py <<'PYTHON'
# Answers each name of this table over UDP.
import socket
import dns.flags, dns.message, dns.rrset
table = {
    'one': ['A 192.0.2.1'], 'ten': ['A 192.0.2.10'], 'nine': ['A 192.0.2.9'], 'both': ['A 192.0.2.9', 'A 192.0.2.1'],
    'alias': ['CNAME 192.0.2.1.backup.example.test.'], 'six': ['AAAA 2001:db8::1f'],
}
server = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
server.bind(('127.0.0.1', 0))
print(server.getsockname()[1], flush=True)
while True:
    wire, client = server.recvfrom(65535)
    reply = dns.message.make_response(dns.message.from_wire(wire))
    reply.flags |= dns.flags.AA
    name = reply.question[0].name
    for kind, data in (row.split() for row in table.get(name.labels[0].decode(), [])):
        reply.answer.append(dns.rrset.from_text(name, 60, 'IN', kind, data))
    server.sendto(reply.to_wire(), client)
PYTHON
/usr/bin/python3 server.py > port & started+=($!)
for _ in $(seq 100); do [ -s port ] && break; sleep 0.1; done
status=0
expect() { # NAME TYPE EXPECTED-ADDRESS VERDICT
  local said
  said=$(/usr/lib/nagios/plugins/check_dig -H 127.0.0.1 -p "$(cat port)" -l "$1.example.test" -T "$2" -a "$3") || true
  echo "$1 $2, expected $3: $said" | sed 's/|.*//; s/ - [0-9.]* seconds response time//'
  [[ $said == "DNS $4 "* ]] || { echo "  changed: it was $4"; status=1; }
}
expect one A 192.0.2.1 OK
expect nine A 192.0.2.1 WARNING
expect ten A 192.0.2.1 OK
expect alias A 192.0.2.1 OK
expect both A 192.0.2.1 OK
expect six AAAA 2001:db8::1 OK
exit "$status"
