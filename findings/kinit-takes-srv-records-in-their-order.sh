#!/usr/bin/env bash
# Which of several SRV records of one priority kinit and ldapsearch take first.
#
# Versions: krb5-user 1.20.1 and ldap-utils 2.5.13 of Debian 12.
# Seen: kinit goes by priority, and by the order of the answer among records of one priority: the weights 1 and 99 count for
# nothing. Where a server answers in one order, all clients go to the same KDC, and the others are asked when it
# is silent. ldapsearch, which finds its servers by `_ldap._tcp` in the same way, draws lots by the weights.
# An engineer would have guessed: weights share the load of KDCs as RFC 2782 says, whatever the order of the answer.
set -euo pipefail
needs=(krb5-user ldap-utils python3-dnspython iproute2)
dpkg -s "${needs[@]}" >/dev/null 2>&1 || DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "${needs[@]}" >/dev/null
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
dpkg-query -W -f '${Package} ${Version}\n' krb5-user ldap-utils

cat > server.py <<'PYTHON'
# FIRST SECOND: answers SRV questions with the hosts "rare" (weight 1) and "often" (weight 99) in this order, and "last" of
# a lower priority; and their addresses.
import socket, sys
import dns.flags, dns.message, dns.rdatatype, dns.rrset
server = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
server.bind(('127.0.0.1', 53))
weights, addresses = {'rare': 1, 'often': 99}, {'rare': '127.0.1.1', 'often': '127.0.1.99', 'last': '127.0.1.3'}
while True:
    wire, client = server.recvfrom(65535)
    reply = dns.message.make_response(dns.message.from_wire(wire))
    reply.flags |= dns.flags.AA
    name, kind = reply.question[0].name, reply.question[0].rdtype
    if kind == dns.rdatatype.SRV:
        for row in ['9 50 88 last.example.test.'] + [f'1 {weights[host]} 88 {host}.example.test.' for host in sys.argv[1:]]:
            reply.answer.append(dns.rrset.from_text(name, 5, 'IN', 'SRV', row))
    elif kind == dns.rdatatype.A:
        reply.answer.append(dns.rrset.from_text(name, 5, 'IN', 'A', addresses[name.labels[0].decode()]))
    server.sendto(reply.to_wire(), client)
PYTHON
echo 'nameserver 127.0.0.1' > resolv.conf
printf '[libdefaults]\n  default_realm = EXAMPLE.TEST\n  dns_lookup_kdc = true\n' > krb5.conf
# Runs in a network of its own, where 127.0.0.1:53 is free, with its own list of name servers.
cat > inside.sh <<'BASH'
set -euo pipefail
ip link set lo up
mount --bind resolv.conf "$(readlink -f /etc/resolv.conf)"
/usr/bin/python3 server.py "$1" "$2" & server=$!
trap 'kill "$server"' EXIT
export KRB5_CONFIG=$PWD/krb5.conf KRB5_TRACE=/dev/stdout
kdc() { timeout 10 kinit ann@EXAMPLE.TEST < /dev/null 2>&1 | grep -o -m 1 'Resolving hostname [a-z]*' | cut -d ' ' -f 3; }
ldap() { timeout 10 ldapsearch -x -d 1 -H 'ldap:///dc%3Dexample%2Cdc%3Dtest' -b '' 2>&1 | sed -n 's/.*Trying 127.0.1.\([0-9]*\):.*/\1/p' | head -n 1; }
for _ in $(seq 50); do [ -n "$(kdc || true)" ] && break; sleep 0.1; done
for _ in $(seq 20); do kdc || true; done | sort | uniq -c | sed 's/^ */kinit: /'
for _ in $(seq 20); do ldap || true; done | sed 's/^1$/rare/; s/^99$/often/; s/^3$/last/' | sort | uniq -c | sed 's/^ */ldapsearch: /'
BASH
status=0
expect() { # FIRST SECOND
  local said; said=$(unshare --net --mount bash inside.sh "$1" "$2")
  printf 'the answer has %s before %s, first asked of 20 times:\n%s\n' "$1" "$2" "$said"
  grep -qx "kinit: 20 $1" <<< "$said" && [ "$(sed -n 's/^ldapsearch: \([0-9]*\) often/\1/p' <<< "$said")" -ge 15 ] ||
    { echo '  changed'; status=1; }
}
expect rare often
expect often rare
exit "$status"
