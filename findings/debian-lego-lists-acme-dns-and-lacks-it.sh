#!/usr/bin/env bash
# A provider that lego of Debian documents, and then does not know.
#
# Versions: lego 4.9.1-1 and pebble 2.4.0 of Debian 12.
# Seen: `lego dnshelp` lists `acme-dns` and tells its settings; `lego --dns acme-dns run` registers
# an account, then ends with `unrecognized DNS provider: acme-dns`. `rfc2136` is known.
# An engineer would have guessed: what the program's own help documents is in the program.
set -euo pipefail
needs=(lego pebble openssl python3)
dpkg -s "${needs[@]}" >/dev/null 2>&1 || apt-get install -y -qq --no-install-recommends "${needs[@]}" >/dev/null
folder=$(mktemp -d)
trap 'kill "${server:-}" 2>/dev/null || true; wait; rm -rf "$folder"' EXIT
cd "$folder"
dpkg-query -W -f '${Package} ${Version}\n' lego pebble

openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 9 -subj /CN=acme \
  -addext subjectAltName=IP:127.0.0.1 -keyout key.pem -out cert.pem 2>/dev/null
port() { /usr/bin/python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])'; }
directory=$(port) management=$(port)
cat > pebble.json <<END
{ "pebble": { "listenAddress": "127.0.0.1:$directory", "managementListenAddress": "127.0.0.1:$management",
  "certificate": "cert.pem", "privateKey": "key.pem", "httpPort": 1, "tlsPort": 1, "ocspResponderURL": "" } }
END
PEBBLE_WFE_NONCEREJECT=0 pebble -config pebble.json > pebble.log 2>&1 & server=$!
for _ in $(seq 100); do grep -q 'Listening on' pebble.log && break; sleep 0.1; done

lego dnshelp | grep -q 'acme-dns,' && lego dnshelp -c acme-dns | grep -q ACME_DNS_API_BASE
echo "the help lists acme-dns, with its settings"
export LEGO_CA_CERTIFICATES=cert.pem ACME_DNS_API_BASE=http://127.0.0.1:9 ACME_DNS_STORAGE_PATH=$folder/accounts.json
export RFC2136_NAMESERVER=127.0.0.1:9
run() { # PROVIDER: its last words
  timeout 60 lego --server "https://127.0.0.1:$directory/dir" --accept-tos --email ops@example.com \
    --domains www.example.com --path "$folder/$1" --dns "$1" --dns.disable-cp run 2>&1 | tail -1 || true
}
acme_dns=$(run acme-dns) rfc2136=$(run rfc2136)
echo "acme-dns: $acme_dns"
echo "rfc2136 is known: $(grep -q 'unrecognized DNS provider' <<< "$rfc2136" && echo no || echo yes)"
[[ $acme_dns == *'unrecognized DNS provider: acme-dns' ]]
! grep -q 'unrecognized DNS provider' <<< "$rfc2136"
