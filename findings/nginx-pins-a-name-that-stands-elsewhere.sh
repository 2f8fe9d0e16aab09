#!/usr/bin/env bash
# When nginx looks a name up again that is in a variable of `proxy_pass`, which is how it is told to follow a name.
#
# Version: nginx 1.22.1 of Debian 12.
# Seen: with `resolver` and `proxy_pass http://$name:PORT` it follows the name, TTL by TTL. When the same name and port stand
# in any other `proxy_pass` of the file as text, it does not: that one makes an upstream of this name, which is looked up once
# at the start, and the variable finds it. So a second server block, of another file and another site, stops the first one from
# following. With another port, or a final dot in the variable, it follows again.
# An engineer would have guessed: what a location does depends on its own lines. The failover that was tried for this
# site no longer comes, and its configuration is the same.
set -euo pipefail
needs=(nginx python3-dnspython bind9-dnsutils iproute2 curl)
dpkg -s "${needs[@]}" >/dev/null 2>&1 || apt-get install -y -qq --no-install-recommends "${needs[@]}" >/dev/null
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
chmod 755 .
dpkg-query -W -f '${Package} ${Version}\n' nginx

cat > names.py <<'PYTHON'
# Answers A questions with TTL 1: one address, and another one once the file "moved" is there.
import os, socket
import dns.flags, dns.message, dns.rdatatype, dns.rrset
server = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
server.bind(('127.0.0.1', 53))
while True:
    wire, client = server.recvfrom(65535)
    reply = dns.message.make_response(dns.message.from_wire(wire))
    reply.flags |= dns.flags.AA
    if reply.question[0].rdtype == dns.rdatatype.A:
        address = '127.0.1.2' if os.path.exists('moved') else '127.0.1.1'
        reply.answer.append(dns.rrset.from_text(reply.question[0].name, 1, 'IN', 'A', address))
    server.sendto(reply.to_wire(), client)
PYTHON
cat > backends.py <<'PYTHON'
# HTTP servers at two addresses and two ports, which say which address it is.
import http.server, threading
class Handler(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        self.send_response(200)
        self.end_headers()
        self.wfile.write({'127.0.1.1': b'before', '127.0.1.2': b'new'}[self.server.server_address[0]])
    def log_message(self, *_): pass
for address in ('127.0.1.1', '127.0.1.2'):
    for port in (8000, 8001):
        server = http.server.ThreadingHTTPServer((address, port), Handler)
        threading.Thread(target=server.serve_forever).start()
PYTHON
site() { # PORT TARGET
  echo "  server { listen 127.0.0.1:$1; location / { set \$name app.example.test; proxy_pass http://$2; } }"
}
file() { # more sites
  printf 'daemon off; pid %s/pid; error_log stderr; worker_processes 1;\nevents { }\n' "$folder"
  echo 'http { access_log off; resolver 127.0.0.1 ipv6=off;'
  site 8010 '$name:8000'
  site 8011 '$name:8001'
  site 8012 '$name.:8000'
  echo "$1 }"
}
file '' > alone.conf
file "$(site 8013 app.example.test:8000)" > beside.conf
# Runs in a network of its own, where these ports are free, with its own list of name servers.
cat > inside.sh <<'BASH'
set -euo pipefail
PATH=$PATH:/usr/sbin
ip link set lo up
echo 'nameserver 127.0.0.1' > resolv.conf
mount --bind resolv.conf "$(readlink -f /etc/resolv.conf)"
started=()
trap 'kill "${started[@]}"; wait' EXIT
/usr/bin/python3 names.py & started+=($!)
for _ in $(seq 100); do dig +tries=1 +time=1 +short app.example.test | grep -q '^127' && break; sleep 0.1; done
/usr/bin/python3 backends.py & started+=($!)
for _ in $(seq 100); do curl -s http://127.0.1.2:8001/ > /dev/null && break; sleep 0.1; done
nginx -c "$PWD/$1.conf" & started+=($!)
ask() { curl -s --max-time 2 "http://127.0.0.1:$1/" || true; }
for port in 8010 8011 8012; do for _ in $(seq 100); do [ "$(ask "$port")" = before ] && break; sleep 0.1; done; done
touch moved
for _ in $(seq 100); do [ "$(ask 8011) $(ask 8012)" = 'new new' ] && break; sleep 0.1; done
sleep 2
echo "the name in a variable: $(ask 8010), with another port: $(ask 8011), with a final dot: $(ask 8012)"
BASH
status=0
expect() { # CONFIGURATION WHAT SAID
  local said
  rm -f moved
  said=$(unshare --net --mount bash inside.sh "$1" 2> log)
  echo "$2: after it has moved nginx uses the address, $said"
  [ "$said" = "$3" ] || { echo "  changed: it was $3"; status=1; }
}
expect alone 'the name stands nowhere else' 'the name in a variable: new, with another port: new, with a final dot: new'
expect beside 'the name stands in another site' 'the name in a variable: before, with another port: new, with a final dot: new'
exit "$status"
