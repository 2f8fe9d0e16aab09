#!/usr/bin/env bash
# What pdns_server and pdns_recursor make of relative names in HTTPS, SVCB, NAPTR, KX, LP and IPSECKEY records of a zone file.
#
# Versions: pdns-server and pdns-backend-bind 4.7.3, pdns-recursor 4.8.8 (`auth-zones`), bind9 9.18.49, of Debian 12.
# Seen: `www HTTPS 1 host` in c.example is answered as `1 host.`, a name below the root, and `@` as a name with the label "@".
# The same goes for NAPTR, SVCB, KX, LP and IPSECKEY. CNAME, MX, SRV, AFSDB and RP get the origin. Nothing is said.
# An engineer would have guessed: RFC 1035 section 5.1 gives each name without a final dot the origin, as named does.
set -euo pipefail
needs=(pdns-server pdns-backend-bind pdns-recursor bind9 bind9-dnsutils python3)
dpkg -s "${needs[@]}" >/dev/null 2>&1 || apt-get install -y -qq --no-install-recommends "${needs[@]}" >/dev/null
folder=$(mktemp -d)
started=()
trap 'kill "${started[@]}" 2>/dev/null || true; wait; rm -rf "$folder"' EXIT
cd "$folder"
PATH=$PATH:/usr/sbin
dpkg-query -W "${needs[@]:0:4}"
free='import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])'
port() { /usr/bin/python3 -c "$free"; }
named=$(port) server=$(port) recursor=$(port)
key=AQNRU3mG7TVTO2BkR47usntb102uFJtugbo6BSGvgqt4AQ==
cat > zone <<ZONE
\$TTL 60
@ SOA ns hostmaster 1 3600 600 86400 60
@ NS ns
ns A 192.0.2.1
host A 192.0.2.2
cname CNAME host
mx MX 1 host
srv SRV 1 1 1 host
afsdb AFSDB 1 host
rp RP host host
https HTTPS 1 host
apex HTTPS 1 @
svcb SVCB 1 host
naptr NAPTR 1 1 "s" "x" "" host
kx KX 1 host
lp LP 1 host
ipseckey IPSECKEY 10 3 2 host $key
ZONE
mkdir s r
cat > named.conf <<CONF
options { directory "$folder"; listen-on port $named { 127.0.0.1; }; listen-on-v6 { none; }; pid-file none; session-keyfile none; recursion no; };
controls {};
zone "c.example" { type primary; file "zone"; };
CONF
echo "zone \"c.example\" { type native; file \"$folder/zone\"; };" > zones.conf
printf '%s\n' launch=bind "bind-config=$folder/zones.conf" local-address=127.0.0.1 "local-port=$server" \
  "socket-dir=$folder/s" write-pid=no disable-syslog=yes security-poll-suffix= > s/pdns.conf
printf '%s\n' "auth-zones=c.example=$folder/zone" local-address=127.0.0.1 "local-port=$recursor" threads=1 \
  "socket-dir=$folder/r" write-pid=no disable-syslog=yes security-poll-suffix= dnssec=off > r/recursor.conf
named -g -c named.conf > named.log 2>&1 & started+=($!)
pdns_server --config-dir=s --daemon=no --guardian=no > server.log 2>&1 & started+=($!)
pdns_recursor --config-dir=r --daemon=no > recursor.log 2>&1 & started+=($!)
ask() { dig @127.0.0.1 -p "$1" +tries=1 +time=2 +short "$2.c.example" "${3:-$2}" 2>/dev/null; } # PORT NAME [TYPE]
for each in $named $server $recursor; do
  for _ in $(seq 100); do [ "$(ask "$each" host A)" = 192.0.2.2 ] && break; sleep 0.2; done
done
status=0
expect() { # WHAT SAID EXPECTED
  echo "$1: $2"
  [ "$2" = "$3" ] || { echo "  changed: it was $3"; status=1; }
}
all() { # NAME TYPE BIND POWERDNS
  expect "$2 of BIND" "$(ask "$named" "$1" "$2")" "$3"
  expect "$2 of pdns_server" "$(ask "$server" "$1" "$2")" "$4"
  expect "$2 of pdns_recursor" "$(ask "$recursor" "$1" "$2")" "$4"
}
for each in 'mx 1 HOST' 'srv 1 1 1 HOST' 'afsdb 1 HOST' 'rp HOST HOST'; do
  name=${each%% *} rdata=${each#* }
  all "$name" "${name^^}" "${rdata//HOST/host.c.example.}" "${rdata//HOST/host.c.example.}"
done
for each in 'https 1 HOST' 'svcb 1 HOST' 'naptr 1 1 "s" "x" "" HOST' 'kx 1 HOST' 'lp 1 HOST' "ipseckey 10 3 2 HOST $key"; do
  name=${each%% *} rdata=${each#* }
  all "$name" "${name^^}" "${rdata/HOST/host.c.example.}" "${rdata/HOST/host.}"
done
all apex HTTPS '1 c.example.' '1 \@.'
exit $status
