#!/usr/bin/env bash
# What dns2 and dns-packet make of client subnets (RFC 7871), and what named answers to them.
#
# Versions: npm packages dns2 3.1.1 and dns-packet 5.6.1; bind9 and bind9-dnsutils 9.18.49 of Debian 12.
# Seen:
# - `Packet.Resource.EDNS.ECS('2001:db8::/32')` of dns2 sends 209.0.0.0/32, a client of IPv4 elsewhere: 2001 is taken for the first of four octets, modulo
#   256. Nothing is said, and named answers NOERROR. /56, which it makes an IPv4 subnet of 56 bits, is FORMERR.
# - `Packet.parse` of dns2 has no OPT record at all where a message ends with a subnet of IPv6 whose address has an odd number of octets, as that of /56 has,
#   the default of unbound and PowerDNS Recursor: a server on dns2 does not see that the client has EDNS.
# - Both send the octets of a prefix as they are: 198.51.103.77/22 has bits set that are none of the prefix, and named answers FORMERR. dig clears them.
# An engineer would have guessed: a function that takes a subnet sends this subnet, or refuses it; and what resolvers send is read.
set -euo pipefail
needs=(bind9 bind9-dnsutils python3)
dpkg -s "${needs[@]}" >/dev/null 2>&1 || apt-get install -y -qq --no-install-recommends "${needs[@]}" >/dev/null
folder=$(mktemp -d)
started=()
trap 'kill "${started[@]}" 2>/dev/null || true; wait; rm -rf "$folder"' EXIT
cd "$folder"
PATH=$PATH:/usr/sbin
named -v
npm install --silent --no-audit --no-fund --ignore-scripts dns2@3.1.1 dns-packet@5.6.1 > /dev/null
port=$(/usr/bin/python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])')
printf 'c.example. 300 IN %s\n' 'SOA ns1.c.example. host.c.example. 1 3600 600 86400 300' 'NS ns1.c.example.' > zone
printf '%s.c.example. 300 IN A 192.0.2.1\n' ns1 www >> zone
cat > named.conf <<CONF
options {
  directory "$folder"; pid-file none; session-keyfile "$folder/session.key";
  listen-on port $port { 127.0.0.1; }; listen-on-v6 { none; };
  recursion no; dnssec-validation no;
};
controls { };
zone "c.example" { type primary; file "$folder/zone"; };
CONF
named -g -c named.conf > log 2>&1 &
started+=($!)
for _ in $(seq 100); do dig @127.0.0.1 -p "$port" +short +tries=1 +time=1 www.c.example A | grep -q 192.0.2.1 && break; sleep 0.1; done

cat > ask.js <<'JS'
// Sends a question with a subnet, made by one of the two libraries; says the option that went out, and the rcode.
const { createSocket } = require('node:dgram')
const { Packet } = require('dns2')
const packet = require('dns-packet')
const [library, subnet] = process.argv.slice(2)
const made = {
  dns2() {
    const query = new Packet()
    query.header.id = 7
    query.questions.push({ name: 'www.c.example', type: Packet.TYPE.A, class: Packet.CLASS.IN })
    query.additionals.push(Packet.Resource.EDNS([Packet.Resource.EDNS.ECS(subnet)]))
    return query.toBuffer()
  },
  'dns-packet'() {
    const [ip, bits] = subnet.split('/')
    const option = { code: 'CLIENT_SUBNET', ip, sourcePrefixLength: Number(bits) }
    const opt = { type: 'OPT', name: '.', udpPayloadSize: 1232, options: [option] }
    return packet.encode({ id: 7, questions: [{ name: 'www.c.example', type: 'A' }], additionals: [opt] })
  },
}[library]()
// Behind the header, the question, an OPT record without its data, and what says which option it is.
const option = made.subarray(12 + 19 + 11 + 4)
const family = option.readUInt16BE(0) === 1 ? 'IPv4' : 'IPv6'
const socket = createSocket('udp4')
socket.on('message', (reply) => {
  console.log(`${family} ${[...option.subarray(4)].join('.')}/${option[2]}, rcode ${reply[3] & 15}`)
  socket.close()
})
socket.send(made, process.env.PORT, '127.0.0.1')
JS
cat > read.js <<'JS'
// Reads a message that ends with a subnet of IPv6, as RFC 7871 section 6 has it; says what is there for each library.
const { Packet } = require('dns2')
const packet = require('dns-packet')
const bits = Number(process.argv[2])
const address = Buffer.from('20010db8123456789abcdef000000000', 'hex').subarray(0, Math.ceil(bits / 8))
const option = Buffer.concat([Buffer.from([0, 2, bits, 0]), address])
const opt = Buffer.concat([Buffer.from([0, 0, 41, 4, 208, 0, 0, 0, 0, 0, option.length + 4, 0, 8, 0, option.length]), option])
const question = Buffer.from('0007000000010000000000010377777701630765' + '78616d706c650000010001', 'hex')
const message = Buffer.concat([question, opt])
const here = Packet.parse(message).additionals[0]?.rdata[0].ip ?? 'no OPT record'
console.log(`dns2: ${here}; dns-packet: ${packet.decode(message).additionals[0].options[0].ip}`)
JS
status=0
expect() { # WHAT SAID EXPECTED
  echo "$1: $2"
  [ "$2" = "$3" ] || { echo "  changed: it was $3"; status=1; }
}
export PORT=$port
expect 'dns2, 192.0.2.0/24' "$(node ask.js dns2 192.0.2.0/24)" 'IPv4 192.0.2/24, rcode 0'
expect 'dns2, 2001:db8::/32' "$(node ask.js dns2 2001:db8::/32)" 'IPv4 209.0.0.0/32, rcode 0'
expect 'dns2, 2001:db8::/56' "$(node ask.js dns2 2001:db8::/56)" 'IPv4 209.0.0.0.0.0.0/56, rcode 1'
expect 'dns2, 198.51.103.77/22' "$(node ask.js dns2 198.51.103.77/22)" 'IPv4 198.51.103/22, rcode 1'
expect 'dns-packet, 198.51.103.77/22' "$(node ask.js dns-packet 198.51.103.77/22)" 'IPv4 198.51.103/22, rcode 1'
expect 'dns-packet, 198.51.100.0/22' "$(node ask.js dns-packet 198.51.100.0/22)" 'IPv4 198.51.100/22, rcode 0'
dig=$(dig @127.0.0.1 -p "$port" +subnet=198.51.103.77/22 +tries=1 www.c.example A | sed -n 's/.*status: \([A-Z]*\),.*/\1/p')
expect 'dig, 198.51.103.77/22' "$dig" NOERROR
expect 'a message that ends with a subnet of 48 bits' "$(node read.js 48)" 'dns2: 2001:db8:1234:0:0:0:0:0; dns-packet: 2001:db8:1234::'
expect 'one of 56 bits' "$(node read.js 56)" 'dns2: no OPT record; dns-packet: 2001:db8:1234:5600::'
exit $status
