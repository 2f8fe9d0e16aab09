// Which first keys a control node makes, and where it makes none.
import { expect, test } from 'vitest'
import type { ParentView } from '#dns/dnssec/rollover.ts'
import { planningFirstKeys } from '#node/signing/first-keys.ts'
import type { FirstKeysParts } from '#node/signing/first-keys.ts'

const zone = 'example.org.'
const ds = '1234 13 2 AB'

/** @param read how often it is asked before the configuration has the zone */
function configOf(model: string | undefined, read = 0): FirstKeysParts['config'] {
  let asked = 0
  const dnssec = { enabled: true, ...(model === undefined ? {} : { model }) }
  const zones = [{ name: 'Example.org.', dnssec }]
  const snapshot = { list: () => [{ object: { spec: { zones: asked > read ? zones : [] } } }] }
  return {
    isReady: () => asked++ >= 0,
    snapshot: () => snapshot as unknown as ReturnType<FirstKeysParts['config']['snapshot']>,
  }
}

const plan = (parts: Partial<FirstKeysParts>) =>
  planningFirstKeys({
    ...{ config: configOf('csk'), parentOf: async () => null, signedBefore: () => new Set() },
    ...{ patienceMs: 500, ...parts },
  })(zone)

const parentOf = (view: ParentView | null) => async () => view

test.each([
  ['one key by itself', undefined, null, false],
  ['one key where the model says so', 'csk', { onAll: [], onAny: [] }, false],
  ['a KSK and a ZSK where the model says so', 'kskzsk', { onAll: [], onAny: [] }, true],
])('a zone begins with %s', async (_what, model, view, isSplit) => {
  const made = await plan({ config: configOf(model), parentOf: parentOf(view) })
  expect(made).toEqual({ ok: true, value: { isSplit } })
})

test('the configuration may come after the bundle that signs the zone', async () => {
  expect(await plan({ config: configOf('kskzsk', 2) })).toMatchObject({ value: { isSplit: true } })
  expect(await plan({ config: configOf('kskzsk', 99) })).toMatchObject({
    value: { isSplit: false },
  })
})

test.each([
  [
    'whose parent has a DS record, on one of its servers',
    { parentOf: parentOf({ onAll: [], onAny: [ds] }) },
    /DS record "1234 13 2 AB", and the database has no key of it.*gslbd dnssec import.*keygen/,
  ],
  [
    'that was signed before the start, with keys on other nodes',
    { signedBefore: () => new Set([zone]) },
    /nodes of the role dns may have it as files. Bring these .*gslbd dnssec keygen example.org./,
  ],
])('no first key is made of a zone %s', async (_what, parts, said) => {
  const error = expect.stringMatching(said) as string
  expect(await plan(parts)).toEqual({ ok: false, error })
})

test('a parent that does not say anything in time keeps no zone from its first key', async () => {
  const silent = () => new Promise<null>(() => undefined)
  expect((await plan({ parentOf: silent })).ok).toBe(true)
})
