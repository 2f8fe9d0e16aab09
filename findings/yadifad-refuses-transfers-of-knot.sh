#!/usr/bin/env bash
# Whether yadifad takes a zone from knotd.
#
# Versions: yadifa 2.6.4 and knot 3.2.6 of Debian 12.
# Seen: never. knotd answers the AXFR with the whole zone and without AA; yadifad logs `axfr query error ... UNPROCESSABLE_MESSAGE`,
# tries again after minutes, and answers SERVFAIL. Through a proxy that sets AA in the reply it has the zone at once.
# An engineer would have guessed: two well-known servers transfer zones. RFC 5936 section 2.2.1 has the server
# set AA, and recommends the client to ignore it; a change of Knot leaves it out on purpose ("Do not set AA flag for AXFR/IXFR queries").
set -euo pipefail
needs=(yadifa knot bind9-dnsutils python3)
dpkg -s "${needs[@]}" >/dev/null 2>&1 || apt-get install -y -qq --no-install-recommends "${needs[@]}" >/dev/null
folder=$(mktemp -d)
started=()
trap 'kill "${started[@]}" 2>/dev/null || true; wait; rm -rf "$folder"' EXIT
cd "$folder"
PATH=$PATH:/usr/sbin
dpkg-query -W "${needs[@]:0:2}"
free='import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])'
port() { /usr/bin/python3 -c "$free"; }
knot=$(port) proxy=$(port)
mkdir knot
printf '%s\n' '$TTL 60' '@ SOA ns. h. 1 3600 600 86400 60' '@ NS ns.' 'www A 192.0.2.1' > zone
cat > knot.conf <<CONF
server:
  listen: 127.0.0.1@$knot
  rundir: $folder/knot
database:
  storage: $folder/knot
acl:
  - id: local
    address: 127.0.0.1
    action: transfer
zone:
  - domain: c.example
    file: $folder/zone
    acl: local
CONF
cat > proxy.py <<'PY'
# Passes one question by TCP on to PORT, and its reply back with AA set.
import socket, sys
def message(connection):
    octets = connection.makefile("rb")
    return octets.read(int.from_bytes(octets.read(2), "big"))
frame = lambda octets: len(octets).to_bytes(2, "big") + octets
with socket.create_server(("127.0.0.1", int(sys.argv[1]))) as server:
    while True:
        client, _ = server.accept()
        with client, socket.create_connection(("127.0.0.1", int(sys.argv[2]))) as primary:
            primary.sendall(frame(message(client)))
            reply = bytearray(message(primary))
            reply[2] |= 4
            client.sendall(frame(reply))
PY
knotd -c knot.conf > knot.log 2>&1 & started+=($!)
/usr/bin/python3 proxy.py "$proxy" "$knot" > proxy.log 2>&1 & started+=($!)
ask() { dig @127.0.0.1 -p "$1" +tries=1 +time=1 www.c.example A | sed -n 's/.*status: \([A-Z]*\),.*/\1/p'; }
for _ in $(seq 100); do [ "$(ask "$knot")" = NOERROR ] && break; sleep 0.1; done
secondary() { # PRIMARY-PORT: what yadifad says of the zone. Some of its starts forget the transfer, which others show: it is started again.
  local its number state said
  for number in $(seq 8); do
    its=$(port) state=$(mktemp -d -p "$folder")
    cat > "$state/conf" <<CONF
<main>
  daemon off
  chroot off
  log-path $state
  pid-file $state/pid
  data-path $state
  keys-path $state
  xfr-path $state
  uid $(id -u)
  gid $(id -g)
  port $its
  listen 127.0.0.1
  allow-query any
</main>
<rrl>
  enabled false
</rrl>
<zone>
  domain c.example
  file zone
  type secondary
  primary 127.0.0.1 port $1
</zone>
CONF
    yadifad -c "$state/conf" > "$state/log" 2>&1 & local process=$!
    said=
    for _ in $(seq 30); do
      [ "$(ask "$its")" = NOERROR ] && { said='serves it'; break; }
      grep -q 'axfr query error.*UNPROCESSABLE_MESSAGE' "$state/log" && { said="UNPROCESSABLE_MESSAGE, $(ask "$its")"; break; }
      sleep 0.2
    done
    kill "$process"; wait "$process" 2>/dev/null || true
    [ -z "$said" ] || break
  done
  echo "$said"
}
status=0
expect() { # WHAT SAID EXPECTED
  echo "$1: $2"
  [ "$2" = "$3" ] || { echo "  changed: it was $3"; status=1; }
}
cat > flags.py <<'PY'
# Asks 127.0.0.1 at PORT for the zone, and says whether the reply has AA and no error.
import socket, sys
question = bytes.fromhex("123400000001000000000000") + b"\x01c\x07example\x00\x00\xfc\x00\x01"
with socket.create_connection(("127.0.0.1", int(sys.argv[1]))) as connection:
    connection.sendall(len(question).to_bytes(2, "big") + question)
    reply = connection.makefile("rb").read(6)
print("AA" if reply[4] & 4 else "no AA", "and rcode", reply[5] & 15)
PY
expect 'the transfer of knotd' "$(/usr/bin/python3 flags.py "$knot")" 'no AA and rcode 0'
for _ in 1 2; do
  expect 'from knotd' "$(secondary "$knot")" 'UNPROCESSABLE_MESSAGE, SERVFAIL'
  expect 'from knotd, with AA' "$(secondary "$proxy")" 'serves it'
done
exit $status
