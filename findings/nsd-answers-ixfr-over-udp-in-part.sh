#!/usr/bin/env bash
# What nsd answers to an IXFR over UDP, and what its own secondary, which may ask so, makes of it.
#
# Versions: nsd 4.6.1 (also as the secondary, with `request-xfr: UDP`), bind9-dnsutils 9.18.49, of Debian 12.
# Seen: nsd without `store-ixfr` answers with as much of the zone as the message holds, from its SOA record on, without TC: 8
# records here of 23. dig takes that for an answer. nsd as the secondary calls it a `bad transfer`, and has the zone after the third
# one, at least two `retry` times later, by AXFR; over TCP it has it at once. With `store-ixfr: yes` it has it at once over UDP, too.
# An engineer would have guessed: RFC 1995 section 2 has a reply that does not fit be one SOA record, whereupon the client asks over TCP.
set -euo pipefail
needs=(nsd bind9-dnsutils python3)
dpkg -s "${needs[@]}" >/dev/null 2>&1 || apt-get install -y -qq --no-install-recommends "${needs[@]}" >/dev/null
folder=$(mktemp -d)
started=()
trap 'kill "${started[@]}" 2>/dev/null || true; wait; rm -rf "$folder"' EXIT
cd "$folder"
PATH=$PATH:/usr/sbin
dpkg-query -W "${needs[@]:0:2}"
free='import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])'
port() { /usr/bin/python3 -c "$free"; }
text=$(printf 'x%.0s' $(seq 200))
write() { # NAME SERIAL: the zone of 23 records with this serial; its retry is 6 seconds
  {
    printf '$TTL 60\n@ SOA ns hostmaster %s 3600 6 86400 60\n@ NS ns\nns A 192.0.2.1\n' "$2"
    for index in $(seq 20); do echo "t$index TXT \"$text\""; done
  } > "$1.zone"
}
configure() { # NAME PORT LINES-OF-THE-ZONE
  mkdir "$1"
  cat > "$1.conf" <<CONF
server:
  ip-address: 127.0.0.1@$2
  username: ""
  database: ""
  pidfile: ""
  zonesdir: $folder
  xfrdfile: $folder/$1/xfrd
  xfrdir: $folder/$1
  zonelistfile: $folder/$1/zones
  verbosity: 2
remote-control:
  control-enable: yes
  control-interface: $folder/$1/control
zone:
  name: c.example
  zonefile: $1.zone
CONF
  printf '  %s\n' "${@:3}" >> "$1.conf"
}
primary=$(port) keeps=$(port) byudp=$(port) bytcp=$(port) kept=$(port)
write primary 10
write keeps 10
configure primary "$primary" 'provide-xfr: 127.0.0.0/8 NOKEY' "notify: 127.0.0.1@$byudp NOKEY" "notify: 127.0.0.1@$bytcp NOKEY"
configure keeps "$keeps" 'provide-xfr: 127.0.0.0/8 NOKEY' "notify: 127.0.0.1@$kept NOKEY" 'store-ixfr: yes' 'create-ixfr: yes'
configure byudp "$byudp" "request-xfr: UDP 127.0.0.1@$primary NOKEY" 'allow-notify: 127.0.0.0/8 NOKEY'
configure bytcp "$bytcp" "request-xfr: 127.0.0.1@$primary NOKEY" 'allow-notify: 127.0.0.0/8 NOKEY'
configure kept "$kept" "request-xfr: UDP 127.0.0.1@$keeps NOKEY" 'allow-notify: 127.0.0.0/8 NOKEY'
for each in primary keeps byudp bytcp kept; do nsd -d -c $each.conf > $each.log 2>&1 & started+=($!); done
serial() { dig @127.0.0.1 -p "$1" +tries=1 +time=1 +short c.example SOA 2>/dev/null | awk '{print $3}'; }
wait_for() { # PORT SERIAL SECONDS: says yes or no
  for _ in $(seq $(($3 * 5))); do [ "$(serial "$1")" = "$2" ] && { echo yes; return; }; sleep 0.2; done
  echo no
}
status=0
expect() { # WHAT SAID EXPECTED
  echo "$1: $2"
  [ "$2" = "$3" ] || { echo "  changed: it was $3"; status=1; }
}
for each in $byudp $bytcp $kept; do expect 'has the first serial' "$(wait_for "$each" 10 60)" yes; done
dig @127.0.0.1 -p "$primary" +nocookie +notcp +tries=1 +time=2 c.example IXFR=9 > answer
expect 'records of 23, over UDP, from serial 9' "$(grep -c '^[a-z]' answer)" 8
expect 'the last of them is a' "$(grep '^[a-z]' answer | tail -1 | awk '{print $4}')" TXT
write primary 11
write keeps 11
for each in primary keeps; do nsd-control -c $each.conf -s "$folder/$each/control" reload c.example > /dev/null; done
expect 'the next serial within 5 s, over TCP' "$(wait_for "$bytcp" 11 5)" yes
expect 'the next serial within 5 s, over UDP, with store-ixfr' "$(wait_for "$kept" 11 5)" yes
expect 'the next serial now, over UDP' "$([ "$(serial "$byudp")" = 11 ] && echo yes || echo no)" no
expect 'the next serial within 60 s more, over UDP' "$(wait_for "$byudp" 11 60)" yes
expect 'bad transfers before' "$(grep -c 'bad transfer' byudp.log)" 3
exit $status
