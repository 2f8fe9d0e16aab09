#!/usr/bin/env bash
# How often yadifad, as a secondary that has nothing yet, asks its primary for the zone at its start.
#
# Versions: yadifa 2.6.4 and bind9 9.18.49 of Debian 12. (From knotd it never gets a zone: `yadifad-refuses-transfers-of-knot.sh`.)
# Seen: most starts serve the zone within a second. Two of eight on a busy machine say `slave zone requires download
# from the master` and then open no connection: 20 s later there is no zone, and nothing is logged.
# An engineer would have guessed: a secondary without data asks until it has the zone.
set -euo pipefail
needs=(yadifa bind9 knot-dnsutils python3)
dpkg -s "${needs[@]}" >/dev/null 2>&1 || apt-get install -y -qq --no-install-recommends "${needs[@]}" >/dev/null
folder=$(mktemp -d)
primary=
secondary=
trap 'kill $secondary $primary 2>/dev/null || true; wait; rm -rf "$folder"' EXIT
cd "$folder"
PATH=$PATH:/usr/sbin
named -v; yadifad --version | head -1
free='import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])'
port() { /usr/bin/python3 -c "$free"; }
from=$(port)

printf '$TTL 60\n@ SOA ns. h. 1 3600 600 86400 60\n@ NS ns.\n' > zone
cat > named.conf <<END
options {
  directory "$folder"; listen-on port $from { 127.0.0.1; }; listen-on-v6 { none; };
  pid-file none; session-keyfile none; recursion no; allow-transfer { any; };
};
controls {};
zone "example.org" { type primary; file "zone"; };
END
named -g -c named.conf > named.log 2>&1 & primary=$!
has_zone() { kdig +tcp +short +retry=0 +timeout=1 @127.0.0.1 -p "$1" example.org SOA 2>/dev/null | grep -q '^ns\.'; }
for _ in $(seq 50); do has_zone "$from" && break; sleep 0.2; done
has_zone "$from"

begin() { # NUMBER: a start with an empty folder
  mkdir "$1"
  to=$(port)
  cat > "$1/conf" <<END
<main>
  daemon off
  chroot off
  logpath "$folder/$1"
  pidfile "$folder/$1/pid"
  datapath "$folder/$1"
  keyspath "$folder/$1"
  xfrpath "$folder/$1"
  user $(id -u)
  group $(id -g)
  port $to
  listen 127.0.0.1
  allow-query any
  allow-notify any
</main>
<rrl>
  enabled false
</rrl>
<zone>
  domain example.org
  file zone
  type secondary
  primary 127.0.0.1 port $from
</zone>
END
  yadifad -c "$1/conf" > "$1/log" 2>&1 & secondary=$!
}
is_served_within() { # SECONDS
  for _ in $(seq $((5 * $1))); do
    has_zone "$to" && return
    sleep 0.2
  done
  return 1
}

served=0 forgotten=0
for number in $(seq 40); do
  begin "$number"
  if is_served_within 20; then served=$((served + 1)); else
    forgotten=$((forgotten + 1))
    ! grep -q 'query error' "$number/log"
  fi
  kill "$secondary"; wait "$secondary" || true
  [ "$served" = 0 ] || [ "$forgotten" = 0 ] || break
done
echo "$served starts with the zone, $forgotten without it after 20 s"
[ "$served" -gt 0 ] && [ "$forgotten" -gt 0 ]
