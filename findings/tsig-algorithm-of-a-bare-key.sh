#!/usr/bin/env bash
# What dig, nsupdate, kdig, knsupdate and dnspython sign with where a key has no algorithm.
#
# Versions: bind9-dnsutils 9.18.49, knot-dnsutils 3.2.6, python3-dnspython 2.3.0, all of Debian 12.
# Seen: given NAME:SECRET (`-y`, or a `key` line), dig and nsupdate sign with hmac-md5, the others
# with hmac-sha256. Nothing says so; a server that refuses MD5 answers NOTAUTH with BADKEY.
# An engineer would have guessed: one algorithm for all of them, and hmac-sha256 in 2026, which is
# what `tsig-keygen` of the same package as dig makes a key for.
set -euo pipefail
needs=(bind9-dnsutils knot-dnsutils python3-dnspython)
dpkg -s "${needs[@]}" >/dev/null 2>&1 || apt-get install -y -qq --no-install-recommends "${needs[@]}" >/dev/null
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
secret=$(head -c 32 /dev/zero | base64)

dig -v 2>&1; nsupdate -V; kdig -V; knsupdate -V
/usr/bin/python3 -c 'import dns.version; print("dnspython", dns.version.version)'

cat > sniff.py <<'PYTHON'
# Takes one datagram and prints the algorithm of the TSIG record in it.
import socket
import dns.name
server = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
server.bind(('127.0.0.1', 0))
server.settimeout(30)
print(server.getsockname()[1], flush=True)
wire, _ = server.recvfrom(65535)
at = wire.rfind(b'\x00\xfa\x00\xff')
print(dns.name.from_wire(wire, at + 10)[0], flush=True)
PYTHON

ask_dig() { dig @127.0.0.1 -p "$1" +tries=1 +time=1 -y "key.example:$secret" example.org A; }
ask_kdig() { kdig @127.0.0.1 -p "$1" +retry=0 +time=1 -y "key.example:$secret" example.org A; }
lines() {
  printf '%s\n' "server 127.0.0.1 $1" 'zone example.org' "key key.example $secret" \
    'update add a.example.org 60 A 192.0.2.1' send
}
ask_nsupdate() { lines "$1" | nsupdate -t 2 -u 1 -r 0; }
ask_knsupdate() { lines "$1" | knsupdate -t 2 -r 0; }
ask_dnspython() {
  /usr/bin/python3 - "$1" "$secret" <<'PYTHON'
import sys
import dns.message
import dns.query
import dns.tsigkeyring
query = dns.message.make_query('example.org', 'A')
query.use_tsig(dns.tsigkeyring.from_text({'key.example.': sys.argv[2]}))
dns.query.udp(query, '127.0.0.1', port=int(sys.argv[1]), timeout=1)
PYTHON
}

status=0
expect() { # CLIENT ALGORITHM
  : > seen
  /usr/bin/python3 sniff.py > seen &
  local sniffer=$!
  until [ -s seen ]; do sleep 0.1; done
  "ask_$1" "$(head -1 seen)" > /dev/null 2>&1 || true
  wait "$sniffer"
  echo "$1: $(tail -1 seen)"
  [ "$(tail -1 seen)" = "$2" ] || { echo "  changed: it was $2"; status=1; }
}
expect dig hmac-md5.sig-alg.reg.int.
expect nsupdate hmac-md5.sig-alg.reg.int.
expect kdig hmac-sha256.
expect knsupdate hmac-sha256.
expect dnspython hmac-sha256.
exit "$status"
