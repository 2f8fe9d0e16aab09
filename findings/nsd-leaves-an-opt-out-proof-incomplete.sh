#!/usr/bin/env bash
# Whether validators resolve an unsigned zone two labels below a zone with NSEC3 and Opt-Out that nsd serves.
#
# Versions: nsd 4.6.1, knot 3.2.6, bind9-utils 9.18.49 (dnssec-signzone -A), unbound 1.17.1 and pdns-recursor 4.8.8 of Debian 12.
# Seen: c.example delegates child.ent.c.example without DS; nothing else is at or below ent. Asked for the DS of ent, knotd proves with two
# NSEC3 records that there is none, nsd answers with one, that of c.example. unbound and the Recursor then have SERVFAIL for the DS of ent,
# and for www.child.ent.c.example, which has no DNSSEC at all. Behind knotd, with the same file, both are answered, and
# www.plain.c.example, below a delegation of one label, behind both.
# An engineer would have guessed: a server that loads the zone has the proof of RFC 5155 section 7.2.4 for all of its names.
# Makers know: https://github.com/NLnetLabs/nsd/issues/510.
set -euo pipefail
needs=(nsd knot bind9-utils bind9-dnsutils unbound pdns-recursor python3)
dpkg -s "${needs[@]}" >/dev/null 2>&1 || apt-get install -y -qq --no-install-recommends "${needs[@]}" >/dev/null
folder=$(mktemp -d)
started=()
trap 'kill "${started[@]}" 2>/dev/null || true; wait; rm -rf "$folder"' EXIT
cd "$folder"
PATH=$PATH:/usr/sbin
dpkg-query -W "${needs[@]}"
free='import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])'
port() { /usr/bin/python3 -c "$free"; }
cat > zone <<'ZONE'
$TTL 60
@ SOA ns hostmaster 1 3600 600 86400 60
@ NS ns
ns A 127.0.0.1
child.ent NS ns.child.ent
ns.child.ent A 127.0.0.1
plain NS ns.plain
ns.plain A 127.0.0.1
ZONE
printf '%s\n' '$TTL 60' '@ SOA ns hostmaster 1 3600 600 86400 60' '@ NS ns' 'ns A 127.0.0.1' 'www A 192.0.2.9' > child
for each in '-f KSK' ''; do dnssec-keygen -q -a ECDSAP256SHA256 $each c.example > /dev/null; done
dnssec-signzone -S -3 - -A -o c.example -f signed zone > /dev/null 2>&1
anchor=$(dnssec-dsfromkey -2 "$(grep -l '257 3' K*.key)")
mkdir nsd-state knot-state
zones=(c.example=signed child.ent.c.example=child plain.c.example=child)
nsd=$(port) knot=$(port)
cat > nsd.conf <<CONF
server:
  ip-address: 127.0.0.1@$nsd
  username: ""
  database: ""
  pidfile: ""
  zonesdir: $folder
  xfrdfile: $folder/nsd-state/xfrd
  xfrdir: $folder/nsd-state
  zonelistfile: $folder/nsd-state/zones
remote-control:
  control-enable: no
CONF
printf '%s\n' server: "  listen: 127.0.0.1@$knot" "  rundir: $folder/knot-state" database: "  storage: $folder/knot-state" zone: > knot.conf
for each in "${zones[@]}"; do
  printf '%s\n' zone: "  name: ${each%=*}" "  zonefile: ${each#*=}" >> nsd.conf
  printf '%s\n' "  - domain: ${each%=*}" "    file: $folder/${each#*=}" >> knot.conf
