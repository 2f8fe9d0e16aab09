#!/usr/bin/env bash
# What becomes of messages with TSIG behind dnsdist that tells the server the client's subnet (`useClientSubnet=true`).
#
# Versions: dnsdist 1.7.3, bind9, bind9-dnsutils 9.18.49 and knot 3.2.6 of Debian 12.
# Seen: dnsdist writes the subnet into each message, whatever it is, also into signed ones, whose signature it is no more:
# - SOA, AXFR and updates with EDNS: NOTAUTH with BADSIG, as for a wrong secret. The client, the key and both clocks are right.
# - Without EDNS, as nsupdate sends it, the OPT record is put behind the TSIG record, which has to be the last one: FORMERR, which does not speak of keys.
# Without `useClientSubnet` all are answered.
# An engineer would have guessed: what is signed is passed on as it is (RFC 8945 section 5.5), or the configuration is refused.
# Its makers know: https://github.com/PowerDNS/pdns/issues/12259.
set -euo pipefail
needs=(dnsdist bind9 bind9-dnsutils knot python3)
dpkg -s "${needs[@]}" >/dev/null 2>&1 || apt-get install -y -qq --no-install-recommends "${needs[@]}" >/dev/null
folder=$(mktemp -d)
started=()
trap 'kill "${started[@]}" 2>/dev/null || true; wait; rm -rf "$folder"' EXIT
cd "$folder"
PATH=$PATH:/usr/sbin
dpkg-query -W dnsdist bind9 knot
port() { /usr/bin/python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])'; }
secret=$(head -c 32 /dev/zero | base64)
printf 'c.example. 300 IN %s\n' 'SOA ns1.c.example. host.c.example. 1 3600 600 86400 300' 'NS ns1.c.example.' > zone
printf 'ns1.c.example. 300 IN A 192.0.2.1\n' >> zone
cp zone bind.zone; cp zone knot.zone
bind=$(port)
cat > bind.conf <<CONF
key k { algorithm hmac-sha256; secret "$secret"; };
options {
  directory "$folder"; pid-file none; session-keyfile "$folder/session.key";
  listen-on port $bind { 127.0.0.1; }; listen-on-v6 { none; };
  recursion no; dnssec-validation no;
};
controls { };
zone "c.example" { type primary; file "$folder/bind.zone"; allow-transfer { key k; }; allow-update { key k; }; };
CONF
named -g -c bind.conf > log.bind 2>&1 & started+=($!)
knot=$(port)
cat > knot.conf <<CONF
server:
  listen: 127.0.0.1@$knot
  rundir: $folder
database:
  storage: $folder
key:
  - id: k
    algorithm: hmac-sha256
    secret: $secret
acl:
  - id: k
    key: k
    action: [transfer, update]
zone:
  - domain: c.example
    file: $folder/knot.zone
    acl: k
CONF
knotd -c knot.conf > log.knot 2>&1 & started+=($!)
dist() { # PORT SERVER SETTING
  cat > "$1.conf" <<CONF
setLocal('127.0.0.1:$1')
setSecurityPollSuffix('')
setACL({'127.0.0.0/8'})
newServer({address='127.0.0.1:$2', healthCheckMode='up'$3})
CONF
  dnsdist --supervised --disable-syslog -C "$1.conf" > "log.$1" 2>&1 & started+=($!)
  for _ in $(seq 100); do dig @127.0.0.1 -p "$1" +short +tries=1 +time=1 c.example SOA 2> /dev/null | grep -q host.c.example && return; sleep 0.1; done
}
ask() { # PORT WHAT...: the rcode, and the error that a TSIG record names
  dig @127.0.0.1 -p "$1" -y "hmac-sha256:k:$secret" +tries=1 +time=3 c.example "${@:2}" > said 2>&1 || true
  sed -n 's/.*status: \([A-Z]*\),.*/\1/p; s/^; Transfer failed.*/failed/p; s/^;; XFR size.*/transferred/p; s/.*TSIG.*hmac.* \(BAD[A-Z]*\) .*/\1/p' said | sort -u | paste -sd ' '
}
update() { # PORT NAME
  printf '%s\n' "server 127.0.0.1 $1" 'zone c.example' "update add $2.c.example 60 A 192.0.2.2" send |
    nsupdate -y "hmac-sha256:k:$secret" 2>&1 | sed -n 's/.*update failed: \([A-Z]*\).*/\1/p' | paste -sd ' '
}
status=0
expect() { # WHAT SAID EXPECTED
  echo "$1: $2"
  [ "$2" = "$3" ] || { echo "  changed: it was $3"; status=1; }
}
for server in bind knot; do
  plain=$(port); dist "$plain" "${!server}" ''
  subnet=$(port); dist "$subnet" "${!server}" ', useClientSubnet=true'
  expect "$server, SOA" "$(ask "$plain" SOA +edns=0)" NOERROR
  expect "$server, AXFR" "$(ask "$plain" AXFR +edns=0)" transferred
  expect "$server, update" "$(update "$plain" one)" ''
  expect "$server, SOA with the subnet" "$(ask "$subnet" SOA +edns=0)" 'BADSIG NOTAUTH'
  expect "$server, SOA with the subnet, over TCP" "$(ask "$subnet" SOA +edns=0 +tcp)" 'BADSIG NOTAUTH'
  expect "$server, AXFR with the subnet" "$(ask "$subnet" AXFR +edns=0)" 'BADSIG failed'
  expect "$server, SOA with the subnet, without EDNS" "$(ask "$subnet" SOA +noedns)" FORMERR
  expect "$server, update with the subnet" "$(update "$subnet" two)" FORMERR
done
exit $status
