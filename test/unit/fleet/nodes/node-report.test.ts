// Tests which parts of nodes' reports a control node takes, and which it keeps.
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { createNodeInventory, inventoryLimits } from '#fleet/node-inventory.ts'
import { readNodeReport, reportLimits } from '#fleet/nodes/node-report.ts'
import { createMemoryPullingNodes } from '#state/memory/pulling-nodes.ts'
import { valueOf } from '#test/support/store-values.ts'
import { FakeTime } from '#test/support/fake-time.ts'
import { reportOf } from '#test/support/node-reports.ts'

describe('a report', () => {
  const good = reportOf('far-1')

  test('is taken as it was sent', () => {
    expect(readNodeReport(JSON.parse(JSON.stringify(good)))).toEqual({ ok: true, value: good })
  })

  test('from a newer version is accepted without unknown fields', () => {
    const newer = { ...good, extra: 1, counters: { ...good.counters, other: 2 } }
    expect(readNodeReport(newer)).toEqual({ ok: true, value: good })
  })

  test('from an older version, without a shadow bundle, is accepted', () => {
    const { shadow: _none, ...older } = good
    expect(readNodeReport(older)).toEqual({ ok: true, value: good })
    const shadow = { digest: 'f'.repeat(64), compared: 10, changed: 0.25 }
    const read = readNodeReport({ ...good, shadow: { ...shadow, other: 1 } })
    expect(read).toEqual({ ok: true, value: { ...good, shadow } })
  })

  test('may say when it is told again', () => {
    expect(readNodeReport({ ...good, againMs: 5_000 })).toMatchObject({ value: { againMs: 5_000 } })
    for (const againMs of [-1, '5', 300_001, null]) {
      expect(readNodeReport({ ...good, againMs })).toMatchObject({ ok: false })
    }
  })

  test('has the codes of its health, unless it is from an older version', () => {
    const reasons = ['no-source', 'zone-key-missing']
    expect(readNodeReport({ ...good, reasons })).toMatchObject({ value: { reasons } })
    expect(readNodeReport(good)).not.toHaveProperty('value.reasons')
  })

  test('has no control characters in its sentences', () => {
    const [refusal] = good.refusals
    const read = readNodeReport({ ...good, refusals: [{ ...refusal!, reason: 'a\u001b[31m\n<b' }] })
    expect(read.ok && read.value.refusals[0]!.reason).toBe('a?[31m?<b')
  })

  const refusal = good.refusals[0]!
  const shadowed = { digest: 'f'.repeat(64), compared: 10, changed: 0.25 }
  const labels = (count: number) =>
    Object.fromEntries(Array.from({ length: count }, (_, i) => [`k${i}`, 'v']))
  test.each<[string, string, unknown]>([
    ['nothing', 'JSON object', null],
    ['a list', 'JSON object', []],
    ['no name', 'name', { ...good, name: undefined }],
    ['a name with a space', 'name', { ...good, name: 'a b' }],
    ['a name without an end', 'name', { ...good, name: 'a'.repeat(254) }],
    ['an instance that is a number', 'instance', { ...good, instance: 7 }],
    ['too many labels', 'labels', { ...good, labels: labels(reportLimits.labelsMax + 1) }],
    ['a label that is long', 'labels', { ...good, labels: { site: 'x'.repeat(64) } }],
    ['a label that is a number', 'labels', { ...good, labels: { site: 1 } }],
    ['another role', 'role', { ...good, role: 'king' }],
    ['a seq below zero', 'seq', { ...good, seq: -1 }],
    ['a part of a seq', 'seq', { ...good, seq: 1.5 }],
    ['a seq that has no next', 'seq', { ...good, seq: Number.MAX_SAFE_INTEGER }],
    ['a digest that is none', 'digest', { ...good, digest: '../../..' }],
    ['a time that is no number', 'sentAtMs', { ...good, sentAtMs: '7' }],
    ['a time without an end', 'startedAtMs', { ...good, startedAtMs: 1e300 }],
    ['a shadow without a digest', 'shadow', { ...good, shadow: { compared: 1, changed: 1 } }],
    ['a shadow below zero', 'shadow', { ...good, shadow: { ...shadowed, changed: -1 } }],
    ['a busy ratio above 1', 'busyRatio', { ...good, busyRatio: 1.5 }],
    ['too many refusals', 'refusals', { ...good, refusals: Array(6).fill(refusal) }],
    ['a long reason', 'refusals', { ...good, refusals: [{ ...refusal, reason: 'x'.repeat(301) }] }],
    ['a code that is no word', 'refusals', { ...good, refusals: [{ ...refusal, code: 'A B' }] }],
    ['a code of health that is no word', 'reasons', { ...good, reasons: ['\u001b[31m'] }],
    ['too many codes of health', 'reasons', { ...good, reasons: Array(41).fill('a') }],
    ['a counter below zero', 'counters', { ...good, counters: { ...good.counters, answers: -1 } }],
    ['no counters', 'counters', { ...good, counters: undefined }],
  ])('with %s is refused', (_what, field, value) => {
    expect(readNodeReport(value)).toEqual({
      ok: false,
      error: expect.stringContaining(field) as string,
    })
  })

  test('with any JSON is accepted or refused, and never throws', () => {
    const fields = fc.constantFrom(...Object.keys(good))
    fc.assert(
      fc.property(fields, fc.jsonValue(), (field, value) => {
        const read = readNodeReport({ ...good, [field]: value })
        if (read.ok) expect(JSON.stringify(read.value).length).toBeLessThan(reportLimits.bytesMax)
      }),
      { numRuns: 300, seed: 14 },
    )
  })
})

