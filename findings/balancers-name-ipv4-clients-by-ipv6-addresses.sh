#!/usr/bin/env bash
# By which address load balancers name an IPv4 client in the PROXY header, where one socket takes both families.
#
# Versions: haproxy 2.6.12, nginx and libnginx-mod-stream 1.22.1, stunnel4 5.68, hitch 1.7.2 of Debian 12.
# Seen: a client at 127.0.0.1 is TCP6 and ::ffff:127.0.0.1 for HAProxy (`bind :::PORT v4v6`), nginx (`ipv6only=off`) and
# stunnel (`accept = :::PORT`), in version 1 and 2 of the header alike. hitch, told of all addresses (`[*]:PORT`), opens a
# socket for each family and says TCP4 and 127.0.0.1, as the others do with a socket for IPv4 alone.
# An engineer would have guessed: the family in the header is that of the client's packets. Behind such a socket
# lists of networks (`192.0.2.0/24`) and tables of countries that hold IPv4 addresses as such no longer match anybody.
set -euo pipefail
needs=(haproxy nginx libnginx-mod-stream stunnel4 hitch openssl python3)
dpkg -s "${needs[@]}" >/dev/null 2>&1 || apt-get install -y -qq --no-install-recommends "${needs[@]}" >/dev/null
folder=$(mktemp -d)
started=()
trap 'kill -- "${started[@]}" 2>/dev/null || true; wait; rm -rf "$folder"' EXIT
cd "$folder"
chmod 755 .
PATH=$PATH:/usr/sbin
dpkg-query -W -f '${Package} ${Version}\n' haproxy nginx stunnel4 hitch

openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -subj /CN=localhost -days 2 \
  -keyout both.pem -out certificate.pem 2>/dev/null
cat certificate.pem >> both.pem
port() { /usr/bin/python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])'; }
cat > backend.py <<'PYTHON'
# Tells each client, in what it sends back, which PROXY header stood before its octets.
import socket, threading
server = socket.create_server(('127.0.0.1', 0))
print(server.getsockname()[1], flush=True)
def answer(connection):
    with connection:
        octets = connection.recv(4096)
        if octets.startswith(b'PROXY '):
            kind, source = octets.split()[1:3]
            said = f'version 1, {kind.decode()} {source.decode()}'
        elif octets[13] >> 4 == 1:
            said = f'version 2, TCP4 {socket.inet_ntop(socket.AF_INET, octets[16:20])}'
        else:
            said = f'version 2, TCP6 {socket.inet_ntop(socket.AF_INET6, octets[16:32])}'
        connection.sendall(said.encode())
while True:
    threading.Thread(target=answer, args=(server.accept()[0],)).start()
PYTHON
/usr/bin/python3 backend.py > backend & started+=($!)
for _ in $(seq 100); do [ -s backend ] && break; sleep 0.1; done
to=127.0.0.1:$(cat backend)
haproxy6=$(port) haproxy4=$(port) nginx6=$(port) nginx4=$(port) stunnel6=$(port) hitch6=$(port)
cat > haproxy.cfg <<END
defaults
  mode tcp
  timeout connect 5s
  timeout client 5s
  timeout server 5s
listen both
  bind :::$haproxy6 v4v6
  server node $to send-proxy-v2
listen one
  bind 0.0.0.0:$haproxy4
  server node $to send-proxy-v2
END
haproxy -db -f haproxy.cfg > haproxy.log 2>&1 & started+=($!)
cat > nginx.conf <<END
load_module /usr/lib/nginx/modules/ngx_stream_module.so;
daemon off; pid $folder/nginx.pid; error_log stderr; worker_processes 1;
events { }
stream {
  proxy_protocol on;
  server { listen [::]:$nginx6 ipv6only=off; proxy_pass $to; }
  server { listen $nginx4; proxy_pass $to; }
}
END
nginx -c "$folder/nginx.conf" > nginx.log 2>&1 & started+=($!)
cat > stunnel.conf <<END
foreground = yes
pid =
[dot]
accept = :::$stunnel6
connect = $to
protocol = proxy
cert = $folder/both.pem
END
stunnel4 stunnel.conf > stunnel.log 2>&1 & started+=($!)
setsid hitch --frontend="[*]:$hitch6" --backend="[127.0.0.1]:$(cat backend)" --write-proxy-v2=on --user=nobody both.pem > hitch.log 2>&1 &
started+=("-$!") # with its worker
cat > ask.py <<'PYTHON'
# PORT tcp|tls: what the server behind it says.
import socket, ssl, sys
with socket.create_connection(('127.0.0.1', int(sys.argv[1])), 5) as connection:
    if sys.argv[2] == 'tls':
        context = ssl.create_default_context()
        context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
        connection = context.wrap_socket(connection)
    connection.sendall(b'question')
    print(connection.recv(4096).decode())
PYTHON
status=0
expect() { # WHAT PORT tcp|tls SAID
  local said
  for _ in $(seq 100); do said=$(/usr/bin/python3 ask.py "$2" "$3" 2> /dev/null) && [ -n "$said" ] && break; sleep 0.1; done
  echo "$1: $said"
  [ "$said" = "$4" ] || { echo "  changed: it was $4"; status=1; }
}
expect 'HAProxy, both families' "$haproxy6" tcp 'version 2, TCP6 ::ffff:127.0.0.1'
expect 'HAProxy, IPv4' "$haproxy4" tcp 'version 2, TCP4 127.0.0.1'
expect 'nginx, both families' "$nginx6" tcp 'version 1, TCP6 ::ffff:127.0.0.1'
expect 'nginx, IPv4' "$nginx4" tcp 'version 1, TCP4 127.0.0.1'
expect 'stunnel, both families' "$stunnel6" tls 'version 1, TCP6 ::ffff:127.0.0.1'
expect 'hitch, both families' "$hitch6" tls 'version 2, TCP4 127.0.0.1'
exit "$status"
