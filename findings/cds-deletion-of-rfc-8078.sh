#!/usr/bin/env bash
# What becomes of `CDS 0 0 0 0` and `CDNSKEY 0 3 0 0` in a zone file, which ask the parent to take the DS records away.
#
# Versions: bind9-utils 9.18.49, knot 3.2.6, nsd 4.6.1, pdns-server and pdns-backend-bind 4.7.3 (`direct-dnskey`), ldnsutils 1.8.3, python3-dnspython 2.3.0 of Debian 12.
# Seen: RFC 8078 section 4 writes the two records like this; they mean `CDS 0 0 0 00` and `CDNSKEY 0 3 0 AA==`, each with one octet of zeros.
# - BIND, Knot and dnspython refuse both, as neither is hex nor base64 of whole octets.
# - NSD takes both and serves a CDNSKEY record without a key, and a CDS record that is malformed on the wire: neither asks for a deletion.
# - PowerDNS reads them as they are meant. ldns reads the CDS record so, and gives the CDNSKEY record back as it stands.
# An engineer would have guessed: what the RFC has as an example is read everywhere, or refused everywhere; and a key
# that is half an octet is refused.
set -euo pipefail
needs=(bind9-utils knot knot-dnsutils nsd pdns-server pdns-backend-bind ldnsutils python3-dnspython)
dpkg -s "${needs[@]}" >/dev/null 2>&1 || apt-get install -y -qq --no-install-recommends "${needs[@]}" >/dev/null
folder=$(mktemp -d)
started=()
trap 'kill "${started[@]}" 2>/dev/null || true; wait; rm -rf "$folder"' EXIT
cd "$folder"
chmod 755 .
PATH=$PATH:/usr/sbin
dpkg-query -W "${needs[@]}"
port() { /usr/bin/python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])'; }
nsd=$(port) pdns=$(port)
zone() { printf '%s\n' '$ORIGIN c.example.' '$TTL 60' 'c.example. SOA ns hostmaster 1 3600 600 86400 60' 'c.example. NS ns' 'ns A 192.0.2.1' "c.example. $1"; }
zone 'CDS 0 0 0 0' > cds
zone 'CDNSKEY 0 3 0 0' > cdnskey
cat > nsd.conf <<CONF
server:
  ip-address: 127.0.0.1@$nsd
  pidfile: ""
  username: ""
  zonelistfile: $folder/nsd.list
  xfrdfile: $folder/nsd.xfrd
  database: ""
remote-control:
  control-enable: no
CONF
for type in cds cdnskey; do
  zone "${type^^} $([ $type = cds ] && echo '0 0 0 0' || echo '0 3 0 0')" | sed "s/c\.example/$type.example/g" > "$type.zone"
  printf 'zone:\n  name: %s.example\n  zonefile: %s\n' $type "$folder/$type.zone" >> nsd.conf
  printf 'zone "%s.example" { type master; file "%s"; };\n' $type "$folder/$type.zone" >> zones
done
nsd -d -c nsd.conf > nsd.log 2>&1 &
started+=($!)
printf '%s\n' launch=bind "bind-config=$folder/zones" local-address=127.0.0.1 "local-port=$pdns" "socket-dir=$folder" direct-dnskey=yes > pdns.conf
pdns_server --config-dir="$folder" --daemon=no --guardian=no > pdns.log 2>&1 &
started+=($!)
served() { # PORT TYPE: the octets of the record
  /usr/bin/python3 - "$1" "$2" <<'PY'
import socket, struct, sys, time
port, kind = int(sys.argv[1]), sys.argv[2]
name = b"".join(bytes([len(each)]) + each.encode() for each in (kind, "example")) + b"\0"
query = struct.pack("!HHHHHH", 7, 0, 1, 0, 0, 0) + name + struct.pack("!HH", {"cds": 59, "cdnskey": 60}[kind], 1)
for _ in range(100):
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as client:
        client.settimeout(0.5)
        try:
            client.sendto(query, ("127.0.0.1", port))
            reply = client.recv(512)
            break
        except OSError:
            time.sleep(0.1)
answers, at = struct.unpack("!H", reply[6:8])[0], len(query)
length = struct.unpack("!H", reply[at + 10:at + 12])[0] if answers else 0
print(reply[at + 12:at + 12 + length].hex() if answers else f"rcode {reply[3] & 15}")
PY
}
status=0
expect() { # WHAT SAID EXPECTED
  echo "$1: $2"
  [ "$2" = "$3" ] || { echo "  changed: it was $3"; status=1; }
}
reads() { if "$@" >/dev/null 2>&1; then echo 'reads it'; else echo 'refuses it'; fi; }
python='import dns.zone, sys; dns.zone.from_file(sys.argv[1], "c.example.")'
for type in cds cdnskey; do
  expect "BIND, $type" "$(reads named-checkzone -i none c.example $type)" 'refuses it'
  expect "Knot, $type" "$(reads kzonecheck -d off -o c.example $type)" 'refuses it'
  expect "dnspython, $type" "$(reads /usr/bin/python3 -c "$python" $type)" 'refuses it'
done
expect 'NSD serves of the CDS record' "$(served "$nsd" cds)" '00000000'
expect 'NSD serves of the CDNSKEY record' "$(served "$nsd" cdnskey)" '00000300'
expect 'PowerDNS serves of the CDS record' "$(served "$pdns" cds)" '0000000000'
expect 'PowerDNS serves of the CDNSKEY record' "$(served "$pdns" cdnskey)" '0000030000'
expect 'ldns writes' "$(ldns-read-zone cds | awk '$4 == "CDS" {print $5, $6, $7, $8}')" '0 0 0 00'
expect 'ldns writes' "$(ldns-read-zone cdnskey | awk '$4 == "CDNSKEY" {print $5, $6, $7, $8}')" '0 3 0 0'
exit $status
