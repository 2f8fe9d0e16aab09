#!/usr/bin/env bash
# What the resolver libraries adns and udns make of an alias of an alias, and of an answer that does not fit in a datagram.
#
# Versions: adns-tools (adnshost) 1.6.0 and udns-utils (dnsget) 0.4 of Debian 12; bind9 9.18.49 is the server they ask.
# Seen:
# - adns follows one alias. Where `two` is an alias of `one`, and that of `www`, it has the whole chain in the answer, and says `DNS alias found where
#   canonical name wanted` (status 4), as for a name that is not there. udns follows it.
# - udns asks over UDP alone. An answer of 90 addresses is cut short with TC, and dnsget says `temporary failure in name resolution`, each time anew. adns
#   asks over TCP, and has all.
# An engineer would have guessed: RFC 1034 section 5.2.2 has chains followed, and RFC 7766 section 5 TCP where TC says so; each other client does both.
# Debian 12 has sniproxy, jabberd2 and biboumi with udns, mailfromd and secnet with adns: these alone do not reach such a service.
set -euo pipefail
needs=(adns-tools udns-utils bind9 bind9-dnsutils iproute2 util-linux)
dpkg -s "${needs[@]}" >/dev/null 2>&1 || apt-get install -y -qq --no-install-recommends "${needs[@]}" >/dev/null
# Both ask port 53: of a network that is made for this.
[ "${1:-}" = inside ] || exec unshare --user --map-root-user --net bash "$0" inside
folder=$(mktemp -d)
started=()
trap 'kill "${started[@]}" 2>/dev/null || true; wait; rm -rf "$folder"' EXIT
cd "$folder"
PATH=$PATH:/usr/sbin:/sbin
ip link set lo up
dpkg-query -W adns-tools udns-utils bind9
printf 'c.example. 300 IN %s\n' 'SOA ns1.c.example. host.c.example. 1 3600 600 86400 300' 'NS ns1.c.example.' > zone
printf '%s.c.example. 300 IN A 192.0.2.1\n' ns1 www > part; cat part >> zone
printf '%s.c.example. 300 IN CNAME %s.c.example.\n' one www two one three two >> zone
for i in $(seq 90); do echo "many.c.example. 300 IN A 198.51.100.$i"; done >> zone
cat > named.conf <<CONF
options {
  directory "$folder"; pid-file none; session-keyfile "$folder/session.key";
  listen-on { 127.0.0.1; }; listen-on-v6 { none; };
  recursion no; dnssec-validation no;
};
controls { };
zone "c.example" { type primary; file "$folder/zone"; };
CONF
named -g -c named.conf > log 2>&1 & started+=($!)
for _ in $(seq 100); do dig @127.0.0.1 +short +tries=1 +time=1 www.c.example A 2> /dev/null | grep -q 192.0.2.1 && break; sleep 0.1; done
adns() { # NAME: how many addresses, the status, and what is wrong
  local said code=0
  said=$(adnshost --config 'nameserver 127.0.0.1' -t a "$1.c.example" 2>&1) || code=$?
  echo "$(grep -c ' A [0-9]' <<< "$said" || true) addresses, status $code$(sed -n 's/^Error.*: /, /p' <<< "$said")"
}
udns() {
  local said code=0
  said=$(dnsget -t a -n 127.0.0.1 "$1.c.example" 2>&1) || code=$?
  echo "$(grep -c ' A [0-9]' <<< "$said" || true) addresses, status $code$(sed -n 's/^dnsget.*: /, /p' <<< "$said")"
}
status=0
expect() { # WHAT SAID EXPECTED
  echo "$1: $2"
  [ "$2" = "$3" ] || { echo "  changed: it was $3"; status=1; }
}
expect 'adns, one alias' "$(adns one)" '1 addresses, status 0'
expect 'adns, two' "$(adns two)" '0 addresses, status 4, DNS alias found where canonical name wanted'
expect 'adns, three' "$(adns three)" '0 addresses, status 4, DNS alias found where canonical name wanted'
expect 'adns, 90 addresses' "$(adns many)" '90 addresses, status 0'
expect 'udns, one alias' "$(udns one)" '1 addresses, status 0'
expect 'udns, two' "$(udns two)" '1 addresses, status 0'
expect 'udns, three' "$(udns three)" '1 addresses, status 0'
expect 'udns, 90 addresses' "$(udns many)" '0 addresses, status 1, temporary failure in name resolution'
expect 'dig, 90 addresses' "$(dig @127.0.0.1 +short many.c.example A | grep -c '^198')" 90
exit $status
