#!/usr/bin/env bash
# What signers make of a ZONEMD record (RFC 8976) of the zone that they sign, and what unbound, which checks it, makes of that.
#
# Versions: knot 3.2.6 (makes the digest, and signs behind it), bind9 and bind9-utils 9.18.49, ldnsutils 1.8.3 and unbound 1.17.1 of Debian 12.
# Seen: the zone comes without signatures and with a right digest. named (`inline-signing`) and knotd (`dnssec-signing`) as secondaries, dnssec-signzone and
# ldns-signzone add keys, NSEC records and signatures, keep the digest as it is, and sign it: what they serve has a signed digest of something else.
# unbound with `zonemd-check: yes`, which has the zone of the primary, has SERVFAIL for every name of each of them: `incorrect digest`, or, behind named,
# which has a serial of its own, `ZONEMD serial is wrong`. The signers say nothing; their own zones are answered.
# Afterwards: `zonemd-generate` at Knot and `ldns-signzone -z sha384` make another digest. BIND 9.18 makes none: there the primary has to leave it out.
# An engineer would have guessed: who changes a zone drops or makes anew what speaks of all of it, as signers do with NSEC records and signatures.
set -euo pipefail
needs=(knot bind9 bind9-utils bind9-dnsutils ldnsutils unbound python3)
dpkg -s "${needs[@]}" >/dev/null 2>&1 || apt-get install -y -qq --no-install-recommends "${needs[@]}" >/dev/null
folder=$(mktemp -d)
started=()
trap 'kill "${started[@]}" 2>/dev/null || true; wait; rm -rf "$folder"' EXIT
cd "$folder"
PATH=$PATH:/usr/sbin
dpkg-query -W knot bind9 ldnsutils unbound
port() { /usr/bin/python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])'; }
printf 'c.example. 300 IN %s\n' 'SOA ns1.c.example. host.c.example. 1 3600 600 86400 300' 'NS ns1.c.example.' > zone
printf '%s.c.example. 300 IN A 192.0.2.1\n' ns1 www > part; cat part >> zone
knot() { # NAME PORT LINES OF THE ZONE
  mkdir "$1"
  cat > "$1.conf" <<CONF
server:
  listen: 127.0.0.1@$2
  rundir: $folder/$1
database:
  storage: $folder/$1
remote:
  - id: primary
    address: 127.0.0.1@${primary:-1}
acl:
  - id: all
    address: 127.0.0.0/8
    action: transfer
zone:
  - domain: c.example
    acl: all
    zonefile-sync: -1
$3
CONF
  knotd -c "$1.conf" > "log.$1" 2>&1 & started+=($!)
}
wait_for() { # PORT TYPE: until the SOA record is there, with signatures for RRSIG
  for _ in $(seq 100); do dig @127.0.0.1 -p "$1" +dnssec +tries=1 +time=1 c.example SOA 2> /dev/null | grep -q "[[:space:]]$2[[:space:]]" && return; sleep 0.1; done
}
transfer() { dig @127.0.0.1 -p "$1" +noall +answer +onesoa c.example AXFR; }
main=$(port); knot main "$main" "    file: $folder/zone
    zonefile-load: whole
    zonemd-generate: zonemd-sha384"
wait_for "$main" SOA
transfer "$main" > with-digest
primary=$main
behind=$(port); knot behind "$behind" "    master: primary
    file: $folder/behind.zone
    zonefile-load: none
    dnssec-signing: on"
mended=$(port); knot mended "$mended" "    master: primary
    file: $folder/mended.zone
    zonefile-load: none
    dnssec-signing: on
    zonemd-generate: zonemd-sha384"
bind=$(port)
cat > named.conf <<CONF
options {
  directory "$folder"; pid-file none; session-keyfile "$folder/session.key";
  listen-on port $bind { 127.0.0.1; }; listen-on-v6 { none; };
  recursion no; notify no; allow-transfer { any; };
};
controls { };
zone "c.example" { type secondary; file "$folder/bind.zone"; primaries { 127.0.0.1 port $main; }; inline-signing yes; dnssec-policy default; };
CONF
named -g -c named.conf > log.named 2>&1 & started+=($!)
for signer in "$behind" "$mended" "$bind"; do wait_for "$signer" RRSIG; done

dnssec-keygen -q -a ECDSAP256SHA256 -f KSK c.example > keys; dnssec-keygen -q -a ECDSAP256SHA256 c.example >> keys
mapfile -t keys < keys
dnssec-signzone -S -O full -o c.example -f by-dnssec-signzone with-digest > /dev/null 2>&1
ldns-signzone -o c.example -f by-ldns with-digest "${keys[@]}"
ldns-signzone -z sha384 -o c.example -f by-ldns-mended with-digest "${keys[@]}"
status=0
expect() { # WHAT SAID EXPECTED
  echo "$1: $2"
  [ "$2" = "$3" ] || { echo "  changed: it was $3"; status=1; }
}
checked() { # SOURCE: the rcode of unbound that has its zone from there, and what it says of the digest
  local own; own=$(port)
  cat > unbound.conf <<CONF
server:
  interface: 127.0.0.1
  port: $own
  username: ""
  chroot: ""
  directory: "$folder"
  pidfile: ""
  use-syslog: no
  do-daemonize: no
  access-control: 127.0.0.0/8 allow
  do-not-query-localhost: no
  module-config: "iterator"
remote-control:
  control-enable: no
auth-zone:
  name: c.example
  $1
  fallback-enabled: no
  zonemd-check: yes
CONF
  unbound -d -c unbound.conf > log.unbound 2>&1 &
  local unbound=$! rcode=
  # Before it has the zone it answers SERVFAIL, too: then nothing is said of a digest.
  for _ in $(seq 100); do
    rcode=$(dig @127.0.0.1 -p "$own" +norecurse +tries=1 +time=1 www.c.example A 2> /dev/null | sed -n 's/.*status: \([A-Z]*\),.*/\1/p')
    [ "$rcode" = NOERROR ] || grep -q 'ZONEMD verification failed' log.unbound && break
    sleep 0.1
  done
  kill "$unbound"; wait "$unbound" 2> /dev/null || true
  echo "$rcode $(sed -n 's/.*ZONEMD verification failed: //p' log.unbound | head -1)" | xargs
}
expect 'the primary, without signatures' "$(checked "primary: 127.0.0.1@$main")" NOERROR
expect 'knotd behind it' "$(checked "primary: 127.0.0.1@$behind")" 'SERVFAIL incorrect digest'
expect 'knotd behind it with zonemd-generate' "$(checked "primary: 127.0.0.1@$mended")" NOERROR
expect 'named behind it' "$(checked "primary: 127.0.0.1@$bind")" 'SERVFAIL ZONEMD serial is wrong'
expect 'dnssec-signzone' "$(checked "zonefile: $folder/by-dnssec-signzone")" 'SERVFAIL incorrect digest'
expect 'ldns-signzone' "$(checked "zonefile: $folder/by-ldns")" 'SERVFAIL incorrect digest'
expect 'ldns-signzone -z sha384' "$(checked "zonefile: $folder/by-ldns-mended")" NOERROR
expect 'digests that are signed, named' "$(transfer "$bind" | grep -c 'RRSIG.ZONEMD')" 1
exit $status
