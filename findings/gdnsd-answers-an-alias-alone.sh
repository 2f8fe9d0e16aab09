#!/usr/bin/env bash
# What gdnsd answers for an alias whose target is in the same zone, and what forwarders make of that.
#
# Versions: gdnsd 3.8.1, nsd 4.6.1 beside it with the same zone, dnsmasq 2.90, unbound 1.17.1 (`forward-zone`) and knot-resolver 5.6.0 (`policy.STUB`)
# of Debian 12.
# Seen: `cn` is an alias of `www`. NSD answers the CNAME and the address, gdnsd the CNAME alone. Clients of dnsmasq and of Knot Resolver, which
# forward the zone to gdnsd, get the alias without an address, so that the name does not resolve for them, and it does behind NSD. unbound asks for the target, too.
# The zone file is taken without a warning.
# An engineer would have guessed: RFC 1034 section 4.3.2, step 3 a, goes on with the target where the server has it, as other authoritative servers do.
# Its makers mean it so: https://github.com/gdnsd/gdnsd/issues/240.
set -euo pipefail
needs=(gdnsd nsd dnsmasq-base unbound knot-resolver bind9-dnsutils python3)
dpkg -s "${needs[@]}" >/dev/null 2>&1 || apt-get install -y -qq --no-install-recommends "${needs[@]}" >/dev/null
folder=$(mktemp -d)
started=()
trap 'kill "${started[@]}" 2>/dev/null || true; wait; rm -rf "$folder"' EXIT
cd "$folder"
PATH=$PATH:/usr/sbin
dpkg-query -W gdnsd nsd dnsmasq-base unbound knot-resolver
port() { /usr/bin/python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])'; }
mkdir -p etc/zones run state nsd
printf 'c.example. 300 IN %s\n' 'SOA ns1.c.example. host.c.example. 1 3600 600 86400 300' 'NS ns1.c.example.' > zone
printf '%s.c.example. 300 IN A 192.0.2.1\n' ns1 www > part; cat part >> zone
echo 'cn.c.example. 300 IN CNAME www.c.example.' >> zone
cp zone etc/zones/c.example
gdnsd=$(port)
echo "options => { listen => 127.0.0.1:$gdnsd, run_dir => $folder/run, state_dir => $folder/state }" > etc/config
gdnsd -c etc start > log.gdnsd 2>&1 & started+=($!)
nsd=$(port)
cat > nsd.conf <<CONF
server:
  ip-address: 127.0.0.1@$nsd
  username: ""
  chroot: ""
  zonesdir: "$folder"
  pidfile: "$folder/nsd/pid"
  xfrdfile: "$folder/nsd/xfrd"
  zonelistfile: "$folder/nsd/zones"
  xfrdir: "$folder/nsd"
  server-count: 1
  database: ""
remote-control:
  control-enable: no
zone:
  name: c.example
  zonefile: zone
CONF
nsd -d -c nsd.conf > log.nsd 2>&1 & started+=($!)
wait_for() { # PORT
  for _ in $(seq 100); do dig @127.0.0.1 -p "$1" +short +tries=1 +time=1 www.c.example A 2> /dev/null | grep -q 192.0.2.1 && return; sleep 0.1; done
}
wait_for "$gdnsd"; wait_for "$nsd"
behind_dnsmasq() { # PORT SERVER
  dnsmasq --no-daemon --conf-file=/dev/null --no-resolv --no-hosts --port="$1" --listen-address=127.0.0.1 --bind-interfaces \
    --server="/c.example/127.0.0.1#$2" --user= --pid-file= > "log.$1" 2>&1 & started+=($!)
}
behind_unbound() {
  cat > "$1.conf" <<CONF
server:
  interface: 127.0.0.1
  port: $1
  username: ""
  chroot: ""
  directory: "$folder"
  pidfile: ""
  use-syslog: no
  do-daemonize: no
  do-not-query-localhost: no
  module-config: "iterator"
remote-control:
  control-enable: no
forward-zone:
  name: c.example
  forward-addr: 127.0.0.1@$2
CONF
  unbound -d -c "$1.conf" > "log.$1" 2>&1 & started+=($!)
}
behind_kresd() {
  mkdir "kresd.$1"
  cat > "$1.conf" <<CONF
net.listen('127.0.0.1', $1, { kind = 'dns' })
cache.size = 10 * MB
policy.add(policy.suffix(policy.STUB('127.0.0.1@$2'), {todname('c.example')}))
CONF
  kresd -n -c "$folder/$1.conf" "$folder/kresd.$1" > "log.$1" 2>&1 & started+=($!)
}
status=0
expect() { # WHAT SAID EXPECTED
  echo "$1: $2"
  [ "$2" = "$3" ] || { echo "  changed: it was $3"; status=1; }
}
answer() { dig @127.0.0.1 -p "$1" +noall +answer +tries=2 +time=3 cn.c.example A | awk '{print $4}' | paste -sd ' '; }
expect NSD "$(answer "$nsd")" 'CNAME A'
expect gdnsd "$(answer "$gdnsd")" CNAME
for row in 'dnsmasq CNAME' 'kresd CNAME' 'unbound CNAME A'; do
  read -r program said <<< "$row"
  for server in nsd gdnsd; do
    own=$(port); "behind_$program" "$own" "${!server}"; wait_for "$own"
    [ "$server" = nsd ] && want='CNAME A' || want=$said
    expect "$program, which asks $server" "$(answer "$own")" "$want"
  done
done
exit $status
