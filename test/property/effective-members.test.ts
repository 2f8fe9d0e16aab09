// Tests that shown members match the answers: for any rollouts, windows and instants, the
// configuration as read and its bundle give the same values.
import { hash } from 'node:crypto'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { uidOf } from '#bundle/format/bundle.ts'
import { overlaysOf } from '#bundle/format/overlays.ts'
import { loadBundle } from '#bundle/load/load.ts'
import { createCompiler } from '#compiler/compile.ts'
import { partsIn } from '#config/entry.ts'
import type { ConfigEntry } from '#config/entry.ts'
import { OverlayIndex } from '#config/overlays/effective.ts'
import { createRoutingState } from '#routing/state/candidates.ts'
import { MemberOut } from '#routing/state/state.ts'
import { applyOverlays, overlaysAt } from '#routing/time/overlay.ts'
import { createCommits, objectOf } from '#test/support/feed-world.ts'

const noonMs = Date.UTC(2027, 0, 31, 12)
const count = 4
const uid = (kind: number, nth: number): string => `01976c1e-7e5c-7000-8000-0000000${kind}000${nth}`
const second = fc.integer({ min: 0, max: 40 })
const at = (seconds: number): string => new Date(noonMs + seconds * 1_000).toISOString()

const members = fc.array(fc.record({ weight: fc.nat(9), enabled: fc.boolean() }), {
  minLength: count,
  maxLength: count,
})
const arbitraryRollout = fc.record({
  startAt: second.map(at),
  baseWeight: fc.nat(50),
  steps: fc.array(fc.record({ weightPct: fc.nat(100), holdSeconds: fc.nat(12) }), {
    minLength: 1,
    maxLength: 3,
  }),
  intents: fc.array(
    fc.record({ intent: fc.constantFrom('pause', 'promote', 'abort'), at: second.map(at) }),
    { maxLength: 2 },
  ),
  ...{ trip: fc.option(second), isSettled: fc.boolean() },
})
const arbitraryWindow = fc.record({
  of: fc.integer({ min: -1, max: count - 1 }),
  start: second,
  length: fc.integer({ min: 1, max: 30 }),
  recorded: fc.option(fc.subarray([0, 1, 2, 3])),
})

const world = fc.record({
  members,
  rollouts: fc.array(fc.option(arbitraryRollout), { minLength: count, maxLength: count }),
  windows: fc.array(arbitraryWindow, { maxLength: 3 }),
})
type World = typeof world extends fc.Arbitrary<infer T> ? T : never

function entriesOf({ members: list, rollouts, windows }: World): ConfigEntry[] {
  const spec = list.map((one, i) => ({
    ...{ ipAddress: `192.0.2.${i + 1}`, port: 80, uid: uid(1, i) },
    ...one,
  }))
  return [
    objectOf('Pool', 'acme', 'web', { members: spec }, uid(2, 0)),
    ...rollouts.flatMap((rollout, i) => {
      if (rollout === null) return []
      const { trip: _trip, isSettled, ...fields } = rollout
      const settled = isSettled ? { settled: 'promoted' } : {}
      const body = { pool: 'web', memberId: uid(1, i), ...fields, ...settled }
      return [objectOf('Rollout', 'acme', `ramp${i}`, body, uid(3, i))]
    }),
    ...windows.map(({ of, start, length, recorded }, i) => {
      const resource = of < 0 ? 'web' : uid(1, of)
      const times = { startAt: at(start), endAt: at(start + length) }
      const held = recorded === null ? {} : { members: recorded.map((nth) => uid(1, nth)) }
      const body = { resourceType: of < 0 ? 'pool' : 'member', resource, ...times, ...held }
      return objectOf('MaintenanceWindow', 'acme', `night${i}`, body, uid(4, i))
    }),
  ]
}

function bundleOf(entries: readonly ConfigEntry[]) {
  const files = entries.map(({ path, object }) => {
    const bytes = Buffer.from(JSON.stringify(object))
    const blobId = hash('sha1', bytes)
    return { path, blobId, kind: 'file' as const, sizeBytes: bytes.length, bytes }
  })
  const compiled = createCompiler().compile(files, { commit: '' })
  if (!compiled.ok) throw new Error(JSON.stringify(compiled.diagnostics))
  const loaded = loadBundle(compiled.bundle.bytes)
  if (!loaded.ok) throw new Error(JSON.stringify(loaded.error))
  return loaded.value
}

test('members are shown as they answer', () => {
  fc.assert(
    fc.property(world, fc.array(second, { minLength: 1, maxLength: 4 }), (given, seconds) => {
      const entries = entriesOf(given)
      const { view, commit } = createCommits()
      commit(...entries)
      const snapshot = view.snapshot()
      const [pool] = snapshot.list('Pool')
      const bundle = bundleOf(entries)
      const trips = new Map(
        given.rollouts.flatMap((one, i) =>
          one === null || one.trip === null
            ? []
            : [
                [
                  `${uid(3, i)}@${Date.parse(one.startAt)}`,
                  { atMs: noonMs + one.trip * 1_000, reason: 'it is ill' },
                ] as const,
              ],
        ),
      )
      for (const at of seconds) {
        const nowMs = noonMs + at * 1_000
        const state = createRoutingState(bundle, 1)
        applyOverlays(bundle, state, overlaysAt(overlaysOf(bundle), nowMs, trips))
        const tripOf = (id: string, startAtMs: number) => trips.get(`${id}@${startAtMs}`) ?? null
        const shown = OverlayIndex.of(snapshot).at(nowMs, tripOf)
        for (const member of partsIn('Member', pool!)) {
          const row = given.members.findIndex((_, i) => uidOf(bundle.memberUid, i) === member.uid)
          const { weight, enabled } = shown.of(pool!.uid, member)
          const isOut = (state.memberOut[row]! & MemberOut.Maintenance) !== 0
          expect([weight, enabled]).toEqual([state.memberWeight[row], member.enabled && !isOut])
        }
      }
    }),
  )
})
