import { once } from 'node:events'
import { createServer } from 'node:net'
import type { AddressInfo } from 'node:net'
import { expect, test } from 'vitest'
import { Random } from '#lib/random.ts'
import { outcomes } from '#health/probes/probe.ts'
import type { Outcome } from '#health/probes/probe.ts'
import { probeTarget } from './check.ts'
import { testProbes } from './probe-table.ts'

const { probes } = testProbes()

const seeds = [
  'HTTP/1.1 200 OK\r\ncontent-length: 11\r\n\r\nall is well',
  'HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n5;x=y\r\nhello\r\n0\r\na: b\r\n\r\n',
  'HTTP/1.0 503 No\r\nserver: x\r\n\r\nbody until the end',
  'HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 204 No Content\r\n\r\n',
  'HTTP/1.1 101 Switching Protocols\r\nconnection: upgrade\r\nupgrade: x\r\n\r\n\0\x01',
  'HTTP/1.1 302 Found\r\nlocation: http://127.0.0.1:1/\r\nset-cookie: a=b\r\n\r\n',
]

/** Changes, drops, doubles and inserts a few bytes. */
function mutate(text: string, random: Random): Buffer {
  const bytes = [...Buffer.from(text, 'latin1')]
  for (let n = random.below(5); n > 0; n--) {
    const at = random.below(bytes.length)
    const edit = random.below(4)
    if (edit === 0) bytes[at] = random.below(256)
    else if (edit === 1) bytes.splice(at, 1 + random.below(8))
    else if (edit === 2) bytes.splice(at, 0, ...bytes.slice(at, at + random.below(40)))
    else bytes.splice(at, 0, 13, 10)
    if (bytes.length === 0) break
  }
  return Buffer.from(bytes)
}

test('each of 1,500 mangled responses ends in one result, and none throws', async () => {
  const seed = 20_261_120
  const random = new Random(seed)
  const server = createServer((socket) => {
    socket.on('error', () => undefined).resume()
    const bytes = mutate(seeds[random.below(seeds.length)]!, random)
    // One in a hundred hangs: each of those takes the whole time limit.
    const ending = random.below(100)
    const cut = random.below(bytes.length + 1)
    socket.write(bytes.subarray(0, cut), () => {
      if (ending < 49) socket.resetAndDestroy()
      else if (ending < 99) socket.end(bytes.subarray(cut))
      else socket.write(bytes.subarray(cut))
    })
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  const seen = new Map<Outcome, number>(outcomes.map((outcome) => [outcome, 0]))
  let reports = 0
  const one = (i: number): Promise<void> =>
    new Promise((resolve) => {
      const check = {
        type: 'http',
        port,
        timeoutMs: 2_000,
        httpExpectedStatus: i % 2 === 0 ? 0 : 200,
        httpContains: i % 3 === 0 ? '' : 'well',
      } as const
      probes.http.run(probeTarget('m1', check), ({ outcome, reason }) => {
        reports++
        seen.set(outcome, seen.get(outcome)! + 1)
        expect(reason.length).toBeLessThan(100)
        resolve()
      })
    })
  let next = 0
  const lane = async (): Promise<void> => {
    while (next < 1_500) await one(next++)
  }
  await Promise.all(Array.from({ length: 20 }, lane))
  const closed = once(server, 'close')
  server.close()
  await closed
  expect(reports).toBe(1_500)
  expect(seen.get('success')).toBeGreaterThan(50)
  expect(seen.get('failure')).toBeGreaterThan(500)
})
