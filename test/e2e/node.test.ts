// A whole node on real sockets: activation, refusals, what it says of itself.
import { createSocket } from 'node:dgram'
import { once } from 'node:events'
import { createServer } from 'node:net'
import { describe, expect, test } from 'vitest'
import type { Bundle } from '#bundle/format/bundle.ts'
import { NodeCell } from '#bundle/format/cells.ts'
import { layout } from '#bundle/format/format.ts'
import { loadBundle } from '#bundle/load/load.ts'
import { signBundle } from '#bundle/signature/sign.ts'
import type { Publication } from '#bundle/signature/publication.ts'
import type { RefusalCode } from '#server/node/refusals.ts'
import { encode, newSigningKey, service } from '#test/support/bundle-models.ts'
import { serviceCellIndex, withElement } from '#test/support/damaged-bundle.ts'
import { ask } from '#test/support/dns/client.ts'
import { laneRows } from '#test/support/lane.ts'
import { answerOf, askGeneration, generation, publish } from '#test/support/node-under-test.ts'
import type { NodeOptions } from '#test/support/node-under-test.ts'
import { errorsOf, startedNode } from '#test/support/started-node.ts'
import { tempDir } from '#test/support/temp-dir.ts'
import type { SignedChannelRecord } from '#bundle/signature/channel.ts'

const key = newSigningKey()
const at = (seq: number): Publication => publish(key, generation(seq), { seq })
const start = (options: Partial<NodeOptions> = {}) => startedNode({ trusted: key, ...options })

describe('a node', () => {
  test.each(laneRows([0, 1, 2], (threads) => threads !== 1))(
    'with %i threads refuses until it has a bundle, then answers, UDP and TCP',
    async (threads) => {
      const { node, port } = await start({ threads })
      expect(await askGeneration(port)).toBe('rcode 5')
      expect(await node.activate(at(1))).toEqual({ ok: true, value: 'activated' })
      expect(await askGeneration(port)).toBe(answerOf(1))
      expect(await askGeneration(port, '127.0.0.1', true)).toBe(answerOf(1))
      expect(node.status()).toMatchObject({
        active: { seq: 1 },
        refused: null,
        expired: false,
        swaps: 1,
      })
    },
  )

  test('wakes responders that nobody asks: a swap is shorter than their wait', async () => {
    const { node } = await start({ threads: 2 })
    // A wait is 100 ms, and after a swap at its end the next one has just begun. A busy machine may
    // be late with most of them.
    const enoughMs = 50
    let fastestMs = Infinity
    for (let seq = 1; seq <= 300 && fastestMs >= enoughMs; seq++) {
      const startedMs = performance.now()
      await node.activate(at(seq))
      if (seq > 1) fastestMs = Math.min(fastestMs, performance.now() - startedMs)
    }
    expect(fastestMs).toBeLessThan(enoughMs)
  })

  test('answers from a prepared bundle when its record has come, and after a restart', async () => {
    const dataDir = tempDir('node')
    const { node, port, stop } = await start({ dataDir })
    await node.activate(at(1))
    const second = at(2)
    node.prepare(second.bundle)
    expect(await askGeneration(port)).toBe(answerOf(1))
    expect(node.status()).toMatchObject({ active: { seq: 1 }, swaps: 1 })
    expect(await node.activate(second)).toEqual({ ok: true, value: 'activated' })
    expect(await askGeneration(port)).toBe(answerOf(2))
    await stop()
    expect(await askGeneration((await start({ dataDir })).port)).toBe(answerOf(2))
  })

  test('activates another bundle than the one that it prepared', async () => {
    const { node, port } = await start()
    node.prepare(at(1).bundle)
    expect(await node.activate(at(2))).toEqual({ ok: true, value: 'activated' })
    expect(await askGeneration(port)).toBe(answerOf(2))
  })

  test('an assertion that fails in an adoption leaves the last good bundle serving', async () => {
    const dataDir = tempDir('node')
    const { node, port, stop } = await start({ dataDir, threads: 2 })
    await node.activate(at(1))
    const second = at(2)
    node.prepare(second.bundle)
    // Nobody writes there again; if somebody did, the node would find it when it adopts the bundle.
    second.bundle.fill(0, layout.headerBytes, layout.headerBytes + 100)
    await expect(node.activate(second)).rejects.toThrow('assertion failed: the bundle was loaded')
    for (let i = 0; i < 8; i++) expect(await askGeneration(port)).toBe(answerOf(1))
    expect(node.status()).toMatchObject({ active: { seq: 1 }, swaps: 1 })
    await stop()
    const again = await start({ dataDir })
    expect(await askGeneration(again.port)).toBe(answerOf(1))
    expect(await again.node.activate(at(3))).toEqual({ ok: true, value: 'activated' })
    expect(await askGeneration(again.port)).toBe(answerOf(3))
  })

  test('says in each SOA which record it serves', async () => {
    const { node, port } = await start()
    await node.activate(publish(key, generation(3), { seq: 2 ** 32 + 7 }))
    const reply = await ask({ host: '127.0.0.1', port }, 'test. SOA')
    expect(reply.answer[0]!.rdataText.split(' ')[2]).toBe('7')
  })

  test('counts what it answers, by thread', async () => {
    const { node, port } = await start()
    await node.activate(at(1))
    for (let i = 0; i < 5; i++) await askGeneration(port)
    await askGeneration(port, '127.0.0.1', true)
    const rows = node.counters()
    expect(rows.map(({ udpQueries }) => udpQueries)).toEqual([5, 0])
    expect(rows.map(({ tcpQueries }) => tcpQueries)).toEqual([0, 1])
    for (const { threadId } of rows) expect(threadId).toBeGreaterThan(0)
    expect(node.status().swapPauseMicros).toBeGreaterThan(0)
  })

  test('raises an alarm when its record has expired, and serves on', async () => {
    let nowMs = 5_000
    const clock = { nowMs: () => nowMs, monotonicMs: () => performance.now() }
    const { node, port } = await start({ clock })
    await node.activate(publish(key, generation(1), { seq: 1, expiresAtMs: 6_000 }))
    expect(node.status().expired).toBe(false)
    nowMs = 6_001
    expect(node.status().expired).toBe(true)
    expect(await askGeneration(port)).toBe(answerOf(1))
    const renewed = publish(key, generation(1), { seq: 1, expiresAtMs: 9_000 })
    expect(await node.activate(renewed)).toEqual({ ok: true, value: 'unchanged' })
    expect(node.status()).toMatchObject({ expired: false, swaps: 1 })
  })

  test('closes its port when it stops, and others can have it', async () => {
    const { port, stop } = await start({ threads: 2 })
    await stop()
    const socket = createSocket('udp4')
    const server = createServer()
    socket.bind(port, '127.0.0.1')
    server.listen(port, '127.0.0.1')
    await Promise.all([once(socket, 'listening'), once(server, 'listening')])
    socket.close()
    server.close()
  })
})

