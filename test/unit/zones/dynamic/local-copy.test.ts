import { readFileSync, readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { describe, expect, test } from 'vitest'
import { DynamicDns, copyDelayMs } from '#zones/dynamic/dynamic-dns.ts'
import { createLocalCopy, recordsPerTurn } from '#zones/dynamic/local-copy.ts'
import type { DynamicDnsState, DynamicDnsStore } from '#state/ports/dynamic-dns.ts'
import { ok } from '#lib/result.ts'
import { silentLog } from '#test/support/api-ports.ts'
import { FakeTime } from '#test/support/fake-time.ts'
import { tempDir } from '#test/support/temp-dir.ts'
import { waitUntil } from '#test/support/wait-until.ts'

const stateOf = (records: number, revision = 1): DynamicDnsState => ({
  revisions: { keys: 0, records: revision },
  keys: [],
  records: Array.from({ length: records }, (_, i) => ({
    ...{ id: `r${i}`, tenantId: 'acme', name: `n${i}.example.` },
    ...{ type: 16, rdata: 'AXg=', ttlSeconds: 60, createdAtMs: i, writtenBy: 'system' },
  })),
})

describe.each([
  ['sealed', Buffer.alloc(32, 3)],
  ['plain', null],
])('a %s copy', (_how, key) => {
  const counts = [0, 1, recordsPerTurn, recordsPerTurn + 1, 3 * recordsPerTurn, 1_777]
  test.each(counts)('of %i records can be read back, whole', async (count) => {
    const directory = tempDir('copy')
    const copy = createLocalCopy(join(directory, 'copy'), key, silentLog)
    const state = stateOf(count)
    const done = copy.write(state)
    expect(done === undefined).toBe(count <= recordsPerTurn)
    await done
    expect(copy.read()).toEqual(state)
    copy.writeAtOnce(state)
    expect(copy.read()).toEqual(state)
    expect(readdirSync(directory)).toEqual(['copy'])
  })

  test('of many records gives up its place to one that is written at once', async () => {
    const directory = tempDir('copy')
    const path = join(directory, 'copy')
    const copy = createLocalCopy(path, key, silentLog)
    const done = copy.write(stateOf(5_000))
    await nextTurn()
    const newer = stateOf(600, 2)
    copy.writeAtOnce(newer)
    const written = readFileSync(path, 'utf8')
    await done
    expect(copy.read()).toEqual(newer)
    expect(readFileSync(path, 'utf8')).toBe(written)
    expect(readdirSync(directory)).toEqual(['copy'])
  })
})

test('a copy of many records lets other work go on between its parts', async () => {
  const copy = createLocalCopy(join(tempDir('copy'), 'copy'), Buffer.alloc(32), silentLog)
  let isDone = false
  const done = copy.write(stateOf(10 * recordsPerTurn))!.then(() => (isDone = true))
  let turns = 0
  while (!isDone) {
    await nextTurn()
    turns++
  }
  await done
  expect(turns).toBeGreaterThanOrEqual(10)
})

test('what cannot be written is said, and nothing is left', async () => {
  const lines: string[] = []
  const say = (_fields: object, message: string): number => lines.push(message)
  const directory = tempDir('copy')
  const copy = createLocalCopy(directory, null, { info: say, warn: say, error: say })
  await copy.write(stateOf(recordsPerTurn + 1))
  expect(lines).toEqual([expect.stringMatching(/^the copy of .* cannot be written: /)])
  expect(readdirSync(join(directory, '..')).filter((name) => name.endsWith('.tmp'))).toEqual([])
})

describe('a node with many records', () => {
  const time = new FakeTime(0)

  async function started(path: string): Promise<{ node: DynamicDns; set: (now: number) => void }> {
    let state = stateOf(recordsPerTurn + 1)
    const store = {
      revisions: async () => Promise.resolve(ok(state.revisions)),
      load: async () => Promise.resolve(ok(state)),
    } as unknown as DynamicDnsStore
    const copy = createLocalCopy(path, null, silentLog)
    const { after, clock } = time
    const node = new DynamicDns({
      ...{ store, copy, secretKey: null, now: clock.nowMs, after, log: silentLog },
    })
    await node.refresh()
    return { node, set: (records) => (state = stateOf(records, state.revisions.records + 1)) }
  }
  const revisionIn = (path: string): number | undefined =>
    createLocalCopy(path, null, silentLog).read()?.revisions.records

  test('that stops while they are written leaves the newest of them', async () => {
    const path = join(tempDir('copy'), 'copy')
    const { node, set } = await started(path)
    time.pass(copyDelayMs)
    set(recordsPerTurn + 2)
    await node.refresh()
    node.stop()
    expect(revisionIn(path)).toBe(2)
    expect(time.waiting).toBe(0)
  })

  test('writes what comes meanwhile after it', async () => {
    const path = join(tempDir('copy'), 'copy')
    const { node, set } = await started(path)
    time.pass(copyDelayMs)
    set(3)
    await node.refresh()
    await waitUntil('the second copy', () => {
      time.pass(copyDelayMs)
      return revisionIn(path) === 2
    })
    node.stop()
    expect(time.waiting).toBe(0)
  })
})

test('an older version finds the TXT records of a copy alone, and its own copies are read', () => {
  const path = join(tempDir('copy'), 'copy')
  const copy = createLocalCopy(path, null, silentLog)
  const { records, ...rest } = stateOf(2)
  const address = { ...records[0]!, id: 'a', type: 1, rdata: 'wAACAQ==' }
  copy.writeAtOnce({ ...rest, records: [records[0]!, address, records[1]!] })
  expect(copy.read()).toEqual({ ...rest, records: [...records, address] })
  const written = JSON.parse(readFileSync(path, 'utf8')) as DynamicDnsState
  expect(written.records).toEqual(records)
  const untyped = records.map(({ type: _, ...record }) => record)
  writeFileSync(path, JSON.stringify({ version: 1, ...rest, records: untyped }))
  expect(copy.read()).toEqual({ ...rest, records })
})
