#!/usr/bin/env bash
# What ExaBGP makes of a route whose family the session with its neighbor does not have.
#
# Versions: exabgp 4.2.21 and bird2 2.0.12 of Debian 12.
# Seen: `announce route 2001:db8:53::/48 ...` to a neighbor with `family { ipv4 unicast; }` is answered "done", and the log says
# "route added to neighbor", as for an IPv4 route. Nothing is sent. That the family is not configured is in the log at the level DEBUG
# alone. The same goes for an IPv4 route where the neighbor has `ipv6 unicast` alone.
# An engineer would have guessed: "done" is what was done, and a route that no neighbor can be told of is an error. A
# program that announces two addresses, one of each family, takes both for announced.
set -euo pipefail
needs=(exabgp bird2)
dpkg -s "${needs[@]}" >/dev/null 2>&1 || apt-get install -y -qq --no-install-recommends "${needs[@]}" >/dev/null
folder=$(mktemp -d)
started=()
trap 'kill "${started[@]}" 2>/dev/null || true; wait; rm -rf "$folder"' EXIT
cd "$folder"
PATH=$PATH:/usr/sbin
dpkg-query -W -f '${Package} ${Version}\n' exabgp bird2
port() { /usr/bin/python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.2", 0)); print(s.getsockname()[1])'; }

cat > say.py <<'PYTHON'
# FILE: has ExaBGP announce a route of each family, and writes what it answers into the file.
import os, sys
answers = []
for route in ('192.0.2.0/24 next-hop 127.0.0.3', '2001:db8:53::/48 next-hop 2001:db8::1'):
    print(f'announce route {route}', flush=True)
    answers.append(f'{route.split()[0]}: {sys.stdin.readline().strip()}')
with open(f'{sys.argv[1]}.new', 'w') as file:
    print('\n'.join(answers), file=file)
os.rename(f'{sys.argv[1]}.new', sys.argv[1])
sys.stdin.read()
PYTHON
status=0
expect() { # FAMILY ROUTE: only this one is sent where the session has this family alone
  local at=$folder/$1 number said
  number=$(port)
  mkdir "$at"
  cat > "$at/bird.conf" <<END
log "$at/bird.log" all;
router id 10.0.0.1;
protocol device {}
protocol bgp node {
  local 127.0.0.2 port $number as 65000;
  neighbor 127.0.0.3 as 65001;
  multihop; passive; strict bind yes;
  ipv4 { import all; export none; };
  ipv6 { import all; export none; };
}
END
  cat > "$at/exabgp.conf" <<END
process say { run /usr/bin/python3 $folder/say.py $at/answers; encoder text; }
neighbor 127.0.0.2 {
  router-id 10.0.1.2; local-address 127.0.0.3; local-as 65001; peer-as 65000; hold-time 9;
  family { $1 unicast; }
  api { processes [ say ]; }
}
END
  bird -f -c "$at/bird.conf" -s "$at/bird.ctl" -P "$at/bird.pid" & started+=($!)
  env exabgp.tcp.port="$number" exabgp.daemon.user="$(id -un)" exabgp.api.cli=false exabgp.api.ack=true \
    exabgp.log.destination=stdout exabgp "$at/exabgp.conf" > "$at/exabgp.log" 2>&1 & started+=($!)
  routes() { birdc -s "$at/bird.ctl" show route 2> /dev/null | grep -o '^[0-9a-f.:]*/[0-9]*' | tr '\n' ' '; }
  for _ in $(seq 300); do [ -f "$at/answers" ] && [ -n "$(routes)" ] && break; sleep 0.1; done
  sleep 2
  said=$(routes)
  echo "family $1 unicast: ExaBGP answers $(tr '\n' ' ' < "$at/answers"); the router has $said"
  echo "  the log: $(grep -c 'route added to neighbor' "$at/exabgp.log") routes added"
  [ "$said" = "$2 " ] && [ "$(grep -c ': done$' "$at/answers")" = 2 ] &&
    [ "$(grep -c 'route added to neighbor' "$at/exabgp.log")" = 2 ] || { echo "  changed"; status=1; }
}
expect ipv4 192.0.2.0/24
expect ipv6 2001:db8:53::/48
exit "$status"
