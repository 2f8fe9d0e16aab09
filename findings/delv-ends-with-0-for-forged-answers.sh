#!/usr/bin/env bash
# With which exit status delv, drill and checkers of files end where a signature does not fit its record.
#
# Versions: bind9-dnsutils (delv) and bind9-utils (dnssec-verify) 9.18.49, ldnsutils (drill, ldns-verify-zone) 1.8.3, knot 3.2.6 of Debian 12.
# Seen: a zone is signed, then one of its addresses is changed. delv says `no valid signature found` and ends with 0, as it does for a valid
# answer, and for a server that does not answer at all. drill -S ends with 35, dnssec-verify, kzonecheck and ldns-verify-zone do not end with 0 either.
# An engineer would have guessed: a program whose work is to validate tells by its status whether the answer is valid; its manual has no
# word on it. A check that runs delv has to look for `fully validated` in what it prints.
set -euo pipefail
needs=(bind9-dnsutils bind9-utils bind9 ldnsutils knot knot-dnsutils python3)
dpkg -s "${needs[@]}" >/dev/null 2>&1 || apt-get install -y -qq --no-install-recommends "${needs[@]}" >/dev/null
folder=$(mktemp -d)
trap 'kill "${server:-}" 2>/dev/null || true; wait; rm -rf "$folder"' EXIT
cd "$folder"
chmod 755 .
PATH=$PATH:/usr/sbin
dpkg-query -W "${needs[@]}"
port() { /usr/bin/python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])'; }
at=$(port) nobody=$(port)
key=$(dnssec-keygen -q -a ECDSAP256SHA256 -f KSK c.example)
{ printf '%s\n' '$TTL 60' '@ SOA ns hostmaster 1 3600 600 86400 60' '@ NS ns' 'ns A 192.0.2.1' 'good A 192.0.2.2' 'bad A 192.0.2.3'; cat "$key.key"; } > zone
dnssec-signzone -z -q -o c.example -f signed zone "$key" >/dev/null 2>&1
sed 's/192\.0\.2\.3$/192.0.2.33/' signed > forged
grep DNSKEY "$key.key" > anchor
read -r _ _ _ flags protocol algorithm data < <(grep DNSKEY "$key.key")
echo "trust-anchors { c.example. static-key $flags $protocol $algorithm \"${data// /}\"; };" > anchors
cat > named.conf <<CONF
options { directory "$folder"; pid-file none; listen-on port $at { 127.0.0.1; }; listen-on-v6 { none; }; recursion no; notify no; dnssec-validation no; };
controls { };
zone "c.example" { type primary; file "$folder/forged"; };
CONF
named -4 -g -c named.conf > log 2>&1 &
server=$!
for _ in $(seq 100); do [ -n "$(dig @127.0.0.1 -p "$at" +tries=1 +time=1 +short c.example SOA 2>/dev/null)" ] && break; sleep 0.1; done
ends() { local ends=0; timeout 60 "$@" > said 2>&1 || ends=$?; echo "$ends"; }
delv_at() { # PORT NAME
  echo "ends with $(ends delv @127.0.0.1 -p "$1" -a anchors +root=c.example "$2.c.example" A), $(grep -o -m1 'fully validated\|no valid signature found\|resolution failed' said)"
}
# A slow machine may need another try.
for _ in 1 2 3 4 5; do [ "$(delv_at "$at" good)" = 'ends with 0, fully validated' ] && break; done
status=0
expect() { # WHAT SAID EXPECTED
  echo "$1: $2"
  [ "$2" = "$3" ] || { echo "  changed: it was $3"; status=1; }
}
expect 'delv, a valid answer' "$(delv_at "$at" good)" 'ends with 0, fully validated'
expect 'delv, a forged answer' "$(delv_at "$at" bad)" 'ends with 0, no valid signature found'
expect 'delv, no server' "$(delv_at "$nobody" good)" 'ends with 0, resolution failed'
expect 'drill -S, a valid answer' "$(ends drill -p "$at" -k anchor -S @127.0.0.1 good.c.example A)" 0
expect 'drill -S, a forged answer' "$(ends drill -p "$at" -k anchor -S @127.0.0.1 bad.c.example A)" 35
for tool in 'dnssec-verify -z -o c.example' 'kzonecheck -d on -o c.example' 'ldns-verify-zone'; do
  # shellcheck disable=SC2086
  expect "${tool%% *}, the signed file" "$(ends $tool signed)" 0
  # shellcheck disable=SC2086
  expect "${tool%% *}, the forged file" "$([ "$(ends $tool forged)" = 0 ] && echo 0 || echo 'another one')" 'another one'
done
exit $status
