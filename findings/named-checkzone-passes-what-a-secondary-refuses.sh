#!/usr/bin/env bash
# Whether named-checkzone passes a zone that named as a secondary refuses.
#
# Versions: bind9 and bind9-utils 9.18.49, knot 3.2.6 as the other primary, of Debian 12.
# Seen: a zone with 101 A records at a name. named-checkzone says OK. named as a secondary refuses the whole zone:
# "too many records (must not exceed 100)" (`max-records-per-type`), and has none of its other names.
# With 100 records it takes the zone.
# An engineer would have guessed: a checker that is shipped with a server refuses what this server refuses.
set -euo pipefail
needs=(bind9 bind9-utils bind9-dnsutils knot python3)
dpkg -s "${needs[@]}" >/dev/null 2>&1 || apt-get install -y -qq --no-install-recommends "${needs[@]}" >/dev/null
folder=$(mktemp -d)
started=()
trap 'kill "${started[@]}" 2>/dev/null || true; wait; rm -rf "$folder"' EXIT
cd "$folder"
PATH=$PATH:/usr/sbin
named -v; knotd -V
free='import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])'
port() { /usr/bin/python3 -c "$free"; }
primary=$(port) secondary=$(port)
mkdir knot named
for count in 100 101; do
  {
    printf '$TTL 60\n@ SOA ns h 1 3600 600 86400 60\n@ NS ns\nns A 192.0.2.250\nwww A 192.0.2.1\n'
    for i in $(seq "$count"); do echo "many A 192.0.2.$i"; done
  } > "zone$count"
done
cat > knot.conf <<END
server:
  listen: 127.0.0.1@$primary
  rundir: $folder/knot
database:
  storage: $folder/knot
acl:
  - id: everybody
    action: transfer
    address: 127.0.0.1
zone:
  - domain: few.example
    file: $folder/zone100
    acl: everybody
  - domain: many.example
    file: $folder/zone101
    acl: everybody
END
knotd -c knot.conf > knot/log 2>&1 & started+=($!)
cat > named.conf <<END
options {
  directory "$folder/named"; pid-file none; session-keyfile none; recursion no; notify no;
  listen-on port $secondary { 127.0.0.1; }; listen-on-v6 { none; };
};
controls { };
zone "few.example" { type secondary; file "few"; primaries { 127.0.0.1 port $primary; }; };
zone "many.example" { type secondary; file "many"; primaries { 127.0.0.1 port $primary; }; };
END
ask() { dig @127.0.0.1 -p "$1" +tries=1 +time=1 +short "$2" A; }
for _ in $(seq 100); do [ "$(ask "$primary" www.many.example)" = 192.0.2.1 ] && break; sleep 0.1; done
named -f -g -c named.conf > named/log 2>&1 & started+=($!)
for _ in $(seq 200); do
  [ "$(ask "$secondary" www.few.example)" = 192.0.2.1 ] && grep -q 'many.example.*status' named/log && break
  sleep 0.1
done
checked=$(named-checkzone many.example zone101 | tail -1)
few=$(ask "$secondary" www.few.example) many=$(ask "$secondary" www.many.example)
grep 'too many' named/log || true
echo "named-checkzone of 101 records: $checked; secondary: 100 records: $few; 101 records: ${many:-nothing}"
[ "$checked" = OK ] && [ "$few" = 192.0.2.1 ] && [ -z "$many" ] && grep -q 'must not exceed 100' named/log ||
  { echo 'changed'; exit 1; }