describe('the inventory', () => {
  const scene = () => {
    const time = new FakeTime(3_000)
    const inventory = createNodeInventory(time.clock)
    const shown = () =>
      inventory
        .all()
        .map(({ report: { name, instance }, ageMs, isMissing, sharesName }) =>
          [
            name,
            instance.slice(0, 1),
            ageMs,
            ...(isMissing ? ['missing'] : []),
            ...(sharesName ? ['shared'] : []),
          ].join(' '),
        )
    return { time, inventory, shown }
  }
  const [one, two] = ['a'.repeat(16), 'b'.repeat(16)]

  test('has the last word of each node by name, and how old it is', () => {
    const { time, inventory, shown } = scene()
    inventory.report(reportOf('far-2'))
    time.pass(10)
    inventory.report(reportOf('far-1'))
    inventory.report(reportOf('far-1', { seq: 8 }))
    expect(shown()).toEqual(['far-1 a 0', 'far-2 a 10'])
    expect(inventory.all()[0]!.report.seq).toBe(8)
    time.pass(inventoryLimits.missingMs)
    expect(shown()[1]).toBe('far-2 a 100010 missing')
    time.pass(inventoryLimits.forgottenMs)
    expect(shown()).toEqual([])
  })

  test('knows how far the clock of a node is off', () => {
    const { inventory } = scene()
    inventory.report(reportOf('far-1', { sentAtMs: 5_500 }))
    expect(inventory.all()[0]!.clockOffsetMs).toBe(2_500)
  })

  test('tells a node that has started again from two of one name', () => {
    const { time, inventory, shown } = scene()
    inventory.report(reportOf('far-1', { instance: one }))
    time.pass(10)
    inventory.report(reportOf('far-1', { instance: two }))
    expect(shown()).toEqual(['far-1 b 0'])
    time.pass(10)
    inventory.report(reportOf('far-1', { instance: one }))
    expect(shown()).toEqual(['far-1 b 10 shared', 'far-1 a 0 shared'])
    time.pass(inventoryLimits.missingMs)
    inventory.report(reportOf('far-1', { instance: two }))
    time.pass(1)
    expect(shown()).toEqual(['far-1 b 1'])
  })

  test('forgets a node that leaves', () => {
    const { inventory, shown } = scene()
    inventory.report(reportOf('far-1'))
    inventory.report(reportOf('far-1', { isLeaving: true }))
    expect(shown()).toEqual([])
  })

  test('knows what other control nodes have heard, as old as it is', async () => {
    const time = new FakeTime(1_800_000_000_000)
    const told = createMemoryPullingNodes(time.clock)
    const shared = { tell: told.tell, list: async () => valueOf(told.list()) }
    const [near, far] = [
      createNodeInventory(time.clock, shared),
      createNodeInventory(time.clock, shared),
    ]
    const sentAtMs = time.clock.nowMs()
    near.report(reportOf('n1', { sentAtMs: sentAtMs + 200 }))
    await told.tell({ key: 'junk', text: '{"name":', atMs: sentAtMs })
    time.pass(3_000)
    far.report(reportOf('n2', { sentAtMs }))
    await far.refresh()
    expect(far.all().map(({ ageMs, clockOffsetMs }) => [ageMs, clockOffsetMs])).toEqual([
      [3_000, 200],
      [0, -3_000],
    ])
    // An old word that is read later does not replace a newer one.
    far.report(reportOf('n1', { seq: 9, sentAtMs: time.clock.nowMs() }))
    const key = `n1 ${'ab'.repeat(8)}`
    await told.tell({ key, text: JSON.stringify(reportOf('n1')), atMs: sentAtMs })
    await far.refresh()
    expect(far.all()[0]).toMatchObject({ ageMs: 0, report: { seq: 9 } })
    near.report(reportOf('n1', { isLeaving: true }))
    await far.refresh()
    expect(far.all().map(({ report }) => report.name)).toEqual(['n2'])
  })

  test('takes so many nodes, and more when old ones are silent', () => {
    const { time, inventory } = scene()
    for (let i = 0; i < inventoryLimits.nodesMax; i++) inventory.report(reportOf(`n${i}`))
    expect(inventory.report(reportOf('more'))).toBe(false)
    expect(inventory.report(reportOf('n7'))).toBe(true)
    time.pass(inventoryLimits.missingMs + 1)
    expect(inventory.report(reportOf('more'))).toBe(true)
    expect(inventory.all().map(({ report }) => report.name)).toEqual(['more'])
  })
})
