// A node and its disk: what it starts from, what it keeps, what it does when the disk fails.
import {
  existsSync,
  mkdirSync,
  readFileSync,
  readdirSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import type { SignedChannelRecord } from '#bundle/signature/channel.ts'
import type { Publication } from '#bundle/signature/publication.ts'
import { newSigningKey } from '#test/support/bundle-models.ts'
import {
  answerOf,
  askGeneration,
  buildNode,
  generation,
  publish,
} from '#test/support/node-under-test.ts'
import type { NodeOptions } from '#test/support/node-under-test.ts'
import { errorsOf, startedNode } from '#test/support/started-node.ts'
import { tempDir } from '#test/support/temp-dir.ts'

const key = newSigningKey()
const at = (seq: number): Publication => publish(key, generation(seq), { seq })
const start = (options: Partial<NodeOptions> = {}) => startedNode({ trusted: key, ...options })

const recordIn = (dataDir: string, name: string): SignedChannelRecord =>
  JSON.parse(readFileSync(join(dataDir, 'node', name), 'utf8')) as SignedChannelRecord
const activeFile = (dataDir: string) => recordIn(dataDir, 'active.json')
const previousFile = (dataDir: string) => recordIn(dataDir, 'previous.json')

describe('after a restart', () => {
  test('the first query is answered from disk', async () => {
    const dataDir = tempDir('node')
    const first = await start({ dataDir })
    await first.node.activate(at(1))
    await first.node.activate(at(2))
    await first.stop()
    const { node, port, log } = await start({ dataDir })
    expect(await askGeneration(port)).toBe(answerOf(2))
    const { signedRecord, bundle } = at(2)
    const { digest } = signedRecord.record
    expect(node.resumePoint()).toEqual({ seq: 2, digest, bundle })
    expect(errorsOf(log)).toEqual([])
  })

  test('an older publication is still a rollback, and going back is a new seq', async () => {
    const dataDir = tempDir('node')
    const first = await start({ dataDir })
    await first.node.activate(at(8))
    await first.stop()
    const { node, port } = await start({ dataDir })
    expect(await node.activate(at(7))).toMatchObject({ error: { code: 'rollback' } })
    expect(await node.activate(publish(key, generation(7), { seq: 9 }))).toMatchObject({ ok: true })
    expect(await askGeneration(port)).toBe(answerOf(7))
  })

  test('a bundle signed by another key is not served', async () => {
    const dataDir = tempDir('node')
    const first = await start({ dataDir })
    await first.node.activate(at(1))
    await first.stop()
    const { port, log } = await start({ dataDir, trusted: newSigningKey() })
    expect(await askGeneration(port)).toBe('rcode 5')
    expect(errorsOf(log)).toHaveLength(1)
  })

  const bundlePath = (dataDir: string, seq: number): string =>
    join(dataDir, 'node', 'bundles', `${at(seq).signedRecord.record.digest}.bundle`)
  const damages: readonly [title: string, damage: (dataDir: string) => void][] = [
    [
      'bundle is cut off',
      (dir) => writeFileSync(bundlePath(dir, 2), readFileSync(bundlePath(dir, 2)).subarray(0, 900)),
    ],
    ['bundle is empty', (dir) => writeFileSync(bundlePath(dir, 2), '')],
    ['bundle is gone', (dir) => rmSync(bundlePath(dir, 2))],
    [
      'bundle is another one',
      (dir) => writeFileSync(bundlePath(dir, 2), readFileSync(bundlePath(dir, 1))),
    ],
    [
      'record is half written',
      (dir) => writeFileSync(join(dir, 'node', 'active.json'), '{"record":{'),
    ],
    [
      'record is a directory',
      (dir) => {
        rmSync(join(dir, 'node', 'active.json'))
        mkdirSync(join(dir, 'node', 'active.json'))
      },
    ],
  ]
  test.each(damages)('the previous bundle serves when the active %s', async (_title, damage) => {
    const dataDir = tempDir('node')
    const first = await start({ dataDir })
    await first.node.activate(at(1))
    await first.node.activate(at(2))
    await first.stop()
    damage(dataDir)
    const second = await start({ dataDir })
    expect(await askGeneration(second.port)).toBe(answerOf(1))
    expect(errorsOf(second.log).join()).toContain('the stored active bundle is not used')
    rmSync(join(dataDir, 'node', 'active.json'), { recursive: true })
    // What works again is kept, and the way back from it is what served.
    expect((await second.node.activate(at(3))).ok).toBe(true)
    expect(previousFile(dataDir).record.seq).toBe(1)
    expect(activeFile(dataDir).record.seq).toBe(3)
    await second.stop()
    const third = await start({ dataDir })
    expect(await askGeneration(third.port)).toBe(answerOf(3))
  })

  test('the same publication mends a damaged bundle', async () => {
    const dataDir = tempDir('node')
    const first = await start({ dataDir })
    await first.node.activate(at(1))
    await first.node.activate(at(2))
    await first.stop()
    writeFileSync(bundlePath(dataDir, 2), 'rubbish')
    const second = await start({ dataDir })
    expect(await second.node.activate(at(2))).toEqual({ ok: true, value: 'activated' })
    await second.stop()
    const third = await start({ dataDir })
    expect(await askGeneration(third.port)).toBe(answerOf(2))
    expect(errorsOf(third.log)).toEqual([])
  })
})

describe('the disk', () => {
  test('holds the renewed record', async () => {
    const dataDir = tempDir('node')
    const { node } = await start({ dataDir })
    await node.activate(at(1))
    await node.activate(publish(key, generation(1), { seq: 1, expiresAtMs: 5_000_000_000_000 }))
    expect(activeFile(dataDir).record.expiresAtMs).toBe(5_000_000_000_000)
    expect(existsSync(join(dataDir, 'node', 'previous.json'))).toBe(false)
  })

  test('that cannot be written to does not keep a bundle from serving', async () => {
    const dataDir = tempDir('node')
    const { node, port, log } = await start({ dataDir })
    await node.activate(at(1))
    await node.activate(at(2))
    const bundles = join(dataDir, 'node', 'bundles')
    const kept = readdirSync(bundles).map(
      (file) => [file, readFileSync(join(bundles, file))] as const,
    )
    rmSync(bundles, { recursive: true })
    writeFileSync(bundles, 'a file where a directory should be')
    expect((await node.activate(at(3))).ok).toBe(true)
    expect(await askGeneration(port)).toBe(answerOf(3))
    expect(errorsOf(log).join()).toContain('the bundle cannot be stored')
    expect(activeFile(dataDir).record.seq).toBe(2)
    // The disk is back: the way back names a bundle that is there, not the one that was lost.
    rmSync(bundles)
    mkdirSync(bundles)
    for (const [file, octets] of kept) writeFileSync(join(bundles, file), octets)
    await node.activate(at(4))
    expect(activeFile(dataDir).record.seq).toBe(4)
    expect(existsSync(join(bundles, `${previousFile(dataDir).record.digest}.bundle`))).toBe(true)
  })

  test('that has room again gets the bundle that it has refused', async () => {
    const dataDir = tempDir('node')
    const { node, log } = await start({ dataDir })
    await node.activate(at(1))
    const bundles = join(dataDir, 'node', 'bundles')
    renameSync(bundles, `${bundles}.away`)
    writeFileSync(bundles, 'a file where a directory should be')
    await node.activate(at(2))
    node.retryStore()
    expect([node.status().isStored, errorsOf(log).length]).toEqual([false, 1])
    rmSync(bundles)
    renameSync(`${bundles}.away`, bundles)
    node.retryStore()
    expect([node.status().isStored, errorsOf(log).length]).toEqual([true, 1])
    expect([activeFile(dataDir).record.seq, previousFile(dataDir).record.seq]).toEqual([2, 1])
  })

  test('that has no directory for the node is said at once', () => {
    const dataDir = tempDir('node')
    writeFileSync(join(dataDir, 'node'), '')
    expect(() => buildNode({ trusted: key, dataDir })).toThrow(/EEXIST|ENOTDIR/)
  })
})
