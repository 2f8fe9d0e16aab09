#!/usr/bin/env bash
# How many octets the private key of a DNSSEC key of P-256 has in the files of BIND, and which programs read it.
#
# Versions: bind9-utils 9.18.49, pdns-server and pdns-backend-sqlite3 4.7.3, knot-dnssecutils 3.2.6, ldnsutils 1.8.3 of Debian 12; npm package bns 0.16.0.
# Seen: a private key of ECDSAP256SHA256 is a number below 2^256. Where its first octet is zero, as in one key of 256, the `PrivateKey`
# that dnssec-settime writes (dnssec-keygen has the same code) has 31 octets, and 30 where two are. pdnsutil writes 32. BIND, Knot,
# ldns and PowerDNS read all of them; bns says `Invalid key for algorithm`.
# An engineer would have guessed: 32 octets, as the public half and signatures always have the length of RFC 6605 section 4. A reader that
# counts octets passes its tests with the first 200 keys, and refuses the key of one zone of 256.
set -euo pipefail
needs=(bind9-utils pdns-server pdns-backend-sqlite3 sqlite3 knot-dnssecutils ldnsutils openssl python3)
dpkg -s "${needs[@]}" >/dev/null 2>&1 || apt-get install -y -qq --no-install-recommends "${needs[@]}" >/dev/null
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
PATH=$PATH:/usr/sbin
dpkg-query -W bind9-utils pdns-server knot-dnssecutils ldnsutils
npm install --silent --no-audit --no-fund --ignore-scripts bns@0.16.0 > /dev/null

cat > make.py <<'PYTHON'
# Makes the files of a key whose private half begins with a number of zeros, written in full; prints their name.
import base64, hashlib, os, struct, subprocess, sys
zeros = int(sys.argv[1])
scalar = bytes(zeros) + b'\x6f' + hashlib.sha256(b'a key of a test').digest()[zeros + 1:]
der = bytes.fromhex('30310201010420') + scalar + bytes.fromhex('a00a06082a8648ce3d030107')
public = subprocess.run('openssl ec -inform DER -pubout -outform DER -conv_form uncompressed'.split(),
                        input=der, check=True, capture_output=True).stdout[-64:]
rdata = struct.pack('>HBB', 257, 3, 13) + public
total = sum(octet << (0 if at & 1 else 8) for at, octet in enumerate(rdata))
name = 'Kc.example.+013+%05d' % ((total + (total >> 16 & 0xffff)) & 0xffff)
os.umask(0o077)
with open(name + '.key', 'w') as file:
    file.write('c.example. IN DNSKEY 257 3 13 %s\n' % base64.b64encode(public).decode())
with open(name + '.private', 'w') as file:
    file.write('Private-key-format: v1.3\nAlgorithm: 13 (ECDSAP256SHA256)\nPrivateKey: %s\n'
               'Created: 20260101000000\nPublish: 20260101000000\nActivate: 20260101000000\n'
               % base64.b64encode(scalar).decode())
print(name)
PYTHON
printf 'c.example. 300 IN %s\n' 'SOA ns1.c.example. host.c.example. 1 3600 600 86400 300' 'NS ns1.c.example.' > zone
echo 'ns1.c.example. 300 IN A 192.0.2.1' >> zone
octets() { awk '$1 == "PrivateKey:" {print $2}' "$1" | base64 -d | wc -c; }
signed() { grep -q 'RRSIG' "$1" && ldns-verify-zone "$1" > /dev/null 2>&1 && echo reads it; }
bind() {
  cat zone "$1.key" > with-key
  dnssec-signzone -z -o c.example -f by-bind with-key "$1" > /dev/null 2>&1 && signed by-bind
}
ldns() { ldns-signzone -o c.example -f by-ldns zone "$1" > /dev/null 2>&1 && signed by-ldns; }
knot() {
  rm -rf kasp && mkdir kasp
  printf '%s\n' database: "  storage: $folder/kasp" zone: '  - domain: c.example' > knot.conf
  keymgr -c knot.conf c.example import-bind "$1.private" > /dev/null 2>&1 && keymgr -c knot.conf c.example list 2> /dev/null | grep -q " $((10#${1: -5})) " && echo reads it
}
powerdns() {
  rm -f base && sqlite3 base < /usr/share/doc/pdns-backend-sqlite3/schema.sqlite3.sql
  printf '%s\n' launch=gsqlite3 "gsqlite3-database=$folder/base" gsqlite3-dnssec=yes > pdns.conf
  pdnsutil --config-dir=. load-zone c.example zone > /dev/null 2>&1
  pdnsutil --config-dir=. import-zone-key c.example "$1.private" active ksk > /dev/null 2>&1
  pdnsutil --config-dir=. list-keys c.example | grep -q " $((10#${1: -5})) *$" && echo reads it
}
bns() {
  NODE_BACKEND=js node -e "
    const { dnssec } = require('bns')
    try {
      dnssec.decodePrivate(require('fs').readFileSync('$1.private', 'utf8'))
      console.log('reads it')
    } catch (error) { console.log(error.message) }"
}
status=0
expect() { # WHAT SAID EXPECTED
  echo "$1: $2"
  [ "$2" = "$3" ] || { echo "  changed: it was $3"; status=1; }
}
for zeros in 0 1 2; do
  key=$(/usr/bin/python3 make.py $zeros)
  dnssec-settime -I 20400101000000 "$key" > /dev/null 2>&1
  expect "octets that BIND writes, $zeros of 32 are zeros in front" "$(octets "$key.private")" $((32 - zeros))
  for reader in bind ldns knot powerdns; do expect "  $reader" "$($reader "$key" || echo does not)" 'reads it'; done
  expect '  PowerDNS writes' "$(pdnsutil --config-dir=. export-zone-key c.example 1 > out && octets out)" 32
  [ $zeros = 0 ] && read='reads it' || read='Invalid key for algorithm: ECDSAP256SHA256.'
  expect '  bns' "$(bns "$key")" "$read"
done
exit $status
