// The query log of a whole node, in a file: what it says of each answer.
import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { readQueryLog } from '#why/query-log/read-file.ts'
import type { ReadRecord } from '#answer/query-log/dnstap-reader.ts'
import { ask } from '#test/support/dns/client.ts'
import { ecs } from '#test/support/dns/ecs.ts'
import { loggedCommit, loggingNode } from '#test/support/query-log-scene.ts'
import { tempDir } from '#test/support/temp-dir.ts'

function recordsIn(path: string): readonly ReadRecord[] {
  return [...readQueryLog(path)].map((record) => {
    if (!record.ok) throw new Error(record.error)
    return record.value
  })
}

const place = (path: string) => ({ kind: 'file', path, fileBytesMax: 1e9, keptFiles: 2 }) as const

describe.each([0, 1])('with %i threads', (threads) => {
  test('each answer is logged with what chose it, over UDP and TCP', async () => {
    const path = join(tempDir('query-log'), 'log')
    const { node, port, queryLog, finish } = await loggingNode(place(path), {}, threads)
    const at = { host: '127.0.0.1', port }
    const before = Date.now()
    for (const name of ['turns', 'turns', 'dice', 'chain', 'spare', 'down', 'x']) {
      await ask(at, `${name}.test. A`)
    }
    await ask(at, 'turns.test. A', { tcp: true })
    await ask(at, 'elsewhere.example. A')
    const { digest } = node.status().active!
    await finish()
    // Records of the two threads come in any order.
    const records = recordsIn(path).toSorted((a, b) => b.protocol!.localeCompare(a.protocol!))
    const told = records.map(({ name, type, protocol, rcode, extra }) => {
      const { service = '-', pool = '-', reason, turn = '-', fallback = false } = extra!
      return [name, type, protocol, rcode, service, pool, reason, turn, fallback].join(' ')
    })
    expect(told).toEqual([
      'turns.test. A udp NOERROR turns pool-1 round-robin 0 false',
      'turns.test. A udp NOERROR turns pool-1 round-robin 1 false',
      'dice.test. A udp NOERROR dice pool-1 weighted-round-robin - false',
      'chain.test. A udp NOERROR chain pool-1 failover - false',
      'spare.test. A udp NOERROR spare pool-1 failover - true',
      'down.test. A udp NOERROR down pool-2 no-candidate - false',
      'x.test. A udp NXDOMAIN - - nxdomain - false',
      'elsewhere.example. A udp REFUSED - - refused - false',
      'turns.test. A tcp NOERROR turns pool-1 round-robin 2 false',
    ])
    // The third member has no name.
    const turns = records.filter(({ name }) => name === 'turns.test.')
    expect(turns.map(({ extra }) => extra?.member)).toEqual(['fra1', 'ams1', '192.0.2.3'])
    expect(records[3]?.extra?.members).toHaveLength(2)
    for (const { askedMs, client, clientPort, kind, extra } of records) {
      expect([kind, client, clientPort! > 0]).toEqual(['response', '127.0.0.1', true])
      expect(extra).toMatchObject({ commit: loggedCommit, digest, node: 'n1' })
      // The log's clock is compared with one that says whole milliseconds.
      expect(askedMs).toBeGreaterThanOrEqual(before - 1)
      expect(askedMs).toBeLessThanOrEqual(Date.now())
    }
    expect(queryLog.counts()).toMatchObject({ written: 9, droppedFull: 0, droppedAway: 0 })
  })
})

test('addresses of clients are cut where the settings say so, in messages as well', async () => {
  const path = join(tempDir('query-log'), 'log')
  const { port, finish } = await loggingNode(place(path), { truncateClients: true })
  const options = [ecs(1, 32, 0, 'cb007142')]
  const reply = await ask({ host: '127.0.0.1', port }, 'chain.test. A', { opt: { options } })
  expect(reply.rcode).toBe(0)
  await finish()
  const [record] = recordsIn(path)
  expect([record?.client, record?.clientPort, record?.subnet]).toEqual([
    '127.0.0.0',
    undefined,
    '203.0.113.0/32',
  ])
  expect(record?.extra?.truncated).toBe(true)
  for (const octets of [record!.query!, record!.reply!]) {
    expect(Buffer.from(octets).includes(Buffer.from('cb0071', 'hex'))).toBe(true)
    expect(Buffer.from(octets).includes(Buffer.from('cb007142', 'hex'))).toBe(false)
  }
})

test('a file that is full is put aside, and the oldest one goes', async () => {
  const home = tempDir('query-log')
  const to = { ...place(join(home, 'log')), fileBytesMax: 2_000 }
  const { port, finish, queryLog } = await loggingNode(to)
  for (let i = 0; i < 24; i++) {
    await ask({ host: '127.0.0.1', port }, 'turns.test. A')
    // Alone in its write: what comes together is written together.
    await expect.poll(() => queryLog.counts().written).toBe(i + 1)
  }
  await finish()
  expect(readdirSync(home).sort()).toEqual(['log', 'log.1', 'log.2'])
  const turns = ['log.2', 'log.1', 'log'].flatMap((name) =>
    recordsIn(join(home, name)).map(({ extra }) => extra?.turn),
  )
  expect(turns.at(-1)).toBe(23)
  expect(turns).toEqual(Array.from(turns, (_, i) => 24 - turns.length + i))
})
