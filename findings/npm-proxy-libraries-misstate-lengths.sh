#!/usr/bin/env bash
# What two libraries of npm write and read as headers of version 2 of the PROXY protocol.
#
# Versions: npm packages @balena/proxy-protocol-parser 1.0.2 and proxy-protocol-js 4.0.6; haproxy 2.6.12 of Debian 12.
# Seen: `v2_encode` of @balena/proxy-protocol-parser writes the length of the addresses with its lower octet first, 3072 for 12, and
# the command LOCAL, which says that the address behind it is not a client's. Its own decoder reads neither; others wait for
# 3072 octets. `V2ProxyProtocol.parse` of proxy-protocol-js does not read the length either: what it gives as `data`,
# the octets behind the header, begins with the TLVs that HAProxy writes with `proxy-v2-options crc32c`. It refuses
# the line "PROXY UNKNOWN" without addresses, the shortest of version 1 that the specification has.
# An engineer would have guessed: numbers in network order and the command PROXY, and a parser that goes by the length.
# Both look right in a test against themselves, and against a balancer that sends no TLVs.
set -euo pipefail
needs=(haproxy)
dpkg -s "${needs[@]}" >/dev/null 2>&1 || apt-get install -y -qq --no-install-recommends "${needs[@]}" >/dev/null
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
PATH=$PATH:/usr/sbin
haproxy -v | sed -n 1p
npm install --silent --no-audit --no-fund --prefix . @balena/proxy-protocol-parser@1.0.2 proxy-protocol-js@4.0.6 > /dev/null

cat > play.cjs <<'JS'
// Looks at what the first library writes, and has the other one read what HAProxy writes.
const { spawn } = require('node:child_process')
const { writeFileSync } = require('node:fs')
const net = require('node:net')
const { decode, v2_encode } = require('@balena/proxy-protocol-parser')
const { V1ProxyProtocol, V2ProxyProtocol } = require('proxy-protocol-js')

const client = { remoteFamily: 'IPv4', remoteAddress: '198.51.100.7', remotePort: 4000 }
const header = Buffer.from(v2_encode({ ...client, localAddress: '192.0.2.53', localPort: 53 }))
const command = ['LOCAL', 'PROXY'][header[12] & 15]
console.log(`v2_encode: ${command}, length ${header.readUInt16BE(14)} for ${header.length - 16} octets`)
console.log(`decode of it: ${decode(header).remoteAddress}`)

const outcome = (text) => {
  try {
    return V1ProxyProtocol.parse(text).data
  } catch (error) {
    return error.name
  }
}
console.log(`PROXY UNKNOWN: ${outcome('PROXY UNKNOWN\r\nquestion')}`)
console.log(`PROXY UNKNOWN ::1 ::1 1 2: ${outcome('PROXY UNKNOWN ::1 ::1 1 2\r\nquestion')}`)

async function listen(onConnection) {
  const server = net.createServer(onConnection)
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve))
  return server
}
async function main() {
  const spare = await listen()
  const front = spare.address().port
  await new Promise((resolve) => spare.close(resolve))
  let hear
  const heard = new Promise((resolve) => (hear = resolve))
  const server = await listen((socket) => {
    let all = Buffer.alloc(0)
    socket.on('error', () => undefined).on('data', (octets) => {
      all = Buffer.concat([all, octets])
      if (all.includes('question')) hear(all)
    })
  })
  writeFileSync('haproxy.cfg', `defaults
  mode tcp
  timeout connect 5s
  timeout client 5s
  timeout server 5s
listen writes
  bind 127.0.0.1:${front}
  server it 127.0.0.1:${server.address().port} send-proxy-v2 proxy-v2-options crc32c
`)
  const haproxy = spawn('haproxy', ['-db', '-f', 'haproxy.cfg'], { stdio: 'ignore' })
  const again = setInterval(() => {
    const socket = net.connect(front, '127.0.0.1', () => socket.write('question')).on('error', () => undefined)
  }, 100)
  const octets = await heard
  clearInterval(again)
  const data = Buffer.from(V2ProxyProtocol.parse(octets).data)
  const [type, length] = [data[0], data.readUInt16BE(1)]
  console.log(`data behind HAProxy: TLV ${type} of ${length} octets, then "${data.subarray(3 + length)}"`)
  haproxy.kill()
  process.exit()
}
main()
JS
node play.cjs | tee said
cmp -s said - <<'END' || { echo 'changed'; exit 1; }
v2_encode: LOCAL, length 3072 for 12 octets
decode of it: 198.51.100.7
PROXY UNKNOWN: V1ProxyProtocolParseError
PROXY UNKNOWN ::1 ::1 1 2: question
data behind HAProxy: TLV 3 of 4 octets, then "question"
END
