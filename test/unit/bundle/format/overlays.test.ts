import { readdirSync, readFileSync } from 'node:fs'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { BundleColumns } from '#bundle/format/bundle.ts'
import { RolloutCell, WindowCell } from '#bundle/format/cells.ts'
import { bundleLimits } from '#bundle/format/limits.ts'
import { loadBundle } from '#bundle/load/load.ts'
import type { BundleModel } from '#bundle/format/model.ts'
import { overlaysOf, parseRollout, parseWindow } from '#bundle/format/overlays.ts'
import { addressOfMember } from '#bundle/format/bundle.ts'
import { bundleOf, encode, pool, smallModel, uid } from '../../../support/bundle-models.ts'
import { withElement } from '../../../support/damaged-bundle.ts'
import { maintenance, rollout } from '../../../support/overlay-node.ts'

/** IPv6 and IPv4 members in turns, in pools that the encoder will sort the other way round. */
const model: BundleModel = {
  ...smallModel,
  services: [],
  pools: [
    pool(9, ['2001:db8::1', '192.0.2.1', '2001:db8::2', '192.0.2.2']),
    pool(3, ['198.51.100.1', '2001:db8::3']),
  ],
  rollouts: [
    rollout({ uid: uid(7), pool: 0, member: 2 }),
    rollout({ uid: uid(5), pool: 1, member: 0 }),
    rollout({ uid: uid(6), pool: 0, member: 3 }),
  ],
  windows: [
    maintenance({ uid: uid(9), pool: 0, member: 0 }),
    maintenance({ uid: uid(8), pool: 1, member: -1 }),
    maintenance({ uid: uid(4), pool: 1, member: 1 }),
  ],
}

describe('rollouts and windows', () => {
  const bundle = bundleOf(model)
  const { rollouts, windows } = overlaysOf(bundle)
  const addressAt = (member: number): string => (member < 0 ? '*' : addressOfMember(bundle, member))

  test('are read back in the order of their uids, with the rows of their members', () => {
    expect(rollouts.map(({ uid: id, member }) => [id, addressAt(member)])).toEqual([
      [uid(5), '198.51.100.1'],
      [uid(6), '192.0.2.2'],
      [uid(7), '2001:db8::2'],
    ])
    expect(windows.map(({ uid: id, pool, member }) => [id, pool, addressAt(member)])).toEqual([
      [uid(4), 0, '2001:db8::3'],
      [uid(8), 0, '*'],
      [uid(9), 1, '2001:db8::1'],
    ])
  })

  test('keep every field', () => {
    const { pool: _pool, member: _member, ...fields } = model.rollouts[0]!
    expect(rollouts[2]).toMatchObject(fields)
    const { startAtMs, endAtMs, name, tenant } = model.windows[0]!
    expect(windows[2]).toMatchObject({ startAtMs, endAtMs, name, tenant })
  })

  test('cost nothing where there are none', () => {
    const { rolloutRow, windowRow } = bundleOf(smallModel)
    expect([rolloutRow.length, windowRow.length]).toEqual([0, 0])
  })
})

describe('rows are refused whose digests fit but', () => {
  const { bytes } = encode(model)
  const rows: readonly [keyof BundleColumns, index: number, value: number, fault: string][] = [
    ['rolloutRow', RolloutCell.Member, 6, 'rollout 0 points outside'],
    ['rolloutRow', RolloutCell.Text, 0, 'rollout 0 is none'],
    ['rolloutRow', RolloutCell.Text, 2 ** 32 - 1, 'rollout 0 is none'],
    ['windowRow', WindowCell.Pool, 2, 'window 0 points outside'],
    ['windowRow', WindowCell.Member, 2 ** 32 - 1, 'window 0 points outside'],
    ['windowRow', WindowCell.Member, 5, 'window 0 points outside'],
    ['windowRow', WindowCell.Text, 1, 'window 0 is none'],
  ]
  test.each(rows)('%s %i is %i', (name, index, value, fault) => {
    const loaded = loadBundle(withElement(bytes, name, index, value))
    expect(loaded.ok ? 'loaded' : loaded.error.message).toContain(fault)
  })
})

