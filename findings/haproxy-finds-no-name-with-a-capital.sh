#!/usr/bin/env bash
# For which names of a zone HAProxy finds addresses, when BIND answers.
#
# Versions: haproxy 2.6.12 and bind9 9.18.49 of Debian 12.
# Seen: HAProxy asks in small letters and compares octets, and BIND answers a name as the zone file spells it. So a server whose
# name is `Big` in the zone gets no address, however HAProxy's configuration spells it, and dig shows the right one. The same
# goes for an alias of `WWW` where the zone has `www`, and for each name below a DNAME record, whose answer begins with
# that record. It takes none of 30 addresses: the answer is cut at 512 octets, and it does not ask again over TCP.
# An engineer would have guessed: names are compared without case (RFC 4343), DNAME comes with a CNAME record
# for those that do not know it (RFC 6672 section 3.1), and a truncated answer is asked for again.
set -euo pipefail
needs=(haproxy bind9 bind9-dnsutils python3)
dpkg -s "${needs[@]}" >/dev/null 2>&1 || apt-get install -y -qq --no-install-recommends "${needs[@]}" >/dev/null
folder=$(mktemp -d)
started=()
trap 'kill "${started[@]}" 2>/dev/null || true; wait; rm -rf "$folder"' EXIT
cd "$folder"
PATH=$PATH:/usr/sbin
haproxy -v | sed -n 1p
named -v
port=$(/usr/bin/python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])')

cat > zone <<'END'
$ORIGIN example.test.
$TTL 60
@ SOA ns h 1 3600 600 86400 60
@ NS ns
ns A 192.0.2.53
www A 192.0.2.1
alias CNAME www
other CNAME WWW
Big A 192.0.2.1
sub DNAME subs
a.subs A 192.0.2.1
END
for n in $(seq 29); do echo "some A 192.0.2.$n"; done >> zone
for n in $(seq 30); do echo "many A 192.0.2.$n"; done >> zone
cat > named.conf <<END
options {
  directory "$folder"; pid-file "$folder/pid"; session-keyfile "$folder/session.key";
  listen-on port $port { 127.0.0.1; }; listen-on-v6 { none; }; recursion no;
};
controls {};
zone "example.test" { type primary; file "zone"; };
END
named -g -c named.conf > named.log 2>&1 & started+=($!)
ask() { dig @127.0.0.1 -p "$port" +tries=1 +time=2 +short "$1.example.test" A; }
for _ in $(seq 100); do ask www | grep -q '^192' && break; sleep 0.1; done

cat > haproxy.cfg <<END
global
  stats socket $folder/socket
defaults
  timeout connect 1s
  timeout client 1s
  timeout server 1s
resolvers dns
  nameserver one 127.0.0.1:$port
  timeout resolve 500ms
  timeout retry 200ms
END
for name in www WWW alias other Big big a.sub some many; do
  printf 'backend %s\n  server s %s.example.test:80 resolvers dns init-addr none resolve-prefer ipv4\n' "$name" "$name"
done >> haproxy.cfg
haproxy -db -f haproxy.cfg > haproxy.log 2>&1 & started+=($!)
cat > address.py <<'PYTHON'
# BACKEND: whether its server has an address.
import socket, sys
with socket.socket(socket.AF_UNIX) as connection:
    connection.connect('socket')
    connection.sendall(f'show servers state {sys.argv[1]}\n'.encode())
    print('yes' if connection.makefile().readlines()[2].split()[4].startswith('192.') else 'no')
PYTHON
address() { /usr/bin/python3 address.py "$1" 2> /dev/null || true; }
for _ in $(seq 100); do [ "$(address www)$(address alias)$(address WWW)$(address some)" = yesyesyesyes ] && break; sleep 0.1; done
sleep 2
status=0
expect() { # NAME SAID
  local said; said=$(address "$1")
  echo "$1: HAProxy has an address: $said; dig: $(ask "$1" | tail -n 1)"
  [ "$said" = "$2" ] && ask "$1" | grep -q '^192' || { echo "  changed: it was $2"; status=1; }
}
expect www yes
expect WWW yes
expect Big no
expect big no
expect alias yes
expect other no
expect a.sub no
expect some yes
expect many no
exit "$status"
