#!/usr/bin/env bash
# What servers answer to a TSIG of a client whose clock is ten minutes ahead, and whether the client can believe it.
#
# Versions: nsd 4.6.1, pdns-server 4.7.3 with pdns-backend-sqlite3, bind9 9.18.49, knot 3.2.6 (and python3-dnspython 2.3.0 as the client)
# of Debian 12.
# Seen: all refuse with NOTAUTH. BIND and Knot say BADTIME and their own time under the client's key. NSD says so with a TSIG record whose
# MAC is empty, and leaves out the question. PowerDNS sends no TSIG record, so nothing about time.
# An engineer would have guessed: BADTIME is the error that is signed (RFC 8945 section 5.2.3), as key and secret were right, so a
# client can tell a wrong clock from a wrong secret. Behind NSD and PowerDNS it cannot.
set -euo pipefail
needs=(nsd pdns-server pdns-backend-sqlite3 sqlite3 bind9 knot python3-dnspython)
dpkg -s "${needs[@]}" >/dev/null 2>&1 || apt-get install -y -qq --no-install-recommends "${needs[@]}" >/dev/null
folder=$(mktemp -d)
started=()
trap 'kill "${started[@]}" 2>/dev/null || true; wait; rm -rf "$folder"' EXIT
cd "$folder"
PATH=$PATH:/usr/sbin
dpkg-query -W "${needs[@]}"
free='import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])'
port() { /usr/bin/python3 -c "$free"; }
nsd=$(port) pdns=$(port) named=$(port) knot=$(port)
secret=$(head -c 32 /dev/urandom | base64)
mkdir n p k
cat > zone <<'ZONE'
$TTL 60
@ SOA ns hostmaster 1 3600 600 86400 60
@ NS ns
ns A 192.0.2.1
ZONE
cat > named.conf <<CONF
key k { algorithm hmac-sha256; secret "$secret"; };
options {
  directory "$folder"; listen-on port $named { 127.0.0.1; }; listen-on-v6 { none; };
  pid-file none; session-keyfile none; recursion no; allow-transfer { key k; };
};
controls {};
zone "c.example" { type primary; file "zone"; };
CONF
cat > knot.conf <<CONF
server:
  listen: 127.0.0.1@$knot
  rundir: $folder/k
database:
  storage: $folder/k
key:
  - id: k
    algorithm: hmac-sha256
    secret: $secret
acl:
  - id: signed
    key: k
    action: transfer
zone:
  - domain: c.example
    file: $folder/zone
    acl: signed
CONF
cat > nsd.conf <<CONF
server:
  ip-address: 127.0.0.1@$nsd
  username: ""
  database: ""
  pidfile: ""
  zonesdir: $folder
  xfrdfile: $folder/n/xfrd
  xfrdir: $folder/n
  zonelistfile: $folder/n/zones
remote-control:
  control-enable: no
key:
  name: k
  algorithm: hmac-sha256
  secret: "$secret"
zone:
  name: c.example
  zonefile: zone
  provide-xfr: 127.0.0.0/8 k
CONF
printf '%s\n' launch=gsqlite3 "gsqlite3-database=$folder/p/db" gsqlite3-dnssec=yes local-address=127.0.0.1 "local-port=$pdns" \
  "socket-dir=$folder/p" write-pid=no disable-syslog=yes security-poll-suffix= allow-axfr-ips= > p/pdns.conf
sqlite3 p/db < /usr/share/pdns-backend-sqlite3/schema/schema.sqlite3.sql
for each in 'load-zone c.example zone' "import-tsig-key k hmac-sha256 $secret" 'set-meta c.example TSIG-ALLOW-AXFR k'; do
  pdnsutil --config-dir=p $each > /dev/null 2>&1
done
named -g -c named.conf > named.log 2>&1 & started+=($!)
knotd -c knot.conf > knot.log 2>&1 & started+=($!)
nsd -d -c nsd.conf > nsd.log 2>&1 & started+=($!)
pdns_server --config-dir=p --daemon=no --guardian=no > pdns.log 2>&1 & started+=($!)
cat > client.py <<'PY'
# Asks 127.0.0.1 at PORT for the zone with a TSIG that is AHEAD seconds ahead; says what the reply has.
import socket, struct, sys, time
import dns.message, dns.tsigkeyring
port, ahead, secret = int(sys.argv[1]), int(sys.argv[2]), sys.argv[3]
query = dns.message.make_query("c.example.", "AXFR")
query.use_tsig(dns.tsigkeyring.from_text({"k": ("hmac-sha256", secret)}), "k")
now = time.time
time.time = lambda: now() + ahead
octets = query.to_wire()
time.time = now
with socket.create_connection(("127.0.0.1", port), timeout=5) as connection:
    connection.sendall(struct.pack("!H", len(octets)) + octets)
    reading = connection.makefile("rb")
    reply = reading.read(*struct.unpack("!H", reading.read(2)))
questions, answers, _, additional = struct.unpack("!4H", reply[4:12])
said = [{0: "NOERROR", 9: "NOTAUTH"}.get(reply[3] & 15, "other"), f"{questions} question"]
if reply[3] & 15 and additional:
    at = reply.index(b"\x0bhmac-sha256\x00") + 13
    mac = struct.unpack("!H", reply[at + 8 : at + 10])[0]
    error, other = struct.unpack("!2H", reply[at + 12 + mac : at + 16 + mac])
    clock = int.from_bytes(reply[at + 16 + mac : at + 16 + mac + other], "big")
    said += [{18: "BADTIME"}.get(error, "other"), f"MAC of {mac}", "its time" if abs(clock - now()) < 60 else "no time"]
elif reply[3] & 15:
    said.append("no TSIG")
print(", ".join(said))
PY
ask() { /usr/bin/python3 client.py "$1" "$2" "$secret" 2>/dev/null || true; }
status=0
expect() { # WHAT SAID EXPECTED
  echo "$1: $2"
  [ "$2" = "$3" ] || { echo "  changed: it was $3"; status=1; }
}
for each in "$named" "$knot" "$nsd" "$pdns"; do
  for _ in $(seq 50); do [ "$(ask "$each" 0)" = 'NOERROR, 1 question' ] && break; sleep 0.2; done
  expect 'with the right time' "$(ask "$each" 0)" 'NOERROR, 1 question'
done
expect BIND "$(ask "$named" 600)" 'NOTAUTH, 1 question, BADTIME, MAC of 32, its time'
expect Knot "$(ask "$knot" 600)" 'NOTAUTH, 1 question, BADTIME, MAC of 32, its time'
expect NSD "$(ask "$nsd" 600)" 'NOTAUTH, 0 question, BADTIME, MAC of 0, its time'
expect PowerDNS "$(ask "$pdns" 600)" 'NOTAUTH, 1 question, no TSIG'
exit $status
