// Credentials of nodes: what is listed, what is signed, and who counts.
import fc from 'fast-check'
import { rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { DriftWatch } from '#fleet/drift.ts'
import {
  credentialLimits,
  isSignedBy,
  keyOfToken,
  newNodeToken,
  readNodeList,
  signedReport,
  uncountedLine,
} from '#fleet/nodes/credentials.ts'
import { createNodeInventory } from '#fleet/node-inventory.ts'
import { NodeList } from '#fleet/nodes/node-list.ts'
import type { UnlistedWay } from '#fleet/nodes/node-list.ts'
import type { NodeReport } from '#fleet/nodes/node-report.ts'
import { readNodeReport } from '#fleet/nodes/node-report.ts'
import { createMemoryPullingNodes } from '#state/memory/pulling-nodes.ts'
import { silentLog } from '#test/support/api-ports.ts'
import { FakeTime } from '#test/support/fake-time.ts'
import { reportOf } from '#test/support/node-reports.ts'
import { valueOf } from '#test/support/store-values.ts'
import { tempDir } from '#test/support/temp-dir.ts'

const { token, listed } = newNodeToken()
const key = keyOfToken(token)!
const line = `far-1 ${listed} canary=true`
const nowMs = 1_800_000_000_000

describe('a list of nodes', () => {
  test('has names, keys and labels, and lines for people', () => {
    const read = readNodeList(`# edge\n\n${line}\n  far-2\t${newNodeToken().listed}  \n`)
    if (!read.ok) throw new Error(read.error)
    expect([...read.value.keys()]).toEqual(['far-1', 'far-2'])
    expect(read.value.get('far-1')?.labels).toEqual({ canary: 'true' })
  })

  test.each([
    ['a name that is none', `-a ${listed}`, /^line 1: it does not begin with the name/],
    ['no key', 'far-1', /^line 1: what follows far-1 is no key/],
    ['a token in the place of the key', `far-1 ${token}`, /is no key/],
    ['a key that is cut', `far-1 ${listed.slice(0, -1)}`, /is no key/],
    ['a label without a value', `far-1 ${listed} canary`, /"canary" is no label/],
    ['a label twice', `far-1 ${listed} a=b a=c`, /label a is there twice/],
    ['a name twice', `${line}\n${line}`, /^line 2: far-1 is there twice/],
  ])('with %s is refused', (_what, text, says) => {
    const read = readNodeList(text)
    expect(read.ok ? '' : read.error).toMatch(says)
  })

  test('is read or refused, whatever its text', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), (text) => {
        expect(typeof readNodeList(`${line} ${text}`).ok).toBe('boolean')
        expect(keyOfToken(text)).toBeUndefined()
      }),
    )
  })
})

describe('a report', () => {
  const row = (() => {
    const read = readNodeList(line)
    if (!read.ok) throw new Error(read.error)
    return read.value.get('far-1')!
  })()
  const report = reportOf('far-1', { sentAtMs: nowMs })
  const sent = JSON.parse(JSON.stringify(signedReport(report, key))) as object
  const holds = (told: object, at = nowMs): boolean => {
    const read = readNodeReport(told)
    return read.ok && isSignedBy(row, told, read.value, at)
  }

  test('is believed as its node has signed it', () => {
    expect(holds(sent)).toBe(true)
  })

  const { ageMsMax } = credentialLimits
  test.each<[what: string, told: object, atMs?: number]>([
    ['nobody has signed', report],
    ['another node has signed', signedReport(report, keyOfToken(newNodeToken().token)!)],
    ['was changed', { ...sent, digest: 'e'.repeat(64) }],
    ['has a field more', { ...sent, more: 1 }],
    ['is of another name', signedReport({ ...report, name: 'far-2' }, key)],
    ['has a signature that is none', { ...sent, signature: 'x'.repeat(88) }],
    ['has a signature that is no text', { ...sent, signature: 7 }],
    ['was recorded long ago', sent, nowMs + ageMsMax + 1],
    ['is of later', sent, nowMs - ageMsMax - 1],
  ])('that %s is not', (_what, told, atMs) => {
    expect(holds(told, atMs)).toBe(false)
  })
})

/** A control node with a list. */
function scene(way: UnlistedWay, text: string | null = line) {
  const time = new FakeTime(nowMs)
  const path = join(tempDir('node-list'), 'nodes')
  if (text !== null) writeFileSync(path, text)
  const told = createMemoryPullingNodes(time.clock)
  const shared = { tell: told.tell, list: async () => valueOf(told.list()) }
  const create = () =>
    createNodeInventory(time.clock, shared, new NodeList(path, way, time.clock, silentLog))
  const inventory = create()
  const watch = new DriftWatch(time.clock, () => undefined)
  const report = (parts: Partial<NodeReport> = {}) =>
    reportOf('far-1', { sentAtMs: time.clock.nowMs(), labels: { said: 'so' }, ...parts })
  const tell = (parts: Partial<NodeReport>, by: typeof key | null): NodeReport | undefined => {
    const sent = JSON.parse(JSON.stringify(signedReport(report(parts), by))) as object
    const read = readNodeReport(sent)
    if (!read.ok) throw new Error(read.error)
    inventory.report(read.value, sent)
    return inventory.counted(read.value, sent)
  }
  const shown = () =>
    watch.look(inventory.all()).map(({ report: { name, labels, seq }, isCounted, drift }) => {
      return { name, labels, seq, isCounted, drift }
    })
  return { time, path, inventory, create, told, tell, shown }
}

