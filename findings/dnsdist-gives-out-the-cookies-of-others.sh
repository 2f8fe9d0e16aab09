#!/usr/bin/env bash
# What clients that send DNS cookies get from dnsdist with a packet cache, in front of a server that has cookies.
#
# Versions: dnsdist 1.7.3, bind9 (the server, and a resolver behind) and bind9-dnsutils 9.18.49 of Debian 12.
# Seen, with `newPacketCache(1000)` and nothing else said of cookies:
# - The second client gets the records with the cookie of the first: dig says `Client COOKIE mismatch` and shows the answer.
# - named as a resolver takes that for a forgery (`bad cookie from`), drops the datagram and waits for another one: each question that the cache
#   has from somebody else is answered after a second or more, over and over. Its clients see slow names, and the server nothing.
# With `newPacketCache(1000, {cookieHashing=true})` each cookie is a question of its own: no mismatch, and nothing slow.
# An engineer would have guessed: a cache in front of servers keeps the records, and the options of EDNS are between two neighbours (RFC 6891 section 6.2.6).
# Its makers know: https://github.com/PowerDNS/pdns/issues/10618.
set -euo pipefail
needs=(dnsdist bind9 bind9-dnsutils python3)
dpkg -s "${needs[@]}" >/dev/null 2>&1 || apt-get install -y -qq --no-install-recommends "${needs[@]}" >/dev/null
folder=$(mktemp -d)
started=()
trap 'kill "${started[@]}" 2>/dev/null || true; wait; rm -rf "$folder"' EXIT
cd "$folder"
PATH=$PATH:/usr/sbin
dpkg-query -W dnsdist bind9
port() { /usr/bin/python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])'; }
printf 'c.example. 300 IN %s\n' 'SOA ns1.c.example. host.c.example. 1 3600 600 86400 300' 'NS ns1.c.example.' > zone
printf '%s.c.example. 300 IN A 192.0.2.1\n' ns1 www > part; cat part >> zone
named_with() { # NAME PORT LINES
  mkdir "$1"
  cat > "$1.conf" <<CONF
options {
  directory "$folder/$1"; pid-file none; session-keyfile "$folder/$1/session.key";
  listen-on port $2 { 127.0.0.1; }; listen-on-v6 { none; };
  dnssec-validation no; $3
};
controls { };
${4:-}
CONF
  named -g -c "$1.conf" > "log.$1" 2>&1 & started+=($!)
}
dist() { # NAME PORT CACHE
  cat > "$1.conf" <<CONF
setLocal('127.0.0.1:$2')
setSecurityPollSuffix('')
setACL({'127.0.0.0/8'})
newServer({address='127.0.0.1:$server', healthCheckMode='up'})
getPool(''):setCache($3)
CONF
  dnsdist --supervised --disable-syslog -C "$1.conf" > "log.$1" 2>&1 & started+=($!)
}
wait_for() { # PORT
  for _ in $(seq 100); do dig @127.0.0.1 -p "$1" +nocookie +short +tries=1 +time=1 ns1.c.example A 2> /dev/null | grep -q 192.0.2.1 && return; sleep 0.1; done
}
server=$(port); named_with server "$server" 'recursion no;' "zone \"c.example\" { type primary; file \"$folder/zone\"; };"
wait_for "$server"
status=0
expect() { # WHAT SAID EXPECTED
  echo "$1: $2"
  [ "$2" = "$3" ] || { echo "  changed: it was $3"; status=1; }
}
for row in 'plain newPacketCache(1000)' 'hashing newPacketCache(1000,{cookieHashing=true})'; do
  read -r name cache <<< "$row"
  front=$(port); dist "$name" "$front" "$cache"; wait_for "$front"
  seen=$(for _ in 1 2; do dig @127.0.0.1 -p "$front" +tries=1 www.c.example A | sed -n 's/.*COOKIE: .*(\(.*\)).*/\1/p'; done | paste -sd ' ')
  for resolver in first second; do
    own=$(port)
    named_with "$name-$resolver" "$own" "recursion yes; qname-minimization off; forward only; forwarders { 127.0.0.1 port $front; };"
    wait_for "$own"
    dig @127.0.0.1 -p "$own" +tries=1 +time=15 www.c.example A > "answer.$resolver"
  done
  slow=$(sed -n 's/.*Query time: \([0-9]*\) msec/\1/p' answer.second)
  got=$(grep -c '192.0.2.1$' answer.second || true)
  dropped=$(grep -q 'bad cookie from' "log.$name-second" && echo 'drops a forgery' || echo 'drops nothing')
  [ "$slow" -ge 900 ] && slow='a second or more' || slow='less'
  if [ "$name" = plain ]; then
    expect 'cookies that dig gets' "$seen" 'good bad'
    expect 'a second resolver' "$dropped, $got address, $slow" 'drops a forgery, 1 address, a second or more'
  else
    expect 'cookies that dig gets, cookieHashing=true' "$seen" 'good good'
    expect 'a second resolver' "$dropped, $got address, $slow" 'drops nothing, 1 address, less'
  fi
done
exit $status
