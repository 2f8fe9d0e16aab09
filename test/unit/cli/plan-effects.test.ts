// Dry runs say what they would move; other writes are left alone.
import { expect, onTestFinished, test } from 'vitest'
import type { BundleModel } from '#bundle/format/model.ts'
import { EffectWriter } from '#node/plan/effects.ts'
import type { ConfigWriter, WriteRequest } from '#config/operation.ts'
import { systemClock } from '#lib/clock.ts'
import { ok } from '#lib/result.ts'
import { noRoutingTables } from '#routing/choose/environment.ts'
import { createRoutingState } from '#routing/state/candidates.ts'
import { bareModel, bundleOf, encode, pool, service, zone } from '#test/support/bundle-models.ts'

const now: BundleModel = {
  ...bareModel,
  zones: [zone('example.org.')],
  pools: [pool(1, ['192.0.2.1', '192.0.2.2', '192.0.2.3'])],
  services: [service(1, 'www.example.org.')],
}
const request: WriteRequest = {
  requestId: 'r',
  actor: { name: 'user:1', address: 'user-1@users.gslbd' },
  operations: [],
}

/** @param next what a dry run would make of it */
function writerOf(next: Uint8Array, jobMs?: number) {
  const bundle = bundleOf(now)
  const live = {
    bundle,
    state: createRoutingState(bundle, 1),
    tables: noRoutingTables,
    commit: 'c',
  }
  const asked: WriteRequest[] = []
  const writer: ConfigWriter = {
    write: async (one) => {
      asked.push(one)
      const told = { revision: 'c', isChanged: true, objects: [], warnings: [], affected: [] }
      return ok(one.wantsBundle === true ? { ...told, bundle: next } : told)
    },
  }
  const parts = { writer, node: () => live, clock: systemClock }
  const effects = new EffectWriter(jobMs === undefined ? parts : { ...parts, jobMs })
  onTestFinished(() => effects.close())
  return { effects, asked }
}

const shrunk = encode({ ...now, pools: [pool(1, ['192.0.2.1', '192.0.2.2'])] }).bytes
const dry = { ...request, isDryRun: true } as const

test('a dry run tells its effect in short', async () => {
  const { effects } = writerOf(shrunk)
  const done = await effects.write(dry)
  expect(done).toMatchObject({ ok: true, value: { effect: 'moved=33.3%; names=1; later=1' } })
  expect(done.ok && done.value.bundle).toBeUndefined()
  // The same thread, and a change that moves nobody.
  const again = await effects.write(dry)
  expect(again).toEqual(done)
})

test('not of a write that is made', async () => {
  const { effects, asked } = writerOf(shrunk)
  const done = await effects.write(request)
  expect(done.ok && done.value.effect).toBeUndefined()
  expect(asked).toEqual([request])
})

test('a bundle that does not load, or a plan that takes long, costs the header alone', async () => {
  for (const [next, jobMs] of [
    [shrunk.subarray(0, 100), undefined],
    [shrunk, 0],
  ] as const) {
    const done = await writerOf(next, jobMs).effects.write(dry)
    expect(done).toMatchObject({ ok: true, value: { revision: 'c' } })
    expect(done.ok && done.value.effect).toBeUndefined()
  }
})
