// A node asks itself: what counts as an answer, and what does not.
import { createSocket } from 'node:dgram'
import type { Socket } from 'node:dgram'
import { once } from 'node:events'
import { expect, onTestFinished, test } from 'vitest'
import { systemClock } from '#lib/clock.ts'
import { askSelf } from '#server/anycast/self-query.ts'
import { freePort } from '#test/support/free-port.ts'
import { localHeader } from '#test/support/proxy-writer.ts'
import { wireName } from '#test/support/dns/wire-name.ts'

const name = wireName('example.com.')

/** A busy machine may be late with an answer; where none is to come, nobody waits for long. */
const patient = 60_000
const impatient = 200

const ask = (port: number, patienceMs: number, address = '127.0.0.1') =>
  askSelf({ address, port, name, patienceMs }, systemClock)

/** Answers each query with what `reply` makes of it. */
async function server(reply: (query: Buffer) => readonly Buffer[]): Promise<number> {
  const socket: Socket = createSocket('udp4')
  socket.on('message', (query, from) => {
    for (const bytes of reply(query)) socket.send(bytes, from.port, from.address)
  })
  socket.bind(0, '127.0.0.1')
  await once(socket, 'listening')
  onTestFinished(() => void socket.close())
  return socket.address().port
}

/** The same octets as a response with an rcode. */
function answered(query: Buffer, rcode: number): Buffer {
  const reply = Buffer.from(query)
  reply[2] = 0x84
  reply[3] = rcode
  return reply
}
const withId = (bytes: Buffer, id: number): Buffer => {
  bytes.writeUInt16BE(id, 0)
  return bytes
}

test.each([
  ['NOERROR', 0],
  ['SERVFAIL, as over the limit of a licence', 2],
  ['REFUSED', 5],
])('%s is an answer', async (_what, rcode) => {
  const port = await server((query) => [answered(query, rcode)])
  expect(await ask(port, patient)).toEqual({ fault: null, tookMs: expect.any(Number) as number })
})

test('at an address of a proxy the query comes behind a header', async () => {
  const seen: Buffer[] = []
  const port = await server((datagram) => {
    seen.push(datagram.subarray(0, 16))
    return [answered(datagram.subarray(16), 0)]
  })
  const question = { address: '127.0.0.1', port, name, patienceMs: patient, isProxy: true }
  expect((await askSelf(question, systemClock)).fault).toBe(null)
  expect(seen).toEqual([localHeader()])
})

test.each([
  ['nothing', (): Buffer[] => []],
  ['the query itself', (query: Buffer): Buffer[] => [query]],
  ['another id', (query: Buffer) => [withId(answered(query, 0), query.readUInt16BE(0) ^ 1)]],
  ['too little', (query: Buffer) => [answered(query, 0).subarray(0, 5)]],
])('%s is none', async (_what, reply) => {
  const { fault } = await ask(await server(reply), impatient)
  expect(fault).toBe('no answer from 127.0.0.1 within 200 ms')
})

test('an answer that lies in the socket counts, however busy this thread was', async () => {
  const port = await server((query) => {
    const endMs = performance.now() + 300
    while (performance.now() < endMs);
    return [answered(query, 0)]
  })
  expect((await ask(port, impatient)).fault).toBe(null)
})

test('a port where nobody listens, and an address of another machine', async () => {
  expect((await ask(await freePort(), patient)).fault).toBe('nothing listens at 127.0.0.1')
  expect((await ask(53, patient, '192.0.2.53')).fault).toContain('ip address add 192.0.2.53 dev lo')
})

test('an address that can be bound and not connected to is a fault in words', async () => {
  // Linux binds a socket to a broadcast address, and lets it send there only where it says so.
  const { fault } = await ask(53, patient, '255.255.255.255')
  // Without any route there is another reason.
  expect(fault).toMatch(/^255\.255\.255\.255 cannot be asked: .*(EACCES|ENETUNREACH)/)
})
