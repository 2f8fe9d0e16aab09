#!/usr/bin/env bash
# What message libraries of npm make of a dot inside a label, as in the instance "Printer 2.0" of DNS-SD and in mailboxes such as john\.doe.c.example.
#
# Versions: npm packages dns-packet 5.6.1 (under multicast-dns and bonjour), dns2 3.1.1, native-dns-packet 0.1.1 and bns 0.16.0.
# Seen, of a PTR record to the labels `Printer 2.0`, `_ipp`, `_tcp`, `c` and `example`, read and written again:
# - dns-packet, dns2 and native-dns-packet have the text `Printer 2.0._ipp._tcp.c.example`, in which nothing tells the dots apart, and write
#   `Printer 2` and `0` as two labels. What is asked for that text, its SRV record, is asked of another name.
# - For RNAME of SOA records dns-packet has `john\.doe.c.example`, and writes it as it was; dns2 and native-dns-packet make two labels of it.
# - bns has `Printer\ 2\.0` and `john\.doe`, and writes both as they were.
# An engineer would have guessed: text of a name has a backslash before such a dot (RFC 1035 section 5.1), so that what is read can be sent: RFC 6763
# section 4.3 has it for these names.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm install --silent --no-audit --no-fund --ignore-scripts dns-packet@5.6.1 dns2@3.1.1 native-dns-packet@0.1.1 bns@0.16.0 > /dev/null
cat > read.js <<'JS'
// Reads a message with a PTR or SOA record and writes it again; says the name as text, and whether the octets of the name are there.
const name = (...labels) => Buffer.concat([...labels, ''].map((label) => Buffer.from([label.length, ...Buffer.from(label)])))
const owner = name('_ipp', '_tcp', 'c', 'example')
const [, , library, type] = process.argv
const inner = type === 'PTR' ? name('Printer 2.0', '_ipp', '_tcp', 'c', 'example') : name('john.doe', 'c', 'example')
const data = type === 'PTR' ? inner : Buffer.concat([name('ns1', 'c', 'example'), inner, Buffer.alloc(20, 1)])
const number = Buffer.from([0, type === 'PTR' ? 12 : 6, 0, 1])
const header = Buffer.from([0, 7, 132, 0, 0, 1, 0, 1, 0, 0, 0, 0])
const message = Buffer.concat([header, owner, number, owner, number, Buffer.from([0, 0, 0, 60, 0, data.length]), data])
const [text, written] = {
  'dns-packet'(packet) {
    const read = packet.decode(message)
    const [{ data }] = read.answers
    return [type === 'PTR' ? data : data.rname, packet.encode(read)]
  },
  dns2({ Packet }) {
    const read = Packet.parse(message)
    const [answer] = read.answers
    return [type === 'PTR' ? answer.domain : answer.admin, read.toBuffer()]
  },
  'native-dns-packet'(packet) {
    const read = packet.parse(message)
    const buffer = Buffer.alloc(4096)
    const [answer] = read.answer
    return [type === 'PTR' ? answer.data : answer.admin, buffer.subarray(0, packet.write(buffer, read))]
  },
  bns({ wire }) {
    const read = wire.Message.decode(message)
    const { data } = read.answer[0]
    return [type === 'PTR' ? data.ptr : data.mbox, read.encode()]
  },
}[library](require(library))
// Names may be compressed: the first label is written whole.
const label = type === 'PTR' ? '\x0bPrinter 2.0' : '\x08john.doe'
console.log(text, written.includes(Buffer.from(label)) ? 'one label' : 'other labels')
JS
export NODE_BACKEND=js
status=0
expect() { # LIBRARY TYPE EXPECTED
  local said; said=$(node read.js "$1" "$2" 2>&1 | tail -1)
  echo "$1, $2: $said"
  [ "$said" = "$3" ] || { echo "  changed: it was $3"; status=1; }
}
expect dns-packet PTR 'Printer 2.0._ipp._tcp.c.example other labels'
expect dns2 PTR 'Printer 2.0._ipp._tcp.c.example other labels'
expect native-dns-packet PTR 'Printer 2.0._ipp._tcp.c.example other labels'
expect bns PTR 'Printer\ 2\.0._ipp._tcp.c.example. one label'
expect dns-packet SOA 'john\.doe.c.example one label'
expect dns2 SOA 'john.doe.c.example other labels'
expect native-dns-packet SOA 'john.doe.c.example other labels'
expect bns SOA 'john\.doe.c.example. one label'
exit $status
