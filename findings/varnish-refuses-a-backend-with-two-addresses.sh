#!/usr/bin/env bash
# What proxies make of the name of a backend that has two addresses, and of its next addresses.
#
# Versions: varnish 7.1.1, haproxy 2.6.12, nginx 1.22.1 of Debian 12.
# Seen: Varnish does not load a VCL whose backend has a name with two IPv4 addresses ("resolves to too many addresses"): it
# starts while one of the two is down, and not when both are up. HAProxy takes the first address of the answer, and nginx both.
# None of them asks again, whatever the TTL: after the name has moved they go on with the address from their start. HAProxy with
# `resolvers`, and nginx with `resolver` and the name in a variable, follow within seconds.
# An engineer would have guessed: a second address for a name is one more to try, and does no harm. A name that a
# load balancing DNS server answers with one address, or with two, is a start that works, or does not.
set -euo pipefail
needs=(varnish haproxy nginx python3-dnspython bind9-dnsutils iproute2 curl)
dpkg -s "${needs[@]}" >/dev/null 2>&1 || apt-get install -y -qq --no-install-recommends "${needs[@]}" >/dev/null
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
chmod 755 .
dpkg-query -W -f '${Package} ${Version}\n' varnish haproxy nginx

cat > names.py <<'PYTHON'
# Answers A questions with TTL 1: `two` has two addresses, `one` and `alone` have one, and another once "moved" is there.
import os, socket
import dns.flags, dns.message, dns.rdatatype, dns.rrset
server = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
server.bind(('127.0.0.1', 53))
while True:
    wire, client = server.recvfrom(65535)
    reply = dns.message.make_response(dns.message.from_wire(wire))
    reply.flags |= dns.flags.AA
    name = reply.question[0].name
    moved = '127.0.1.4' if os.path.exists('moved') else '127.0.1.3'
    rows = {'two': ['127.0.1.1', '127.0.1.2'], 'one': [moved], 'alone': [moved]}.get(name.labels[0].decode(), [])
    if rows and reply.question[0].rdtype == dns.rdatatype.A:
        reply.answer.append(dns.rrset.from_text(name, 1, 'IN', 'A', *rows))
    server.sendto(reply.to_wire(), client)
PYTHON
cat > backends.py <<'PYTHON'
# An HTTP server at four addresses, which says which one it is.
import http.server, threading
class Handler(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        self.send_response(200)
        self.end_headers()
        self.wfile.write(f'{self.server.server_address[0]}\n'.encode())
    def log_message(self, *_): pass
for n in range(1, 5):
    server = http.server.ThreadingHTTPServer((f'127.0.1.{n}', 8000), Handler)
    threading.Thread(target=server.serve_forever).start()
PYTHON
for name in one two; do
  printf 'vcl 4.1;\nbackend it { .host = "%s.example.test"; .port = "8000"; }\n' "$name" > "$name.vcl"
done
cat > haproxy.cfg <<'END'
defaults
  mode http
  timeout connect 2s
  timeout client 2s
  timeout server 2s
resolvers dns
  nameserver one 127.0.0.1:53
  timeout resolve 500ms
  hold valid 1s
listen two
  bind 127.0.0.1:8001
  server it two.example.test:8000
listen one
  bind 127.0.0.1:8002
  server it one.example.test:8000
listen resolvers
  bind 127.0.0.1:8003
  server it one.example.test:8000 resolvers dns init-addr none resolve-prefer ipv4
END
cat > nginx.conf <<END
daemon off; pid $folder/pid; error_log stderr; worker_processes 1;
events { }
http {
  access_log off;
  server { listen 127.0.0.1:8011; location / { proxy_pass http://two.example.test:8000; } }
  server { listen 127.0.0.1:8012; location / { proxy_pass http://one.example.test:8000; } }
  server { listen 127.0.0.1:8013; resolver 127.0.0.1 ipv6=off; set \$it alone.example.test; location / { proxy_pass http://\$it:8000; } }
}
END
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
ask() { curl -s --max-time 2 "http://127.0.0.1:$1/" || true; }
for _ in $(seq 100); do dig +tries=1 +time=1 +short one.example.test | grep -q '^127' && break; sleep 0.1; done
/usr/bin/python3 backends.py & started+=($!)
for _ in $(seq 100); do curl -s http://127.0.1.4:8000/ > /dev/null && break; sleep 0.1; done
for name in one two; do
  varnishd -C -f "$PWD/$name.vcl" -n "$PWD/varnish" > varnish.log 2>&1 && said=loaded || said=$(grep -io 'too many addresses' varnish.log | head -n 1)
  echo "Varnish, $name: $said"
done
haproxy -db -f haproxy.cfg > haproxy.log 2>&1 & started+=($!)
nginx -c "$PWD/nginx.conf" > nginx.log 2>&1 & started+=($!)
for port in 8001 8003 8011; do for _ in $(seq 100); do ask "$port" | grep -q '^127' && break; sleep 0.1; done; done
several() { for _ in $(seq 10); do ask "$1"; done | sort -u | wc -l; }
echo "addresses of two that get requests: HAProxy $(several 8001), nginx $(several 8011)"
was() { ask "$1" | sed 's/^127.0.1.3$/before/; s/^127.0.1.4$/new/'; }
for port in 8002 8003 8012 8013; do ask "$port" > first; done
touch moved
for _ in $(seq 100); do [ "$(was 8003) $(was 8013)" = 'new new' ] && break; sleep 0.1; done
sleep 2
echo "the name has moved, the address in use: HAProxy $(was 8002), with resolvers $(was 8003), nginx $(was 8012), with a variable $(was 8013)"
BASH
unshare --net --mount bash inside.sh | tee said
cmp -s said - <<'END' || { echo 'changed'; exit 1; }
Varnish, one: loaded
Varnish, two: too many addresses
addresses of two that get requests: HAProxy 1, nginx 2
the name has moved, the address in use: HAProxy before, with resolvers new, nginx before, with a variable new
END
