#!/usr/bin/env bash
# What kdig makes of +proxy for a question over TLS.
#
# Versions: knot-dnsutils 3.2.6 of Debian 12 (and the ssl module of Python 3.11 as the server).
# Seen: no header is sent, neither before the handshake nor in it, and kdig says nothing. Over TCP the connection begins with one.
# A server behind a load balancer that waits for the header closes the connection, and kdig speaks of a failed handshake.
# An engineer would have guessed: an option that is taken with +tls works with +tls, as it does over UDP and TCP.
set -euo pipefail
needs=(knot-dnsutils openssl python3)
dpkg -s "${needs[@]}" >/dev/null 2>&1 || apt-get install -y -qq --no-install-recommends "${needs[@]}" >/dev/null
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
kdig -V
openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -subj /CN=localhost -days 2 \
  -keyout key.pem -out certificate.pem 2>/dev/null
cat > server.py <<'PY'
# Takes one connection of kdig, and says what its first octets are, and those after the handshake.
import socket, ssl, subprocess, sys
signature = bytes.fromhex("0d0a0d0a000d0a515549540a")
kind = lambda octets: "PROXY header" if octets.startswith(signature) else "TLS" if octets[:1] == b"\x16" else "other"
with socket.create_server(("127.0.0.1", 0)) as server:
    port = str(server.getsockname()[1])
    asked = ["kdig", "@127.0.0.1", "-p", port, "+retry=0", "+time=3", "+proxy=192.0.2.9#1000-192.0.2.1#53", sys.argv[1], "c.example", "A"]
    client = subprocess.Popen(asked, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    server.settimeout(10)
    connection, _ = server.accept()
    connection.settimeout(10)
    said = kind(connection.recv(32, socket.MSG_PEEK))
    if said == "TLS":
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain("certificate.pem", "key.pem")
        connection = context.wrap_socket(connection, server_side=True)
        octets = connection.recv(64)
        said += ", in it " + ("a question" if octets[2 + 4 : 2 + 6] == b"\x00\x01" else kind(octets))
    connection.close()
    client.wait()
print(said)
PY
status=0
expect() { # WHAT SAID EXPECTED
  echo "$1: $2"
  [ "$2" = "$3" ] || { echo "  changed: it was $3"; status=1; }
}
expect 'kdig +tcp +proxy begins with' "$(/usr/bin/python3 server.py +tcp)" 'PROXY header'
expect 'kdig +tls +proxy begins with' "$(/usr/bin/python3 server.py +tls)" 'TLS, in it a question'
exit $status
