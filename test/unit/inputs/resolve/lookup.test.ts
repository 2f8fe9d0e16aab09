import { createSocket } from 'node:dgram'
import type { RemoteInfo } from 'node:dgram'
import { once } from 'node:events'
import { afterEach, describe, expect, test } from 'vitest'
import { resolveLimits } from '#inputs/resolve/limits.ts'
import { createDnsLookup } from '#inputs/resolve/lookup.ts'
import { decodeMessage, encodeMessage } from '#test/support/dns/message.ts'
import type { Message, QueryParts } from '#test/support/dns/message.ts'

const cleanups: (() => void)[] = []
afterEach(() => {
  for (const cleanup of cleanups.splice(0)) cleanup()
})

/** A name server of one function. @returns its address */
async function serve(reply: (query: Message) => Buffer | undefined): Promise<string> {
  const socket = createSocket('udp4')
  socket.on('message', (bytes: Buffer, { port, address }: RemoteInfo) => {
    const octets = reply(decodeMessage(bytes))
    if (octets !== undefined) socket.send(octets, port, address)
  })
  socket.bind(0, '127.0.0.1')
  await once(socket, 'listening')
  cleanups.push(() => socket.close())
  return `127.0.0.1:${socket.address().port}`
}

const name = 'lb.example.net.'
const a = (query: Message, ttls: readonly number[], parts: QueryParts = {}): Buffer =>
  encodeMessage({
    id: query.id,
    qr: true,
    ra: true,
    questions: query.questions,
    answer:
      query.questions[0]!.type === 1
        ? ttls.map((ttl, i) => ({
            name,
            type: 1,
            class: 1,
            ttl,
            rdata: Buffer.from([192, 0, 2, i + 1]),
            rdataText: '',
          }))
        : [],
    ...parts,
  })

test('addresses come with the least of their TTLs', async () => {
  const server = await serve((query) => a(query, [60, 7, 300]))
  expect(await createDnsLookup([server])(name)).toEqual({
    ok: true,
    v4: ['192.0.2.1', '192.0.2.2', '192.0.2.3'],
    v6: [],
    ttlSeconds: 7,
  })
})

test('each lookup asks anew: nothing is cached below', async () => {
  let asked = 0
  const server = await serve((query) => {
    if (query.questions[0]!.type === 1) asked++
    return a(query, [3_600])
  })
  const lookup = createDnsLookup([server])
  await lookup(name)
  await lookup(name)
  expect(asked).toBe(2)
})

describe('a name server that', () => {
  const cases: readonly [string, (query: Message) => Buffer | undefined, string][] = [
    ['knows no such name', (query) => a(query, [], { rcode: 3 }), 'no-such-name'],
    ['has no addresses', (query) => a(query, []), 'no-addresses'],
    ['fails', (query) => a(query, [], { rcode: 2 }), 'server-failure'],
    ['refuses', (query) => a(query, [], { rcode: 5 }), 'refused'],
    ['never answers', () => undefined, 'timeout'],
    ['lies about the id', (query) => a(query, [60], { id: query.id ^ 1 }), 'timeout'],
    [
      'answers another question',
      (query) => a(query, [60], { questions: [{ name: 'evil.example.', type: 1, class: 1 }] }),
      'timeout',
    ],
  ]
  test('does not help costs bounded time, and the fault says why', async () => {
    // At once: those that say nothing take seconds.
    const found = cases.map(async ([what, reply]) => {
      const result = await createDnsLookup([await serve(reply)])(name)
      return [what, result.ok ? '' : result.fault]
    })
    expect(await Promise.all(found)).toEqual(cases.map(([what, , fault]) => [what, fault]))
  })

  test('answers garbage is as good as none', async () => {
    const server = await serve(() => Buffer.alloc(40, 0xff))
    const found = await createDnsLookup([server])(name)
    expect(found.ok).toBe(false)
  })

  test('has 500 addresses gives at most what is read', async () => {
    const server = await serve((query) =>
      a(
        query,
        Array.from({ length: 70 }, () => 60),
      ),
    )
    const found = await createDnsLookup([server])(name)
    expect(found.ok && found.v4!.length).toBe(70)
    expect(resolveLimits.addressesReadMax).toBeLessThanOrEqual(256)
  })
})