describe('a text is read with care', () => {
  const { pool: _p, member: _m, ...rolloutText } = rollout()
  const { pool: _q, member: _n, members: _h, ...windowText } = maintenance()
  const intent = { intent: 'pause', atMs: 5 }
  const step = { weightPct: 5, holdSeconds: 5 }
  const policy = rolloutText.regressionPolicy

  test.each([
    ['a weight above the most', { baseWeight: bundleLimits.weightMax + 1 }],
    ['a weight that is no number', { baseWeight: '4' }],
    ['a broken weight', { baseWeight: 1.5 }],
    ['a start before all time', { startAtMs: -1 }],
    ['a start after all time', { startAtMs: 1e18 }],
    ['no step', { steps: [] }],
    ['too many steps', { steps: Array(bundleLimits.stepsMax + 1).fill(step) }],
    ['more than all of the weight', { steps: [{ ...step, weightPct: 101 }] }],
    ['a step that ends before it starts', { steps: [{ ...step, holdSeconds: -1 }] }],
    ['too many intents', { intents: Array(bundleLimits.intentsMax + 1).fill(intent) }],
    ['an intent of the future', { intents: [{ ...intent, intent: 'resume' }] }],
    ['intents out of order', { intents: [intent, { ...intent, atMs: 4 }] }],
    ['no policy', { regressionPolicy: null }],
    ['a policy without a field', { regressionPolicy: { minHealthScore: 0 } }],
    ['a policy below zero', { regressionPolicy: { ...policy, maxRttDeltaMs: -1 } }],
    ['a uid that is none', { uid: 'x' }],
    ['an endless name', { name: 'x'.repeat(1_001) }],
  ])('no rollout has %s', (_name, fields) => {
    expect(parseRollout(JSON.stringify(rolloutText))).toEqual(rolloutText)
    expect(parseRollout(JSON.stringify({ ...rolloutText, ...fields }))).toBeUndefined()
  })

  test.each([
    ['an end at its start', { endAtMs: windowText.startAtMs }],
    ['an end before its start', { endAtMs: 0 }],
    ['an end that is no number', { endAtMs: null }],
    ['a tenant that is no text', { tenant: 1 }],
    ['members that are no ids', { members: ['web'] }],
  ])('no window has %s', (_name, fields) => {
    expect(parseWindow(JSON.stringify(windowText))).toEqual(windowText)
    expect(parseWindow(JSON.stringify({ ...windowText, ...fields }))).toBeUndefined()
  })

  test('any text is refused, or every number in it is in range', () => {
    const fields = Object.keys({ ...rolloutText, ...windowText })
    const hostile = fc.oneof(
      fc.json(),
      fc.string(),
      fc
        .tuple(fc.constantFrom(...fields), fc.jsonValue())
        .map(([name, value]) => JSON.stringify({ ...rolloutText, ...windowText, [name]: value })),
    )
    fc.assert(
      fc.property(hostile, (text) => {
        const read = parseRollout(text)
        if (read !== undefined) {
          expect(read.steps.length).toBeGreaterThan(0)
          expect(Number.isSafeInteger(read.baseWeight + read.startAtMs)).toBe(true)
        }
        const window = parseWindow(text)
        if (window !== undefined) expect(window.endAtMs).toBeGreaterThan(window.startAtMs)
      }),
    )
  })

  const folder = new URL('../../../fuzz/corpus/overlay-text/', import.meta.url)
  test.each(readdirSync(folder))('the corpus: %s', (file) => {
    const text = readFileSync(new URL(file, folder), 'utf8')
    expect([parseRollout(text), parseWindow(text)]).toEqual([undefined, undefined])
  })
})
