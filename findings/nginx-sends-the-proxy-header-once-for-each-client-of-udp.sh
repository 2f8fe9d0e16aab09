#!/usr/bin/env bash
# Before which datagrams of a client nginx sends the PROXY header, and of what kind it is.
#
# Version: nginx and libnginx-mod-stream 1.22.1 of Debian 12.
# Seen: with `listen ... udp` and `proxy_protocol on` the first datagram from an address and port begins with a header, and
# those that follow in the same session have none; a session lasts for `proxy_timeout`, 10 minutes, after the last one.
# With `proxy_responses 1`, which is what one reads for DNS, it ends with the answer: a second question before it
# has none either. With `proxy_requests 1` each has one. The header is the text of version 1, and calls UDP "TCP4".
# An engineer would have guessed: each datagram has its header, as with dnsdist, since nobody can tell which one came
# first. A server that wants headers drops the later questions of resolvers that keep a port: some time out, most do not.
set -euo pipefail
needs=(nginx libnginx-mod-stream python3)
dpkg -s "${needs[@]}" >/dev/null 2>&1 || apt-get install -y -qq --no-install-recommends "${needs[@]}" >/dev/null
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
PATH=$PATH:/usr/sbin
nginx -v

cat > see.py <<'PYTHON'
# OPTIONS: what stands before questions 1 to 3 from one port, where 2 comes after the answer to 1, and 3 before that to 2.
import os, socket, subprocess, sys, time
def udp():
    made = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    made.bind(('127.0.0.1', 0))
    made.settimeout(10)
    return made
server, client, spare = udp(), udp(), udp()
front = spare.getsockname()
spare.close()
with open('nginx.conf', 'w') as file:
    file.write(f'''
load_module /usr/lib/nginx/modules/ngx_stream_module.so;
daemon off; pid {os.getcwd()}/pid; error_log stderr; worker_processes 1;
events {{ }}
stream {{ server {{
  listen 127.0.0.1:{front[1]} udp; proxy_pass 127.0.0.1:{server.getsockname()[1]}; proxy_protocol on; {sys.argv[1]}
}} }}''')
nginx = subprocess.Popen(['nginx', '-c', f'{os.getcwd()}/nginx.conf'], stderr=subprocess.DEVNULL)
def question(number):
    return bytes([0, number]) + bytes.fromhex('01000001000000000000') + b'\3www\7example\4test\0\0\1\0\1'
def seen():
    octets, source = server.recvfrom(4096)
    header, query = octets[:-34], octets[-34:]
    return header.decode().split(' ', 2)[:2] if header else ['none'], query, source
def answer(query, source):
    server.sendto(query[:2] + b'\x84' + query[3:], source)
    client.recv(4096)
try:
    for _ in range(100):
        client.sendto(question(0), front)
        server.settimeout(0.1)
        try:
            answer(*seen()[1:])
            break
        except (TimeoutError, ConnectionError):
            pass
    # Another port: a session that is new.
    client, said = udp(), []
    server.settimeout(10)
    client.sendto(question(1), front)
    kind, query, source = seen()
    said.append(kind)
    answer(query, source)
    for number in (2, 3):
        client.sendto(question(number), front)
        said.append(seen()[0])
    print(', '.join(' '.join(kind) for kind in said))
finally:
    nginx.terminate()
    nginx.wait()
PYTHON
status=0
expect() { # OPTIONS SAID
  local said; said=$(/usr/bin/python3 see.py "$1") || true
  echo "proxy_protocol on; $1 before questions 1, 2 and 3 from one port: $said"
  [ "$said" = "$2" ] || { echo "  changed: it was $2"; status=1; }
}
expect '' 'PROXY TCP4, none, none'
expect 'proxy_responses 1;' 'PROXY TCP4, PROXY TCP4, none'
expect 'proxy_requests 1;' 'PROXY TCP4, PROXY TCP4, PROXY TCP4'
exit "$status"
