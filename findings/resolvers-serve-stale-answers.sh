#!/usr/bin/env bash
# What resolvers that may serve stale answers say of an expired one: while its servers answer, and afterwards.
#
# Versions: unbound 1.17.1, bind9 9.18.49, pdns-recursor 4.8.8 and knot-resolver 5.6.0 of Debian 12.
# Seen:
# - The servers answer: unbound with `serve-expired: yes` gives the expired answer all the same, and asks
#   afterwards; with `serve-expired-client-timeout: 1800`, and in the others, clients have the new one.
# - The servers are away: all give the expired address and the expired NODATA; unbound, the recursor
#   and Knot Resolver the expired NXDOMAIN, too, for which named says SERVFAIL.
# An engineer would have guessed: an expired answer is given only where no new one can be had, and named does
# with NXDOMAIN what it does with NODATA.
set -euo pipefail
needs=(unbound bind9 pdns-recursor knot-resolver bind9-dnsutils python3-dnspython)
dpkg -s "${needs[@]}" >/dev/null 2>&1 || apt-get install -y -qq --no-install-recommends "${needs[@]}" >/dev/null
folder=$(mktemp -d)
started=()
trap 'kill "${started[@]}" 2>/dev/null || true; wait; rm -rf "$folder"' EXIT
cd "$folder"
PATH=$PATH:/usr/sbin
unbound -V | sed -n 1p; named -v; pdns_recursor --version 2>&1 | sed -n 1p; kresd --version
free='import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])'
port() { /usr/bin/python3 -c "$free"; }
upstream=$(port) unbound=$(port) patient=$(port) named=$(port) recursor=$(port) kresd=$(port)

cat > upstream.py <<'PYTHON'
# Authoritative for example.test, everything with the TTL 1: `has` has an address, `turn` another one each
# second, `none` has other types, `no` is no name.
import socket, sys, time
import dns.flags, dns.message, dns.rcode, dns.rdatatype, dns.rrset
server = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
server.bind(('127.0.0.1', int(sys.argv[1])))
soa = dns.rrset.from_text('example.test.', 1, 'IN', 'SOA', 'ns.example.test. h.example.test. 1 3600 600 86400 1')
while True:
    wire, client = server.recvfrom(65535)
    query = dns.message.from_wire(wire)
    reply = dns.message.make_response(query)
    reply.flags |= dns.flags.AA
    name, kind = query.question[0].name, query.question[0].rdtype
    label = name.to_text().lower().split('.')[0]
    if label == 'example' and kind == dns.rdatatype.SOA: reply.answer.append(soa)
    elif label in ('has', 'turn') and kind == dns.rdatatype.A:
        address = '192.0.2.1' if label == 'has' else f'198.51.100.{int(time.time()) % 250}'
        reply.answer.append(dns.rrset.from_text(name, 1, 'IN', 'A', address))
    else:
        reply.authority.append(soa)
        if label == 'no': reply.set_rcode(dns.rcode.NXDOMAIN)
    server.sendto(reply.to_wire(), client)
PYTHON
/usr/bin/python3 upstream.py "$upstream" & started+=($!)
away=$!

mkdir unbound patient recursor kresd named
unbound() { # DIRECTORY PORT CLIENT-TIMEOUT
  cat > "$1/conf" <<END
server:
  directory: "$folder/$1"
  chroot: ""
  username: ""
  pidfile: ""
  use-syslog: no
  do-daemonize: no
  interface: 127.0.0.1@$2
  do-not-query-localhost: no
  module-config: "iterator"
  local-zone: "test." nodefault
  serve-expired: yes
  serve-expired-client-timeout: $3
stub-zone:
  name: "example.test"
  stub-addr: 127.0.0.1@$upstream
remote-control:
  control-enable: no
END
  command unbound -d -c "$1/conf" > "$1/log" 2>&1 & started+=($!)
}
unbound unbound "$unbound" 0
unbound patient "$patient" 1800
cat > named.conf <<END
options {
  directory "$folder/named"; pid-file none; session-keyfile none; dnssec-validation no;
  listen-on port $named { 127.0.0.1; }; listen-on-v6 { none; };
  stale-cache-enable yes; stale-answer-enable yes;
};
controls { };
zone "example.test" { type forward; forward only; forwarders { 127.0.0.1 port $upstream; }; };
END
named -f -g -c named.conf > named/log 2>&1 & started+=($!)
cat > recursor/recursor.conf <<END
local-address=127.0.0.1:$recursor
hint-file=no
forward-zones=example.test=127.0.0.1:$upstream
socket-dir=$folder/recursor
write-pid=no
daemon=no
disable-syslog=yes
security-poll-suffix=
dnssec=off
serve-stale-extensions=100
END
pdns_recursor --config-dir="$folder/recursor" > recursor/log 2>&1 & started+=($!)
cat > kresd/conf <<END
net.listen('127.0.0.1', $kresd, { kind = 'dns' })
cache.size = 10 * MB
cache.min_ttl(1)
trust_anchors.remove('.')
modules = { 'policy', 'hints', 'serve_stale < cache' }
modules.unload('priming')
hints.root({ ['root.test.'] = '127.0.0.1' })
policy.add(policy.suffix(policy.STUB('127.0.0.1@$upstream'), policy.todnames({ 'example.test.' })))
END
kresd -n -c "$folder/kresd/conf" "$folder/kresd" > kresd/log 2>&1 & started+=($!)

ask() { # PORT NAME
  dig @127.0.0.1 -p "$1" +tries=1 +time="${3:-12}" "$2.example.test" A |
    sed -n 's/.*status: \([A-Z]*\),.*/\1/p; s/.*IN\tA\t//p' | tr '\n' ' '
}
ports=("unbound $unbound" "patient $patient" "named $named" "recursor $recursor" "kresd $kresd")
for each in "${ports[@]}"; do
  for _ in $(seq 100); do [ -n "$(ask "${each#* }" first 1)" ] && break; sleep 0.3; done
done
status=0
expect() { # WHEN RESOLVER PORT NAME SAID
  local said; said=$(ask "$3" "$4")
  echo "$1: $2, $4: $said"
  [[ $said = $5 ]] || { echo '  changed'; status=1; }
}
for each in "${ports[@]}"; do
  read -r name its <<< "$each"
  expect fresh "$name" "$its" has 'NOERROR 192.0.2.1 '
  expect fresh "$name" "$its" none 'NOERROR '
  expect fresh "$name" "$its" no 'NXDOMAIN '
  ask "$its" turn > "$name.turn"
done
sleep 3
for each in "${ports[@]}"; do
  read -r name its <<< "$each"
  old=$(cat "$name.turn"); new=$(ask "$its" turn)
  echo "expired, its server answers: $name: $old, then $new"
  kept=$([ "$old" = "$new" ] && echo yes || echo no)
  [ "$kept" = "$([ "$name" = unbound ] && echo yes || echo no)" ] || { echo '  changed'; status=1; }
done
kill "$away"
sleep 3
for each in "${ports[@]}"; do
  read -r name its <<< "$each"
  expect stale "$name" "$its" has 'NOERROR 192.0.2.1 '
  expect stale "$name" "$its" none 'NOERROR '
  expect stale "$name" "$its" no "$([ "$name" = named ] && echo SERVFAIL || echo NXDOMAIN) "
done
exit "$status"
