// Which first keys a control node makes, and where it makes none.
import { setImmediate } from 'node:timers/promises'
import { expect, test } from 'vitest'
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
    ...{ config: configOf('csk'), dsAtParent: async () => null, nodesAhead: () => [] },
    ...{ signedBefore: () => new Set(), patienceMs: 500, parentMs: 500, ...parts },
  })(zone)

const dsAtParent = (ds: readonly string[] | null) => async () => ds

test.each([
  ['one key by itself', undefined, null, false],
  ['one key where the model says so', 'csk', [], false],
  ['a KSK and a ZSK where the model says so', 'kskzsk', [], true],
])('a zone begins with %s', async (_what, model, ds, isSplit) => {
  const made = await plan({ config: configOf(model), dsAtParent: dsAtParent(ds) })
  expect(made).toEqual({ ok: true, value: { isSplit } })
})

test('the configuration may come after the bundle that signs the zone', async () => {
  expect(await plan({ config: configOf('kskzsk', 2) })).toMatchObject({ value: { isSplit: true } })
})

test('without the configuration nothing is guessed, and no parent is asked', async () => {
  let asked = 0
  const config = configOf('kskzsk', 99)
  const dsOf = async () => (asked++, [])
  const reason = expect.stringMatching(/one or two is in its configuration/) as string
  const none = { ok: false, error: { reason, isSoonOver: true } }
  expect(await plan({ config, dsAtParent: dsOf, patienceMs: 300 })).toEqual(none)
  expect(asked).toBe(0)
})

test.each([
  [
    'whose parent has a DS record, on one of its servers',
    { dsAtParent: dsAtParent([ds]) },
    /DS record "1234 13 2 AB", and the database has no key of it.*gslbd dnssec import.*keygen/,
  ],
  [
    'whose parent says nothing, where nodes have newer keys than the database',
    { nodesAhead: () => ['dns1', 'dns2'] },
    /no server of the parent of example.org. answers, and nodes have newer keys.*: dns1, dns2. /,
  ],
  [
    'that was signed before the start, with keys on other nodes',
    { signedBefore: () => new Set([zone]) },
    /nodes of the role dns may have it as files. Bring these .*gslbd dnssec keygen example.org./,
  ],
])('no first key is made of a zone %s', async (_what, parts, said) => {
  const reason = expect.stringMatching(said) as string
  expect(await plan(parts)).toEqual({ ok: false, error: { reason, isSoonOver: false } })
})

test('a parent that does not say anything in time keeps no zone from its first key', async () => {
  const silent = () => new Promise<null>(() => undefined)
  expect((await plan({ dsAtParent: silent })).ok).toBe(true)
})

test('a parent that says that it has no DS is believed before nodes with newer keys', async () => {
  const parts = { dsAtParent: dsAtParent([]), nodesAhead: () => ['dns1'] }
  expect((await plan(parts)).ok).toBe(true)
})

test('a parent that is later than the configuration is waited for', async () => {
  const late = Promise.withResolvers<string[]>()
  const planned = plan({ dsAtParent: () => late.promise, parentMs: 60_000 })
  await setImmediate()
  late.resolve([ds])
  expect((await planned).ok).toBe(false)
})
