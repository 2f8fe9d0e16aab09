#!/usr/bin/env bash
# Which names of its own zone pdns_server does not answer.
#
# Versions: pdns-server and pdns-backend-bind 4.7.3 of Debian 12.
# Seen: it loads the zone without a word, then
# - answers SERVFAIL to names with other octets than letters, digits, space and - _ * . / @ : \, also where
#   a wildcard has them: so all names with raw UTF-8, quotes, & or $.
# - answers NXDOMAIN below a DNAME, until `dname-processing=yes`.
# An engineer would have guessed: what is loaded is answered.
set -euo pipefail
needs=(pdns-server pdns-backend-bind bind9-dnsutils python3)
dpkg -s "${needs[@]}" >/dev/null 2>&1 || apt-get install -y -qq --no-install-recommends "${needs[@]}" >/dev/null
folder=$(mktemp -d)
started=()
trap 'kill "${started[@]}" 2>/dev/null || true; wait; rm -rf "$folder"' EXIT
cd "$folder"
PATH=$PATH:/usr/sbin
pdns_server --version 2>&1 | sed -n '1s|.*PowerDNS A|PowerDNS A|p' || true
free='import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])'
port() { /usr/bin/python3 -c "$free"; }
plain=$(port) follows=$(port)

names=(a\\032b a\\.b a@b a/b a:b a_b a\*b -a a\\092b)
silent=(a\\000b a\\009b a\\034b a\\036b a\\037b a\\038b a\\039b a\\040b a\\044b a\\059b a\\124b a\\195\\164b)
{
  printf '$TTL 60\n@ SOA ns h 1 3600 600 86400 60\n@ NS ns\nns A 192.0.2.250\n'
  for name in "${names[@]}" "${silent[@]}"; do echo "$name A 192.0.2.1"; done
  printf '*.any A 192.0.2.1\nold DNAME new\nx.new A 192.0.2.1\n'
} > zone
echo "zone \"odd.example\" { type native; file \"$folder/zone\"; };" > named.conf
for each in "plain $plain no" "follows $follows yes"; do
  read -r name its follow <<< "$each"
  mkdir "$name"
  printf '%s\n' launch=bind "bind-config=$folder/named.conf" local-address=127.0.0.1 "local-port=$its" \
    "dname-processing=$follow" "socket-dir=$folder/$name" write-pid=no disable-syslog=yes \
    security-poll-suffix= > "$name/pdns.conf"
  pdns_server --config-dir="$folder/$name" --daemon=no --guardian=no > "$name/log" 2>&1 & started+=($!)
done

ask() { # PORT NAME
  dig @127.0.0.1 -p "$1" +tries=1 +time=2 -q "$2.odd.example" A | sed -n 's/.*status: \([A-Z]*\),.*/\1/p'
}
status=0
expect() { # PORT NAME RCODE
  local said; said=$(ask "$1" "$2")
  echo "$2: $said"
  [ "$said" = "$3" ] || { echo '  changed'; status=1; }
}
for each in "$plain" "$follows"; do
  for _ in $(seq 100); do [ "$(ask "$each" ns)" = NOERROR ] && break; sleep 0.2; done
done
for name in "${names[@]}" a.any; do expect "$plain" "$name" NOERROR; done
for name in "${silent[@]}" 'a\036b.any'; do expect "$plain" "$name" SERVFAIL; done
expect "$plain" x.old NXDOMAIN
echo 'with dname-processing=yes:'
expect "$follows" x.old NOERROR
exit "$status"
