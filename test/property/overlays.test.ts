// Overlays: what holds for every set of rollouts and windows, and every order of instants.
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { Bundle } from '#bundle/format/bundle.ts'
import type { BundleModel } from '#bundle/format/model.ts'
import { overlaysOf } from '#bundle/format/overlays.ts'
import { createRoutingState, rebuildPool } from '#routing/state/candidates.ts'
import { applyOverlays, overlaysAt } from '#routing/time/overlay.ts'
import type { AppliedOverlays } from '#routing/time/overlay.ts'
import { MemberOut } from '#routing/state/state.ts'
import type { RoutingState } from '#routing/state/state.ts'
import { bundleOf, member, pool, uid } from '#test/support/bundle-models.ts'
import { maintenance, modelWith, noonMs, rollout, rotationOf } from '#test/support/overlay-node.ts'

const sizes = [3, 2]
const instant = fc.integer({ min: noonMs - 100_000, max: noonMs + 500_000 })
const target = fc
  .tuple(fc.nat({ max: sizes.length - 1 }), fc.nat())
  .map(([at, nth]) => ({ pool: at, member: nth % sizes[at]! }))

const arbitraryRollout = fc.record({
  target,
  startAtMs: instant,
  baseWeight: fc.constantFrom(0, 1, 7, 1_000),
  steps: fc.array(
    fc.record({ weightPct: fc.nat({ max: 100 }), holdSeconds: fc.nat({ max: 90 }) }),
    { minLength: 1, maxLength: 4 },
  ),
  intents: fc
    .array(
      fc.record({ intent: fc.constantFrom('pause' as const, 'abort' as const), atMs: instant }),
      { maxLength: 2 },
    )
    .map((list) => list.toSorted((a, b) => a.atMs - b.atMs)),
})
const arbitraryWindow = fc.record({
  target,
  isPool: fc.boolean(),
  startAtMs: instant,
  lengthMs: fc.integer({ min: 1, max: 200_000 }),
})

const arbitraryOverlays = fc
  .record({
    // A member has one rollout.
    rollouts: fc.uniqueArray(arbitraryRollout, {
      maxLength: 4,
      selector: ({ target: { pool: at, member: nth } }) => `${at}/${nth}`,
    }),
    windows: fc.array(arbitraryWindow, { maxLength: 4 }),
    enabled: fc.array(fc.boolean(), { minLength: 5, maxLength: 5 }),
  })
  .map(({ rollouts, windows, enabled }): BundleModel => ({
    ...modelWith({}),
    pools: sizes.map((size, at) =>
      pool(
        at + 1,
        Array.from({ length: size }, (_, nth) =>
          member(`192.0.${at}.${nth + 1}`, { weight: nth * 3, enabled: enabled[at * 3 + nth]! }),
        ),
      ),
    ),
    rollouts: rollouts.map(({ target: of, ...parts }, i) =>
      rollout({ ...parts, ...of, uid: uid(0xa00 + i) }),
    ),
    windows: windows.map(({ target: of, isPool, startAtMs, lengthMs }, i) =>
      maintenance({
        uid: uid(0xb00 + i),
        pool: of.pool,
        member: isPool ? -1 : of.member,
        startAtMs,
        endAtMs: startAtMs + lengthMs,
      }),
    ),
  }))

const noTrips = new Map<string, never>()

function show(bundle: Bundle, state: RoutingState, nowMs: number, before?: AppliedOverlays) {
  const applied = applyOverlays(
    bundle,
    state,
    overlaysAt(overlaysOf(bundle), nowMs, noTrips),
    before,
  )
  for (const stale of applied.staleLists) rebuildPool(bundle, state, stale)
  return applied
}

function seen(bundle: Bundle, state: RoutingState) {
  const lists = sizes.map((_, at) => rotationOf(bundle, state, at))
  return { lists, weights: [...state.memberWeight], out: [...state.memberOut] }
}

describe('for any overlays', () => {
  test('the way to an instant does not matter, only the instant', () => {
    fc.assert(
      fc.property(arbitraryOverlays, fc.array(instant, { minLength: 1 }), (model, instants) => {
        const bundle = bundleOf(model)
        const wandering = createRoutingState(bundle, 1)
        let applied: AppliedOverlays | undefined
        for (const nowMs of instants) applied = show(bundle, wandering, nowMs, applied)
        const fresh = createRoutingState(bundle, 1)
        show(bundle, fresh, instants.at(-1)!)
        expect(seen(bundle, wandering)).toEqual(seen(bundle, fresh))
      }),
    )
  })

  test('without them everything is as it is declared', () => {
    fc.assert(
      fc.property(arbitraryOverlays, instant, (model, nowMs) => {
        const bundle = bundleOf(model)
        const state = createRoutingState(bundle, 1)
        const declared = seen(bundle, state)
        const applied = show(bundle, state, nowMs)
        const none = { rollouts: [], windows: [], nextEventAtMs: Infinity }
        for (const stale of applyOverlays(bundle, state, none, applied).staleLists) {
          rebuildPool(bundle, state, stale)
        }
        expect(seen(bundle, state)).toEqual(declared)
      }),
    )
  })

  test('a member is out exactly while a window over it is open, whoever else holds it out', () => {
    fc.assert(
      fc.property(arbitraryOverlays, instant, (model, nowMs) => {
        const bundle = bundleOf(model)
        const state = createRoutingState(bundle, 1)
        state.memberOut.fill(MemberOut.Warming)
        show(bundle, state, nowMs)
        const open = model.windows.filter(
          ({ startAtMs, endAtMs }) => startAtMs <= nowMs && nowMs < endAtMs,
        )
        for (let row = 0; row < bundle.counts.members; row++) {
          const at = row < sizes[0]! ? 0 : 1
          const nth = at === 0 ? row : row - sizes[0]!
          const isOut = open.some(
            (one) => one.pool === at && (one.member < 0 || one.member === nth),
          )
          expect(state.memberOut[row]).toBe(MemberOut.Warming | (isOut ? MemberOut.Maintenance : 0))
        }
      }),
    )
  })

  test('the state does not change before the announced next event', () => {
    fc.assert(
      fc.property(arbitraryOverlays, instant, (model, nowMs) => {
        const bundle = bundleOf(model)
        const { nextEventAtMs } = overlaysAt(overlaysOf(bundle), nowMs, noTrips)
        const [now, then] = [createRoutingState(bundle, 1), createRoutingState(bundle, 1)]
        show(bundle, now, nowMs)
        show(bundle, then, Math.min(nextEventAtMs - 1, nowMs + 1e9))
        expect(seen(bundle, then)).toEqual(seen(bundle, now))
      }),
    )
  })
})
