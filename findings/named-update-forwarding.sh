#!/usr/bin/env bash
# What named, knotd and pdns_server, as secondaries of two primaries, do with updates for the primary.
#
# Versions: bind9 9.18.49, knot 3.2.6 and pdns-server 4.7.3 of Debian 12.
# Seen: the first primary answers REFUSED, the second one would take the update.
# - All give the client the REFUSED and never ask the second primary.
# - named (`allow-update-forwarding { any; }`) forwards an update that is signed with a key which it does
#   not have, signature and all. knotd answers NOTAUTH with BADKEY to the same, pdns_server REFUSED.
# An engineer would have guessed: the next primary is tried, as it is for transfers; and all do the
# same with a key that they cannot verify.
set -euo pipefail
needs=(bind9 bind9-dnsutils knot pdns-server pdns-backend-sqlite3 sqlite3 python3)
dpkg -s "${needs[@]}" >/dev/null 2>&1 || apt-get install -y -qq --no-install-recommends "${needs[@]}" >/dev/null
folder=$(mktemp -d)
started=()
trap 'kill "${started[@]}" 2>/dev/null || true; wait; rm -rf "$folder"' EXIT
cd "$folder"
PATH=$PATH:/usr/sbin
named -v; knotd -V; pdns_server --version 2>&1 | sed -n '1s|.*PowerDNS A|PowerDNS A|p' || true
free='import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])'
port() { /usr/bin/python3 -c "$free"; }
first=$(port) second=$(port)

cat > primary.py <<'PYTHON'
# Answers SOA of example.org, and each update with the given response code; prints the updates.
import socket, struct, sys, threading
port, rcode, name = int(sys.argv[1]), int(sys.argv[2]), sys.argv[3]
def answer(wire):
    if (wire[2] >> 3) & 15 == 5:
        print(name, 'signed' if b'\x00\xfa\x00\xff' in wire else 'unsigned', flush=True)
        return wire[:2] + bytes([wire[2] | 0x80, rcode]) + bytes(8)
    end = 12
    while wire[end]: end += wire[end] + 1
    soa = b'\2ns\0\1h\0' + struct.pack('>IIIII', 1, 3600, 600, 86400, 60)
    record = b'\xc0\x0c\0\6\0\1\0\0\0\x3c' + struct.pack('>H', len(soa)) + soa
    return wire[:2] + b'\x84\0\0\1\0\1\0\0\0\0' + wire[12:end + 5] + record
def datagrams():
    server = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    server.bind(('127.0.0.1', port))
    while True:
        wire, client = server.recvfrom(65535)
        server.sendto(answer(wire), client)
def stream(client):
    with client, client.makefile('rb') as octets:
        while len(head := octets.read(2)) == 2:
            said = answer(octets.read(struct.unpack('>H', head)[0]))
            client.sendall(struct.pack('>H', len(said)) + said)
threading.Thread(target=datagrams, daemon=True).start()
server = socket.create_server(('127.0.0.1', port))
while True:
    threading.Thread(target=stream, args=(server.accept()[0],), daemon=True).start()
PYTHON
/usr/bin/python3 primary.py "$first" 5 first >> updates & started+=($!)
/usr/bin/python3 primary.py "$second" 0 second >> updates & started+=($!)
printf '$TTL 60\n@ SOA ns. h. 1 3600 600 86400 60\n@ NS ns.\n' > zone

named_port=$(port)
mkdir named knot
cp zone named/zone
cat > named.conf <<END
options {
  directory "$folder/named"; pid-file none; session-keyfile none; recursion no; notify no;
  listen-on port $named_port { 127.0.0.1; }; listen-on-v6 { none; };
};
controls { };
zone "example.org" {
  type secondary; file "zone"; masterfile-format text; allow-update-forwarding { any; };
  primaries { 127.0.0.1 port $first; 127.0.0.1 port $second; };
};
END
named -f -g -c named.conf > named/log 2>&1 & started+=($!)
knot_port=$(port)
cat > knot.conf <<END
server:
  listen: 127.0.0.1@$knot_port
  rundir: $folder/knot
database:
  storage: $folder/knot
remote:
  - id: first
    address: 127.0.0.1@$first
  - id: second
    address: 127.0.0.1@$second
acl:
  - id: everybody
    action: update
    address: 127.0.0.1
zone:
  - domain: example.org
    file: $folder/zone
    master: [first, second]
    acl: everybody
END
knotd -c knot.conf > knot/log 2>&1 & started+=($!)
pdns_port=$(port)
mkdir pdns
cat > pdns/pdns.conf <<END
launch=gsqlite3
gsqlite3-database=$folder/pdns/db
local-address=127.0.0.1
local-port=$pdns_port
secondary=yes
dnsupdate=yes
allow-dnsupdate-from=127.0.0.1
socket-dir=$folder/pdns
write-pid=no
disable-syslog=yes
security-poll-suffix=
END
sqlite3 pdns/db < /usr/share/doc/pdns-backend-sqlite3/schema.sqlite3.sql
primaries="127.0.0.1:$first,127.0.0.1:$second"
sqlite3 pdns/db "insert into domains (name, type, master) values ('example.org', 'SLAVE', '$primaries')"
pdns_server --config-dir="$folder/pdns" --daemon=no --guardian=no > pdns/log 2>&1 & started+=($!)

# In its first moments named has no socket to forward from, and says SERVFAIL.
update() { # PORT [KEY]
  printf '%s\n' "server 127.0.0.1 $1" 'zone example.org' ${2+"key $2"} \
    'update add a.example.org 60 TXT x' send > lines
  for _ in $(seq 60); do
    : > said
    nsupdate lines > said 2>&1 || true
    grep -q 'SERVFAIL\|refused$\|timed out' said || break
    sleep 0.5
  done
  tail -1 said
}
key='hmac-sha256:stranger.example AAAAAAAAAAAAAAAAAAAAAA=='
status=0
expect() { # WHAT SAID UPDATES
  echo "$1: $said; forwarded: $(sort -u updates | tr '\n' ';')"
  [[ $said = *"$2"* && $(sort -u updates | tr '\n' ';') = "$3" ]] || { echo '  changed'; status=1; }
  : > updates
}
said=$(update "$named_port"); expect 'named, unsigned' REFUSED 'first unsigned;'
said=$(update "$named_port" "$key"); expect 'named, unknown key' REFUSED 'first signed;'
said=$(update "$knot_port"); expect 'knotd, unsigned' REFUSED 'first unsigned;'
said=$(update "$knot_port" "$key"); expect 'knotd, unknown key' BADKEY ''
said=$(update "$pdns_port"); expect 'pdns_server, unsigned' REFUSED 'first unsigned;'
said=$(update "$pdns_port" "$key"); expect 'pdns_server, unknown key' REFUSED ''
exit "$status"
