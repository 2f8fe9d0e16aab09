import { once } from 'node:events'
import { connect } from 'node:net'
import type { Socket } from 'node:net'
import fc from 'fast-check'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { keyOf } from '#test/support/config-world.ts'
import { FeedWorld, member, objectOf } from '#test/support/feed-world.ts'
import type { Listener } from '#test/support/feed-world.ts'
import { waitUntil } from '#test/support/wait-until.ts'

let world: FeedWorld
let witness: Listener
beforeAll(async () => {
  world = new FeedWorld({ clientsMax: 100 })
  world.commits.commit(objectOf('Pool', 'acme', 'web', { members: [member('192.0.2.1')] }))
  await world.start()
  witness = await world.connect(keyOf('zenith'))
})
afterAll(() => world.stop())

/** A connection after its handshake, and the octets of frames that came since. */
async function openRaw(): Promise<{ socket: Socket; frames: () => Buffer }> {
  const token = await world.token(keyOf('acme'))
  const [host = '', port = ''] = world.origin.split(':')
  const socket = connect(Number(port), host)
  let got = Buffer.alloc(0)
  socket.on('error', () => undefined)
  socket.on('data', (chunk: Buffer) => (got = Buffer.concat([got, chunk])))
  const head = [
    `GET /api/v1/ws?token=${token} HTTP/1.1`,
    'Host: x',
    'Connection: Upgrade',
    'Upgrade: websocket',
    'Sec-WebSocket-Version: 13',
    `Sec-WebSocket-Key: ${Buffer.alloc(16, 5).toString('base64')}`,
  ]
  socket.write(`${head.join('\r\n')}\r\n\r\n`)
  await waitUntil('101', () => got.includes('\r\n\r\n'))
  expect(got.toString('latin1')).toMatch(/^HTTP\/1\.1 101 /)
  const start = got.indexOf('\r\n\r\n') + 4
  return { socket, frames: () => got.subarray(start) }
}

const frame = fc
  .record({
    first: fc.integer({ min: 0, max: 255 }),
    isMasked: fc.boolean(),
    /** What the frame says, whatever it holds. */
    length: fc.option(fc.integer({ min: 0, max: 0xffff_ffff }), { freq: 3 }),
    payload: fc.uint8Array({ maxLength: 200 }),
  })
  .map(({ first, isMasked, length, payload }) => {
    const said = length ?? payload.length
    const mask = isMasked ? 0x80 : 0
    const head =
      said < 126
        ? Buffer.from([first, mask | said])
        : said < 65_536
          ? Buffer.from([first, mask | 126, said >> 8, said & 255])
          : Buffer.concat([Buffer.from([first, mask | 127]), bigEndian(said)])
    return Buffer.concat([head, isMasked ? Buffer.alloc(4) : Buffer.alloc(0), payload])
  })

function bigEndian(value: number): Buffer {
  const octets = Buffer.alloc(8)
  octets.writeBigUInt64BE(BigInt(value))
  return octets
}

const octets = fc.oneof(
  fc.array(frame, { minLength: 1, maxLength: 80 }).map((frames) => Buffer.concat(frames)),
  fc.uint8Array({ maxLength: 2_000 }).map((bytes) => Buffer.from(bytes)),
)

/** A client that is well behaved so far: an empty close frame, masked. */
const closeFrame = Buffer.from([0x88, 0x80, 0, 0, 0, 0])

test('octets that a client sends after the handshake end its own connection at most', async () => {
  await fc.assert(
    fc.asyncProperty(octets, fc.boolean(), async (bytes, breaksOff) => {
      const { socket, frames } = await openRaw()
      socket.write(bytes)
      if (breaksOff) socket.resetAndDestroy()
      // It waits for the rest of a frame, or it has said goodbye.
      else socket.end(closeFrame)
      if (!socket.closed) await once(socket, 'close')
      await waitUntil('the place to be free', () => world.feed.clientCount === 1)
      // Nothing of what a client says comes back but in pongs and in the code of a close.
      expect(frames().toString('latin1')).not.toMatch(/\.ts:\d+|node_modules/)
    }),
    { numRuns: 150 },
  )
  const heard = witness.heard.length
  world.commits.commit(objectOf('Pool', 'zenith', 'alive', { members: [] }))
  await witness.until('news', ({ length }) => length > heard)
}, 60_000)

const text = fc.string({ maxLength: 30 }).map((one) => one.replaceAll(/[\r\n]/g, ''))
const name = fc.constantFrom(
  'Connection',
  'Upgrade',
  'Sec-WebSocket-Version',
  'Sec-WebSocket-Key',
  'Sec-WebSocket-Extensions',
  'Sec-WebSocket-Protocol',
  'Origin',
  'Content-Length',
  'Host',
)
const value = fc.oneof(
  text,
  fc.constantFrom('Upgrade', 'websocket', 'h2c', '13', 'permessage-deflate', '5', 'null'),
)

test('no handshake of 150 malformed ones makes a 500 or holds a place', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.tuple(name, value), { maxLength: 8 }),
      text,
      async (rows, query) => {
        const [host = '', port = ''] = world.origin.split(':')
        const socket = connect(Number(port), host)
        let got = ''
        socket.on('error', () => undefined)
        socket.on('data', (chunk: Buffer) => (got += chunk.toString('latin1')))
        const lines = rows.map(([key, one]) => `${key}: ${one}`)
        const path = `/api/v1/ws?token=${encodeURIComponent(query.toWellFormed())}`
        const ours = ['Host: x', 'Connection: Upgrade', 'Upgrade: websocket']
        const head = [`GET ${path} HTTP/1.1`, ...ours, ...lines].join('\r\n')
        socket.end(`${head}\r\n\r\n`, 'latin1')
        await once(socket, 'close')
        expect(got).toMatch(/^HTTP\/1\.1 4\d\d /)
        expect(world.feed.clientCount).toBe(1)
      },
    ),
    { numRuns: 150 },
  )
}, 60_000)
