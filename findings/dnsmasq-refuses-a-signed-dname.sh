#!/usr/bin/env bash
# What dnsmasq, which validates, makes of a name below a signed DNAME record that unbound takes.
#
# Versions: dnsmasq 2.90, unbound 1.17.1, nsd 4.6.1 and ldns 1.8.3 of Debian 12.
# Seen: the address of `www` is authentic for both. `a.moved`, whose DNAME leads to
# `a.new`, is authentic for unbound, and SERVFAIL from dnsmasq, which asks that unbound.
# An engineer would have guessed: the CNAME that is made of a DNAME needs no signature of its own
# (RFC 6672 section 5.3.1), so that who validates takes it by the signature of the DNAME.
set -euo pipefail
needs=(dnsmasq-base unbound nsd ldnsutils knot-dnsutils python3)
dpkg -s "${needs[@]}" >/dev/null 2>&1 || apt-get install -y -qq --no-install-recommends "${needs[@]}" >/dev/null
folder=$(mktemp -d)
running=()
trap 'kill "${running[@]}" 2>/dev/null || true; wait; rm -rf "$folder"' EXIT
cd "$folder"
PATH=$PATH:/usr/sbin
for program in "dnsmasq --version" "unbound -V" "nsd -v" "ldns-signzone -v"; do ($program 2>&1 || true) | sed -n 1p; done
free='import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])'
port() { /usr/bin/python3 -c "$free"; }
server=$(port) resolver=$(port) forwarder=$(port)

cat > zone <<'END'
$ORIGIN .
$TTL 60
@ SOA ns h 1 3600 600 86400 60
@ NS ns
ns A 127.0.0.1
www A 192.0.2.1
moved DNAME new
a.new A 192.0.2.2
END
key=$(ldns-keygen -a ECDSAP256SHA256 -k .)
ldns-signzone -o . zone "$key"
read -r tag algorithm kind digest < <(sed "s/.*DS\s*//" "$key.ds")

cat > nsd.conf <<END
server:
  ip-address: 127.0.0.1@$server
  username: ""
  chroot: ""
  zonesdir: "$folder"
  database: ""
  pidfile: "$folder/nsd.pid"
  xfrdfile: "$folder/xfrd"
  zonelistfile: "$folder/zones"
remote-control:
  control-enable: no
zone:
  name: "."
  zonefile: zone.signed
END
nsd -d -c nsd.conf > nsd.log 2>&1 & running+=($!)

cat > unbound.conf <<END
server:
  interface: 127.0.0.1@$resolver
  username: ""
  chroot: ""
  directory: "$folder"
  pidfile: ""
  use-syslog: no
  do-not-query-localhost: no
  module-config: "validator iterator"
  trust-anchor-file: "$folder/$key.ds"
remote-control:
  control-enable: no
forward-zone:
  name: "."
  forward-addr: 127.0.0.1@$server
END
unbound -d -c unbound.conf > unbound.log 2>&1 & running+=($!)

dnsmasq --keep-in-foreground --conf-file=/dev/null --no-hosts --no-resolv --listen-address=127.0.0.1 --bind-interfaces \
  --port="$forwarder" --pid-file="$folder/dnsmasq.pid" --user=root --server="127.0.0.1#$resolver" --dnssec --dnssec-no-timecheck \
  --trust-anchor=".,$tag,$algorithm,$kind,$digest" > dnsmasq.log 2>&1 & running+=($!)

ask() { kdig +noall +header +retry=1 +timeout=3 +adflag "@127.0.0.1" -p "$1" "$2" A 2>/dev/null; }
status() { # PORT NAME: the RCODE, and whether the answer is authentic
  ask "$1" "$2" | sed -n 's/.*status: \([A-Z]*\);.*/\1/p; s/.*Flags:\([^;]*\);.*/\1/p' | tr '\n' ' ' | grep -o 'NOERROR\|SERVFAIL\| ad' | tr -d '\n'
}
for at in "$resolver" "$forwarder"; do
  for _ in $(seq 20); do [ "$(status "$at" www || true)" = 'NOERROR ad' ] && break; sleep 0.2; done
done
seen="$(status "$resolver" www), $(status "$forwarder" www), $(status "$resolver" a.moved), $(status "$forwarder" a.moved || true)"
echo "www: unbound, dnsmasq; below a DNAME: unbound, dnsmasq: $seen"
[ "$seen" = 'NOERROR ad, NOERROR ad, NOERROR ad, SERVFAIL' ]