describe('a publication is refused', () => {
  const sound = at(5)
  const stranger = newSigningKey()
  const forged = { ...sound.signedRecord, record: { ...sound.signedRecord.record, seq: 6 } }
  const damaged = new Uint8Array(sound.bundle)
  damaged[damaged.length - 400]! ^= 1
  const unknown = new Uint8Array(new SharedArrayBuffer(sound.bundle.length))
  const six = encode(generation(6)).bytes
  unknown.set(withElement(six, 'nodeRow', serviceCellIndex(six, 0, NodeCell.Algorithm), 200))
  signBundle(unknown, key)
  const rows: readonly [title: string, publication: Publication, code: RefusalCode][] = [
    ['without a record', { bundle: sound.bundle } as Publication, 'malformed'],
    [
      'with half a record',
      { ...sound, signedRecord: { record: {} } as SignedChannelRecord },
      'malformed',
    ],
    ['from a stranger', publish(stranger, generation(6), { seq: 6 }), 'unknown-key'],
    ['with a record that was changed', { ...sound, signedRecord: forged }, 'bad-signature'],
    ['that is older', at(4), 'rollback'],
    ['of the same seq and other content', publish(key, generation(9), { seq: 5 }), 'equivocation'],
    [
      'with damaged octets',
      { bundle: damaged, signedRecord: publish(key, generation(5), { seq: 6 }).signedRecord },
      'bad-bundle',
    ],
    ['whose record names another bundle', { ...at(7), bundle: at(8).bundle }, 'digest-mismatch'],
    [
      'whose bundle is signed by a stranger',
      { ...at(7), bundle: publish(stranger, generation(7), { seq: 7 }).bundle },
      'bad-bundle',
    ],
  ]
  const ways = rows.flatMap((row) => [false, true].map((isPrepared) => ({ row, isPrepared })))
  // Prepared, it differs where the bundle is at fault, or another one than the record's.
  const isOfBundle = (code: RefusalCode): boolean => /bundle|digest/.test(code)
  const some = laneRows(ways, ({ row, isPrepared }) => isPrepared === isOfBundle(row[2]))
  test.each(some)('$row.0, prepared: $isPrepared', async ({ row, isPrepared }) => {
    const [, publication, code] = row
    const { node, port, log } = await start({ dataDir: tempDir('node') })
    await node.activate(sound)
    if (isPrepared) node.prepare(publication.bundle)
    const refused = await node.activate(publication)
    expect(refused).toMatchObject({ ok: false, error: { code } })
    expect(node.status()).toMatchObject({ active: { seq: 5 }, refused: { code }, swaps: 1 })
    expect(errorsOf(log)).toHaveLength(1)
    expect(await askGeneration(port)).toBe(answerOf(5))
    expect((await node.activate(at(10))).ok).toBe(true)
    expect(node.status().refused).toBeNull()
  })

  test('when it uses an algorithm of a later version', async () => {
    const { node } = await start()
    const { digest } = bundleIn(unknown)
    const { signedRecord } = publish(key, generation(6), { seq: 6, digest })
    expect(await node.activate({ signedRecord, bundle: unknown })).toMatchObject({
      ok: false,
      error: { code: 'unknown-strategy' },
    })
  })
})

function bundleIn(bytes: Uint8Array): Bundle {
  const loaded = loadBundle(bytes)
  if (!loaded.ok) throw new Error(loaded.error.message)
  return loaded.value
}

test('health is all well without a monitor, and members that are off do not count', async () => {
  const { node } = await start()
  expect(node.memberHealth()).toEqual({
    healthy: 0,
    unhealthy: 0,
    warming: 0,
    unprobed: 0,
    unresolved: 0,
  })
  const model = generation(1)
  const [first, ...rest] = model.pools
  const off = { ...first!, members: first!.members.map((one) => ({ ...one, enabled: false })) }
  await node.activate(
    publish(
      key,
      { ...model, pools: [off, ...rest], services: [service(1, 's0.test.')] },
      { seq: 1 },
    ),
  )
  expect(node.memberHealth()).toEqual({
    healthy: 1,
    unhealthy: 0,
    warming: 0,
    unprobed: 1,
    unresolved: 0,
  })
})
