// Tests the feed of rollouts and windows: each step, begin and end is sent at its time.
import { afterEach, beforeEach, expect, test } from 'vitest'
import type { RolloutTrip } from '#routing/time/rollout.ts'
import { unseenOverlays } from '#test/support/api-ports.ts'
import { keyOf } from '#test/support/config-world.ts'
import { feedStartMs, FeedWorld, member, objectOf } from '#test/support/feed-world.ts'
import type { Heard, Listener } from '#test/support/feed-world.ts'

const at = (seconds: number): string => new Date(feedStartMs + seconds * 1_000).toISOString()
const uid = (nth: number): string => `01976c1e-7e5c-7000-8000-00000000000${nth}`
const pool = (fields: object = {}) => {
  const first = member('192.0.2.1', { uid: uid(1), weight: 40, ...fields })
  const members = [first, member('192.0.2.2', { uid: uid(4) })]
  return objectOf('Pool', 'acme', 'web', { members }, uid(5))
}
const ramp = (fields: object = {}) => {
  const steps = [
    { weightPct: 10, holdSeconds: 60 },
    { weightPct: 50, holdSeconds: 60 },
  ]
  const spec = { pool: 'web', memberId: uid(1), startAt: at(10), baseWeight: 40, steps, ...fields }
  return objectOf('Rollout', 'acme', 'ramp', spec, uid(2))
}
const night = (fields: object = {}) => {
  const spec = { resourceType: 'pool', resource: 'web', startAt: at(30), endAt: at(90), ...fields }
  return objectOf('MaintenanceWindow', 'acme', 'night', spec, uid(3))
}

let world: FeedWorld
let trip: RolloutTrip | null
let regressed: () => void
beforeEach(async () => {
  trip = null
  const onRegression = (handler: () => void) => {
    regressed = handler
    return () => undefined
  }
  world = new FeedWorld({
    ports: { overlays: { ...unseenOverlays, trip: () => trip, onRegression } },
  })
  await world.start()
})
afterEach(() => world.stop())

interface Shown {
  readonly ipAddress: string
  readonly weight: number
  readonly enabled: boolean
  readonly declaredWeight: number
  readonly declaredEnabled: boolean
  readonly heldBy: { readonly kind: string; readonly id: string; readonly name: string } | null
}

/** `updated 192.0.2.1 4 of 40 rollout`; `out` for one that is not enabled. */
function inWords({ payload }: Heard): string {
  const { action, member: shown } = payload as { action: string; member: Shown }
  const { ipAddress, weight, declaredWeight, enabled, heldBy } = shown
  const words = [action, ipAddress, `${weight} of ${declaredWeight}`]
  return [...words, ...(enabled ? [] : ['out']), ...(heldBy === null ? [] : [heldBy.kind])].join(
    ' ',
  )
}

const updates = ({ heard }: Listener): string[] =>
  heard.filter(({ type }) => type === 'member_update').map(inWords)

/** Waits for as many updates. @returns those behind `from` */
async function told(listener: Listener, count: number, from = 2): Promise<string[]> {
  await listener.until('updates', () => updates(listener).length >= from + count)
  return updates(listener).slice(from).toSorted()
}

test('each step, begin and end is told when its time comes, and nothing in between', async () => {
  world.commits.commit(pool(), ramp(), night({ members: [uid(1)] }))
  const listener = await world.connect(keyOf('acme'))
  await listener.until('the snapshot', () => updates(listener).length === 2)
  expect(updates(listener)).toEqual(['snapshot 192.0.2.1 40 of 40', 'snapshot 192.0.2.2 1 of 1'])
  const lines = [
    [10, 'updated 192.0.2.1 4 of 40 rollout'],
    [30, 'updated 192.0.2.1 4 of 40 out window'],
    [70, 'updated 192.0.2.1 20 of 40 out window'],
    [90, 'updated 192.0.2.1 20 of 40 rollout'],
  ] as const
  for (const [i, [second, line]] of lines.entries()) {
    world.time.passTo(feedStartMs + second * 1_000 - 1)
    expect(updates(listener)).toHaveLength(2 + i)
    world.time.pass(1)
    expect(await told(listener, 1, 2 + i)).toEqual([line])
  }
  world.commits.commit(pool({ weight: 20 }), ramp({ settled: 'promoted' }), night())
  expect(await told(listener, 1, 6)).toEqual(['updated 192.0.2.1 20 of 20'])
})

test('a window over a pool is one message for each member, in the tenant that has it', async () => {
  world.commits.commit(pool(), night())
  const listener = await world.connect(keyOf('acme'))
  const stranger = await world.connect(keyOf('zenith'))
  await listener.until('the snapshot', () => updates(listener).length === 2)
  world.time.passTo(feedStartMs + 30_000)
  expect(await told(listener, 2)).toEqual([
    'updated 192.0.2.1 40 of 40 out window',
    'updated 192.0.2.2 1 of 1 out window',
  ])
  // That it is written down changes nobody; that one is taken out of it does.
  world.commits.commit(pool(), night({ members: [uid(1), uid(4)] }))
  world.commits.commit(pool(), night({ members: [uid(4)] }))
  expect(await told(listener, 1, 4)).toEqual(['updated 192.0.2.1 40 of 40'])
  expect(updates(stranger)).toEqual([])
})

test('a regression is told when it is seen, and its commit once more', async () => {
  world.commits.commit(pool(), ramp())
  const listener = await world.connect(keyOf('acme'))
  world.time.passTo(feedStartMs + 20_000)
  expect(await told(listener, 1)).toEqual(['updated 192.0.2.1 4 of 40 rollout'])
  trip = { atMs: feedStartMs + 20_000, reason: 'it is ill' }
  regressed()
  expect(await told(listener, 1, 3)).toEqual(['updated 192.0.2.1 40 of 40 rollout'])
  world.commits.commit(pool(), ramp({ settled: 'rolled_back' }))
  expect(await told(listener, 1, 4)).toEqual(['updated 192.0.2.1 40 of 40'])
})

test('a returning client gets the state of members in a rollout or a window', async () => {
  const revision = world.commits.commit(pool(), night({ members: [uid(1)] }))
  world.feed.listen()
  world.time.passTo(feedStartMs + 40_000)
  const during = await world.connect(keyOf('acme'), revision)
  const line = 'updated 192.0.2.1 40 of 40 out window'
  await during.until('it', () => updates(during).includes(line))
  world.time.passTo(feedStartMs + 100_000)
  const after = await world.connect(keyOf('acme'), revision)
  await after.until('it', () => updates(after).at(-1) === 'updated 192.0.2.2 1 of 1')
  expect(updates(after).findLast((one) => one.includes('192.0.2.1'))).toBe(
    'updated 192.0.2.1 40 of 40',
  )
})

test('a clock that is put on or back is noticed within five seconds', async () => {
  world.commits.commit(
    pool(),
    ramp({ startAt: at(60), steps: [{ weightPct: 50, holdSeconds: 0 }] }),
  )
  const listener = await world.connect(keyOf('acme'))
  await listener.until('the snapshot', () => updates(listener).length === 2)
  world.time.jump(3_600_000)
  world.time.pass(5_000)
  expect(await told(listener, 1)).toEqual(['updated 192.0.2.1 20 of 40 rollout'])
  world.time.jump(-3_600_000)
  world.time.pass(5_000)
  expect(await told(listener, 1, 3)).toEqual(['updated 192.0.2.1 40 of 40'])
})