done
nsd -d -c nsd.conf > nsd.log 2>&1 & started+=($!)
knotd -c knot.conf > knot.log 2>&1 & started+=($!)
resolve() { # NAME PORT-OF-THE-SERVERS: starts unbound and the Recursor in front of them
  local name=$1 server=$2 unbound recursor each
  unbound=$(port) recursor=$(port)
  mkdir "$name"
  cat > "$name/unbound.conf" <<CONF
server:
  interface: 127.0.0.1@$unbound
  username: ""
  chroot: ""
  directory: "$folder/$name"
  pidfile: ""
  use-syslog: no
  do-ip6: no
  do-not-query-localhost: no
  trust-anchor: "$anchor"
  module-config: "validator iterator"
remote-control:
  control-enable: no
CONF
  for each in "${zones[@]}"; do
    printf '%s\n' stub-zone: "  name: ${each%=*}" "  stub-addr: 127.0.0.1@$server" >> "$name/unbound.conf"
  done
  echo "addTA('c.example', '${anchor#*DS }')" > "$name/anchor.lua"
  printf '%s\n' "forward-zones=$(for each in "${zones[@]}"; do printf '%s=127.0.0.1:%s,' "${each%=*}" "$server"; done | sed 's/,$//')" \
    local-address=127.0.0.1 "local-port=$recursor" threads=1 dnssec=validate "lua-config-file=$folder/$name/anchor.lua" \
    "socket-dir=$folder/$name" write-pid=no disable-syslog=yes security-poll-suffix= dont-query= > "$name/recursor.conf"
  unbound -d -p -c "$name/unbound.conf" > "$name/unbound.log" 2>&1 & started+=($!)
  pdns_recursor --config-dir="$folder/$name" --daemon=no > "$name/recursor.log" 2>&1 & started+=($!)
  ports="$unbound $recursor"
}
resolve behind-nsd "$nsd"; behind_nsd=$ports
resolve behind-knot "$knot"; behind_knot=$ports
ask() { # PORT NAME TYPE: the rcode, and the addresses
  dig @127.0.0.1 -p "$1" +tries=1 +time=5 +noall +comments +answer "$2.c.example" "$3" |
    awk '/status:/ {gsub(/.*status: |,.*/, ""); print} $4 == "A" {print $5}' | paste -sd ' '
}
proof() { # PORT NAME: how many NSEC3 records an answer without DS has
  dig @127.0.0.1 -p "$1" +tries=1 +time=5 +norecurse +dnssec +noall +authority "$2.c.example" DS | awk '$4 == "NSEC3"' | wc -l
}
for each in $nsd $knot $behind_nsd $behind_knot; do
  for _ in $(seq 100); do [ "$(ask "$each" ns A)" = 'NOERROR 127.0.0.1' ] && break; sleep 0.2; done
done
status=0
expect() { # WHAT SAID EXPECTED
  echo "$1: $2"
  [ "$2" = "$3" ] || { echo "  changed: it was $3"; status=1; }
}
expect 'NSEC3 records of knotd for ent, child.ent, plain' "$(proof "$knot" ent) $(proof "$knot" child.ent) $(proof "$knot" plain)" '2 2 1'
expect 'NSEC3 records of nsd for ent, child.ent, plain' "$(proof "$nsd" ent) $(proof "$nsd" child.ent) $(proof "$nsd" plain)" '1 2 1'
all() { # WHAT PORTS, then what unbound and the Recursor say of the DS of ent, and of www.child.ent
  read -r unbound recursor <<< "$2"
  expect "$1, www.plain, unbound" "$(ask "$unbound" www.plain A)" 'NOERROR 192.0.2.9'
  expect "$1, www.plain, Recursor" "$(ask "$recursor" www.plain A)" 'NOERROR 192.0.2.9'
  expect "$1, www.child.ent, unbound" "$(ask "$unbound" www.child.ent A)" "$5"
  expect "$1, www.child.ent, Recursor" "$(ask "$recursor" www.child.ent A)" "$6"
  expect "$1, DS of ent, unbound" "$(ask "$unbound" ent DS)" "$3"
  expect "$1, DS of ent, Recursor" "$(ask "$recursor" ent DS)" "$4"
}
all 'behind knotd' "$behind_knot" NOERROR NOERROR 'NOERROR 192.0.2.9' 'NOERROR 192.0.2.9'
all 'behind nsd' "$behind_nsd" SERVFAIL SERVFAIL SERVFAIL SERVFAIL
exit $status