describe('a control node that lists a node', () => {
  const other = 'cd'.repeat(8)

  test('counts it with the labels of the list', () => {
    const { tell, shown } = scene('auto')
    expect(tell({}, key)).toMatchObject({ labels: { canary: 'true' } })
    expect(shown()).toMatchObject([{ name: 'far-1', labels: { canary: 'true' }, isCounted: true }])
  })

  test.each([
    ['of a name that nobody knows', { name: 'evil', instance: other, isRefusing: true }],
    ['that takes its name', { instance: other, isRefusing: true, seq: 9 }],
    ['that says that it stops', { isLeaving: true }],
    ['that says to be a control node', { role: 'control', name: 'evil' }],
  ] as const)('shows one %s, and counts it nowhere', (_what, parts) => {
    const { tell, shown } = scene('auto')
    tell({}, key)
    expect(tell(parts, null)).toBeUndefined()
    expect(shown().filter(({ isCounted }) => isCounted)).toEqual([
      { name: 'far-1', labels: { canary: 'true' }, seq: 7, isCounted: true, drift: [] },
    ])
    const strangers = shown().filter(({ isCounted }) => !isCounted)
    expect(strangers.every(({ drift }) => drift.length === 0)).toBe(true)
  })

  test('knows by the signature that a name is its own, also where all count', () => {
    const { inventory } = scene('count')
    const isListed = (by: typeof key | null, name = 'far-1'): boolean => {
      const report = reportOf(name, { sentAtMs: nowMs })
      return inventory.isListed(report, signedReport(report, by))
    }
    expect([isListed(key), isListed(null), isListed(key, 'far-2')]).toEqual([true, false, false])
  })

  test('does not take again what it has said before', () => {
    const { time, inventory, shown } = scene('auto')
    const early = signedReport(reportOf('far-1', { sentAtMs: nowMs, seq: 1 }), key)
    const late = signedReport(reportOf('far-1', { sentAtMs: nowMs + 5, seq: 2 }), key)
    for (const told of [early, late, early]) {
      time.pass(10)
      const read = readNodeReport(told)
      if (read.ok) inventory.report(read.value, told)
    }
    expect(shown()).toMatchObject([{ seq: 2 }])
  })

  test('believes what comes by Redis no more than what comes by HTTP', async () => {
    const { time, told, create, tell } = scene('auto')
    tell({}, key)
    tell({ name: 'evil' }, null)
    const text = JSON.stringify(reportOf('fake', { sentAtMs: nowMs }))
    await told.tell({ key: 'fake', text, atMs: time.clock.nowMs() })
    const second = create()
    await second.refresh()
    const seen = second.all().map(({ report, isCounted }) => [report.name, isCounted])
    expect(seen).toEqual([
      ['fake', false],
      ['far-1', true],
    ])
  })

  test('shows no process of before whose signature is too old to be checked', async () => {
    const { time, create, tell } = scene('auto')
    tell({ instance: other }, key)
    time.pass(credentialLimits.ageMsMax + 60_000)
    const second = create()
    const seen = async () => {
      await second.refresh()
      return second.all().map(({ report, isMissing }) => [report.instance, isMissing])
    }
    expect(await seen(), 'nobody else was heard by that name').toEqual([[other, true]])
    tell({}, key)
    const { instance } = reportOf('far-1')
    expect(await seen()).toEqual([[instance, false]])
  })

  test('reads the list again, and keeps the one before while that has a mistake', () => {
    const { time, path, tell } = scene('auto', null)
    expect(tell({}, null)).toMatchObject({ labels: { said: 'so' } })
    const change = (text: string): void => {
      writeFileSync(path, text)
      time.pass(1_000)
    }
    change(`${line}\n`)
    expect(tell({}, null)).toBeUndefined()
    expect(tell({}, key)).toBeDefined()
    change('no list')
    expect(tell({}, key)).toBeDefined()
    rmSync(path)
    time.pass(1_000)
    expect(tell({}, null)).toMatchObject({ labels: { said: 'so' } })
  })
})

test.each<[UnlistedWay, text: string | null, counts: boolean]>([
  ['auto', null, true],
  ['auto', line, false],
  ['auto', '', false],
  ['auto', '# restored\n', false],
  ['auto', 'no list', false],
  ['count', line, true],
  ['ignore', null, false],
])('node.unlisted: %s, with the list %s', (way, text, counts) => {
  expect(scene(way, text).tell({ name: 'far-9' }, null) !== undefined).toBe(counts)
})

test.each([
  [0, /not listed, or has not signed it.*gslbd node add/],
  [-600_000, /a clock that is 600 s behind the one here.*time synchronization/],
  [600_400, /a clock that is 600 s ahead of the one here/],
])('a report that counts nowhere, by a clock that is off by %i ms', (offMs, line) => {
  expect(uncountedLine(offMs)).toMatch(line)
})
