import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { everythingLicensed } from '#test/support/everything-licensed.ts'
import type { RolloutTrip } from '#routing/time/rollout.ts'
import { unseenOverlays } from '#test/support/api-ports.ts'
import { createApp } from '#api/server/app.ts'
import { createMemoryHealthSignals } from '#state/memory/health-signals.ts'
import { keyOf, startConfigWorld } from '#test/support/config-world.ts'
import type { AnsweredBody, ConfigWorld } from '#test/support/config-world.ts'

const acme = keyOf('acme')
const zenith = keyOf('zenith')
const noSuchId = '01976c1e-7e5c-7000-8000-00000000ffff'
const startMs = Date.UTC(2026, 10, 20, 12)
let nowMs = startMs
const clock = { nowMs: () => nowMs, monotonicMs: () => nowMs }
const trips = new Map<string, RolloutTrip>()
let isLicensed = true

let world: ConfigWorld
let pool: string
let host = 0
beforeAll(async () => {
  world = await startConfigWorld({
    ports: {
      clock,
      healthSignals: createMemoryHealthSignals(clock),
      overlays: { ...unseenOverlays, trip: (uid) => trips.get(uid) ?? null },
      licence: {
        ...everythingLicensed,
        refusal: () => (isLicensed ? undefined : 'rollouts need the tier pro'),
      },
    },
  })
  pool = (await call(acme, 'POST', '/pools', { name: 'web' })).body.id
})
afterEach(() => {
  nowMs = startMs
  isLicensed = true
})
afterAll(() => world.close())

const call: ConfigWorld['call'] = (...args) => world.call(...args)
interface SnapshotBody {
  readonly members: Readonly<Record<string, readonly object[]>>
}

const at = (seconds: number): string => new Date(startMs + seconds * 1000).toISOString()

async function newMember(fields: object = {}): Promise<AnsweredBody> {
  const body = { ipAddress: `192.0.2.${++host}`, port: 80, ...fields }
  return (await call(acme, 'POST', `/pools/${pool}/members`, body)).body
}

describe('maintenance windows', () => {
  const fresh = (resourceId: string, resourceType = 'member') => ({
    resourceType,
    resourceId,
    startAt: at(60),
    endAt: at(120),
  })

  test('a window is scheduled, active, completed by the clock', async () => {
    const { id } = await newMember()
    const made = await call(acme, 'POST', '/maintenance-windows', fresh(id))
    expect(made.status).toBe(201)
    const shown = { id: made.body.id, ...fresh(id), status: 'scheduled', memberIds: [id] }
    expect(made.body).toEqual(shown)
    for (const [second, status] of [
      [59, 'scheduled'],
      [60, 'active'],
      [120, 'completed'],
    ] as const) {
      nowMs = startMs + second * 1000
      const { list } = await call(acme, 'GET', '/maintenance-windows')
      expect(list).toContainEqual({ ...shown, status })
    }
  })

  test('cover the enabled members of a pool', async () => {
    const off = await newMember()
    await call(acme, 'PUT', `/members/${off.id}`, { enabled: false })
    const made = await call(acme, 'POST', '/maintenance-windows', fresh(pool, 'pool'))
    expect(made).toMatchObject({ status: 201, body: { resourceId: pool } })
    expect(made.text).not.toContain(off.id)
    await call(acme, 'DELETE', `/maintenance-windows/${made.body.id}`)
  })

  test('cancelled before it begins, nothing is left of it', async () => {
    const { id } = await newMember()
    const { body } = await call(acme, 'POST', '/maintenance-windows', fresh(id))
    expect((await call(acme, 'DELETE', `/maintenance-windows/${body.id}`)).status).toBe(204)
    expect((await call(acme, 'DELETE', `/maintenance-windows/${body.id}`)).status).toBe(404)
    expect((await call(acme, 'GET', `/members/${id}`)).body).toMatchObject({ enabled: true })
  })

  test('cancelled while it is active, its member stays out', async () => {
    const { id } = await newMember()
    const { body } = await call(acme, 'POST', '/maintenance-windows', fresh(id))
    nowMs = startMs + 61_000
    expect((await call(acme, 'DELETE', `/maintenance-windows/${body.id}`)).status).toBe(204)
    expect((await call(acme, 'GET', `/members/${id}`)).body).toMatchObject({ enabled: false })
  })

  test('cancelled while it is active, a hundred members stay out', async () => {
    const members = Array.from({ length: 100 }, (_, i) => ({ ipAddress: `10.1.0.${i}`, port: 80 }))
    const large = (await call(acme, 'POST', '/pools', { name: 'large' })).body.id
    const adding = members
      .slice(1)
      .map((body) => call(acme, 'POST', `/pools/${large}/members`, body))
    await Promise.all(adding)
    const { body } = await call(acme, 'POST', '/maintenance-windows', fresh(large, 'pool'))
    nowMs = startMs + 61_000
    expect((await call(acme, 'DELETE', `/maintenance-windows/${body.id}`)).status).toBe(204)
    const { list } = await call(acme, 'GET', `/pools/${large}/members`)
    expect(list).toHaveLength(99)
    expect(list.filter(({ enabled }) => enabled !== false)).toEqual([])
  })

  test('while it is active, a member shows that it is out; its entity tag stays', async () => {
    const { id } = await newMember()
    const path = `/members/${id}`
    const before = await call(acme, 'GET', path)
    const { body } = await call(acme, 'POST', '/maintenance-windows', fresh(id))
    const window = { kind: 'window', id: body.id, name: `window-${body.id}` }
    for (const [second, enabled, heldBy] of [
      [59, true, null],
      [60, false, window],
      [119, false, window],
      [120, true, null],
    ] as const) {
      nowMs = startMs + second * 1000
      const held = { enabled, declaredEnabled: true, heldBy }
      const { body: shown, headers } = await call(acme, 'GET', path)
      expect(shown).toEqual({ ...before.body, ...held })
      expect(headers['etag']).toBe(before.headers['etag'])
      const { members } = (await call(acme, 'GET', '/snapshot')).body as unknown as SnapshotBody
      expect(members[pool]).toContainEqual(shown)
      expect((await call(acme, 'GET', `${path}/status`)).body).toMatchObject(held)
      expect((await call(acme, 'GET', `/pools/${pool}/members`)).list).toContainEqual(shown)
    }
  })

  test('fix their members when they begin: members added later stay in', async () => {
    const web = (await call(acme, 'POST', '/pools', { name: 'settled' })).body.id
    const add = async (ipAddress: string) =>
      (await call(acme, 'POST', `/pools/${web}/members`, { ipAddress, port: 80 })).body.id
    const [one, off] = [await add('192.0.2.1'), await add('192.0.2.2')]
    await call(acme, 'PUT', `/members/${off}`, { enabled: false })
    await call(acme, 'POST', '/maintenance-windows', fresh(web, 'pool'))
    nowMs = startMs + 61_000
    const late = await add('192.0.2.3')
    const enabled = async () =>
      (await call(acme, 'GET', `/pools/${web}/members`)).list.map((shown) => shown.enabled)
    expect(await enabled()).toEqual([false, false, true])
    // Recorded by the write above: that one is enabled now does not make it one of them.
    await call(acme, 'PUT', `/members/${off}`, { enabled: true })
    expect(await enabled()).toEqual([false, true, true])
    const [window] = (await call(acme, 'GET', '/maintenance-windows')).list.filter(
      (shown) => (shown as { resourceId?: string }).resourceId === web,
    )
    expect(window).toMatchObject({ memberIds: [one] })
    nowMs = startMs + 121_000
    expect(await enabled()).toEqual([true, true, true])
    expect(late).not.toBe(one)
  })

  test('enabled by hand a member leaves it, disabled by hand it stays out after it', async () => {
    const [back, out] = [await newMember(), await newMember()]
    for (const { id } of [back, out]) await call(acme, 'POST', '/maintenance-windows', fresh(id))
    nowMs = startMs + 61_000
    const enabling = await call(acme, 'PUT', `/members/${back.id}`, { enabled: true })
    expect(enabling).toMatchObject({ status: 200, body: { enabled: true, heldBy: null } })
    await call(acme, 'PUT', `/members/${out.id}`, { enabled: false })
    expect((await call(acme, 'GET', `/members/${back.id}`)).body.enabled).toBe(true)
    nowMs = startMs + 121_000
    expect((await call(acme, 'GET', `/members/${back.id}`)).body.enabled).toBe(true)
    expect((await call(acme, 'GET', `/members/${out.id}`)).body.enabled).toBe(false)
  })

  test('do not disable a member that left by hand when they are cancelled', async () => {
    const { id } = await newMember()
    const { body } = await call(acme, 'POST', '/maintenance-windows', fresh(id))
    nowMs = startMs + 61_000
    await call(acme, 'PATCH', `/members/${id}`, { enabled: null })
    expect((await call(acme, 'DELETE', `/maintenance-windows/${body.id}`)).status).toBe(204)
    expect((await call(acme, 'GET', `/members/${id}`)).body.enabled).toBe(true)
  })

  test.each([
    [{ resourceType: 'zone' }, 'resourceType: must be one of member, pool'],
    [{ resourceId: noSuchId }, 'resourceId: there is no such member'],
    [{ startAt: 'tomorrow' }, 'startAt: '],
    [
      { startAt: 1_796_044_441 },
      'startAt: must be a text such as "2026-01-31T12:00:00Z", not 1796044441',
    ],
    [{ startAt: '2026-11-20T12:00:00' }, 'startAt: '],
    [{ endAt: at(60) }, 'endAt: '],
    [{ endAt: undefined }, 'endAt: is required'],
  ])('%j is refused by field and reason', async (wrong, sentence) => {
    const { id } = await newMember()
    const answer = await call(acme, 'POST', '/maintenance-windows', { ...fresh(id), ...wrong })
    expect(answer.body.error).toContain(sentence)
    expect(answer.status).toBe(400)
  })

  test("another tenant's member has no window, and its windows do not exist", async () => {
    const { id } = await newMember()
    expect((await call(zenith, 'POST', '/maintenance-windows', fresh(id))).status).toBe(400)
    const { body } = await call(acme, 'POST', '/maintenance-windows', fresh(id))
    expect((await call(zenith, 'GET', '/maintenance-windows')).text).toBe('[]')
    expect((await call(zenith, 'DELETE', `/maintenance-windows/${body.id}`)).status).toBe(404)
  })
})

describe('rollouts', () => {
  const steps = [
    { weightPct: 10, holdSeconds: 60 },
    { weightPct: 100, holdSeconds: 0 },
  ]

  async function begin(weight = 50, ramp: readonly object[] = steps) {
    const { id } = await newMember({ weight })
    const made = await call(acme, 'POST', '/rollouts', { memberId: id, steps: ramp })
    return { member: id, made, path: `/rollouts/${made.body.id}` }
  }

  test('a new one is pending, and goes through its steps by the clock', async () => {
    const { member, made, path } = await begin()
    expect(made.status).toBe(201)
    expect(made.body).toEqual({
      id: made.body.id,
      poolId: pool,
      memberId: member,
      state: 'pending',
      currentStep: 0,
      weight: 50,
      baseWeight: 50,
      reason: '',
      baselineRttMs: null,
      startAt: at(5),
      settledAt: null,
      steps,
      regressionPolicy: { minHealthScore: 0, minHealthyMembers: 0, maxRttDeltaMs: 0 },
    })
    for (const [second, currentStep, weight] of [
      [5, 0, 5],
      [65, 1, 50],
    ] as const) {
      nowMs = startMs + second * 1000
      const running = { state: 'running', currentStep, weight }
      expect((await call(acme, 'GET', path)).body).toMatchObject(running)
      expect((await call(acme, 'GET', '/rollouts')).list).toContainEqual(
        (await call(acme, 'GET', path)).body,
      )
    }
  })

  /** The table of decisions: state, decision, status, state after. */
  test.each([
    [[], 0, 'pause', 409, 'pending'],
    [[], 0, 'promote', 409, 'pending'],
    [[], 0, 'abort', 200, 'rolled_back'],
    [[], 10, 'pause', 200, 'paused'],
    [[], 10, 'promote', 200, 'promoted'],
    [[], 10, 'abort', 200, 'rolled_back'],
    [['pause'], 10, 'pause', 409, 'paused'],
    [['pause'], 10, 'promote', 200, 'promoted'],
    [['pause'], 10, 'abort', 200, 'rolled_back'],
    [['promote'], 10, 'pause', 409, 'promoted'],
    [['promote'], 10, 'promote', 409, 'promoted'],
    [['promote'], 10, 'abort', 409, 'promoted'],
    [['abort'], 10, 'pause', 409, 'rolled_back'],
    [['abort'], 10, 'promote', 409, 'rolled_back'],
    [['abort'], 10, 'abort', 409, 'rolled_back'],
  ] as const)(
    'after %j at %i s, %s is %i and leaves it %s',
    async (before, second, decision, status, state) => {
      const { path } = await begin()
      nowMs = startMs + second * 1000
      for (const each of before) {
        expect((await call(acme, 'POST', `${path}/${each}`)).status).toBe(200)
      }
      nowMs += 10
      expect((await call(acme, 'POST', `${path}/${decision}`)).status).toBe(status)
      nowMs += 10
      expect((await call(acme, 'GET', path)).body).toMatchObject({ state })
    },
  )

  test('are over when this node has rolled them back', async () => {
    const { made, path } = await begin()
    nowMs = startMs + 10_000
    const reason = 'score 0.2, at least 0.9 wanted'
    trips.set(made.body.id, { atMs: nowMs, reason })
    expect((await call(acme, 'GET', path)).body).toMatchObject({ state: 'rolled_back', reason })
    expect((await call(acme, 'POST', `${path}/promote`)).status).toBe(409)
  })

  test('a member shows the weight of each step beside its own; its entity tag stays', async () => {
    const { member, made } = await begin()
    const before = await call(acme, 'GET', `/members/${member}`)
    const heldBy = { kind: 'rollout', id: made.body.id, name: `rollout-${made.body.id}` }
    expect(before.body).toMatchObject({ weight: 50, declaredWeight: 50, heldBy: null })
    for (const [second, weight] of [
      [5, 5],
      [65, 50],
    ] as const) {
      nowMs = startMs + second * 1000
      const { body, headers } = await call(acme, 'GET', `/members/${member}`)
      expect(body).toEqual({ ...before.body, weight, heldBy })
      expect(headers['etag']).toBe(before.headers['etag'])
    }
  })

  test.each([
    ['pending', [], 0],
    ['running', [], 10],
    ['paused', ['pause'], 10],
  ])(
    'while it is %s, a weight by hand is refused, and another field is not',
    async (state, decided, second) => {
      const { member, made, path } = await begin()
      nowMs = startMs + second * 1000
      for (const each of decided) await call(acme, 'POST', `${path}/${each}`)
      for (const weight of [90, 50, null]) {
        const refused = await call(acme, 'PATCH', `/members/${member}`, { weight })
        expect(refused).toMatchObject({ status: 409 })
        expect(refused.body.error).toContain(`rollout ${made.body.id} of this member is ${state}`)
      }
      const renamed = await call(acme, 'PUT', `/members/${member}`, { name: 'new', enabled: true })
      expect(renamed).toMatchObject({ status: 200, body: { name: 'new', declaredWeight: 50 } })
    },
  )

  test.each([
    ['promote', 25],
    ['abort', 50],
  ])('%s writes the weight at once, and then one by hand counts', async (decision, left) => {
    const { member, path } = await begin(50, [{ weightPct: 50, holdSeconds: 0 }])
    nowMs = startMs + 10_000
    const decided = await call(acme, 'POST', `${path}/${decision}`)
    expect(decided.body).toMatchObject({ weight: left })
    const settled = { weight: left, declaredWeight: left, heldBy: null }
    expect((await call(acme, 'GET', `/members/${member}`)).body).toMatchObject(settled)
    const changed = await call(acme, 'PUT', `/members/${member}`, { weight: 90 })
    expect(changed).toMatchObject({ status: 200, body: { weight: 90, declaredWeight: 90 } })
    expect((await call(acme, 'GET', `/members/${member}`)).body.weight).toBe(90)
    expect((await call(acme, 'GET', path)).body).toMatchObject({ weight: left, baseWeight: 50 })
    const next = await call(acme, 'POST', '/rollouts', { memberId: member, steps })
    expect(next).toMatchObject({ status: 201, body: { baseWeight: 90, weight: 90 } })
  })

  /**
   * A rollout that ends by the clock is settled by the next write, for which the earlier entity tag
   * is still valid.
   */
  test.each([
    [{ name: 'new' }, 25],
    [{ weight: 90 }, 90],
  ])('after a timed end, %j leaves the weight %i', async (change, weight) => {
    const { member, path } = await begin(50, [{ weightPct: 50, holdSeconds: 60 }])
    nowMs = startMs + 66_000
    const over = await call(acme, 'GET', `/members/${member}`)
    expect(over.body).toMatchObject({ weight: 25, declaredWeight: 50, heldBy: { kind: 'rollout' } })
    const headers = { 'if-match': over.headers['etag']! }
    const changed = await call(acme, 'PUT', `/members/${member}`, change, headers)
    expect(changed.status).toBe(200)
    expect(changed.body).toMatchObject({ weight, declaredWeight: weight, heldBy: null })
    const reason = 'every step has ended'
    expect((await call(acme, 'GET', path)).body).toMatchObject({ state: 'promoted', reason })
    expect((await call(acme, 'GET', path)).body).toMatchObject({ weight: 25, currentStep: 0 })
  })

  test('carry out one of two simultaneous decisions and report it to the other', async () => {
    const { path } = await begin()
    nowMs = startMs + 10_000
    const both = ['promote', 'abort'].map((each) => call(acme, 'POST', `${path}/${each}`))
    const answers = await Promise.all(both)
    expect(answers.map(({ status }) => status).toSorted()).toEqual([200, 409])
    const refused = answers.find(({ status }) => status === 409)!.body.error
    expect(refused).toMatch(/is not possible: the rollout is (promoted|rolled back)/)
  })

  test('a pool that is renamed at the same moment keeps its rollout', async () => {
    const { body } = await call(acme, 'POST', '/pools', { name: 'before' })
    const sent = { ipAddress: '192.0.2.99', port: 80 }
    const { id } = (await call(acme, 'POST', `/pools/${body.id}/members`, sent)).body
    const [renamed, made] = await Promise.all([
      call(acme, 'PUT', `/pools/${body.id}`, { name: 'after' }),
      call(acme, 'POST', '/rollouts', { memberId: id, steps }),
    ])
    expect([renamed.status, made.status]).toEqual([200, 201])
  })

  test('the next rollout of a member begins where the last one ended', async () => {
    const { member, path } = await begin(40)
    const body = { memberId: member, steps: [{ weightPct: 50, holdSeconds: 0 }] }
    expect((await call(acme, 'POST', '/rollouts', body)).status).toBe(409)
    nowMs = startMs + 10_000
    await call(acme, 'POST', `${path}/promote`)
    nowMs += 1_000
    const next = await call(acme, 'POST', '/rollouts', body)
    expect(next).toMatchObject({ status: 201, body: { baseWeight: 40, state: 'pending' } })
    expect((await call(acme, 'GET', path)).body).toMatchObject({ state: 'promoted' })
  })

  test.each([
    [{ memberId: noSuchId }, 'memberId: there is no such member'],
    [{ steps: [] }, 'steps: '],
    [{ steps: [{ weightPct: 101, holdSeconds: 1 }] }, 'steps.0.weightPct: '],
    [{ steps: [{ weightPct: 10 }] }, 'steps.0.holdSeconds: is required'],
    [{ regressionPolicy: { minHealthScore: 2 } }, 'regressionPolicy.minHealthScore: '],
  ])('%j is refused by field and reason', async (wrong, sentence) => {
    const { id } = await newMember()
    const answer = await call(acme, 'POST', '/rollouts', { memberId: id, steps, ...wrong })
    expect(answer.body.error).toContain(sentence)
    expect(answer.status).toBe(400)
  })

  test('the licence decides, and other tenants see nothing', async () => {
    const { path } = await begin()
    expect((await call(zenith, 'GET', path)).status).toBe(404)
    expect((await call(zenith, 'POST', `${path}/abort`)).status).toBe(404)
    expect((await call(zenith, 'GET', '/rollouts')).text).toBe('[]')
    const { id } = await newMember()
    isLicensed = false
    const answer = await call(acme, 'POST', '/rollouts', { memberId: id, steps })
    expect(answer.status).toBe(403)
  })
})

describe('health signals', () => {
  test('the newest word of a source counts until it expires', async () => {
    const { id } = await newMember()
    const path = `/members/${id}/health-signal`
    expect((await call(acme, 'GET', `${path}s`)).text).toBe('[]')
    const said = { source: 'probe-eu', healthy: false, score: 0.5, ttl: 60 }
    const posted = await call(acme, 'POST', path, said)
    const times = { postedAt: startMs / 1000, expiresAt: startMs / 1000 + 60 }
    const shown = { source: 'probe-eu', healthy: false, score: 0.5, ...times }
    expect(posted).toMatchObject({ status: 200, body: shown })
    expect((await call(acme, 'GET', `${path}s`)).list).toEqual([shown])
    nowMs += 1
    await call(acme, 'POST', path, { source: 'probe-eu', healthy: true })
    expect((await call(acme, 'GET', `${path}s`)).list).toMatchObject([{ healthy: true }])
    nowMs += 300_000
    expect((await call(acme, 'GET', `${path}s`)).text).toBe('[]')
  })

  test.each([
    ['vendor_a', { AlarmName: 'cpu', NewStateValue: 'ALARM', Region: 'x' }, 'vendor_a:cpu', false],
    ['vendor_b', { alert_transition: 'recovered', title: 't' }, 'vendor_b:t', true],
    ['generic', { healthy: true }, 'webhook', true],
  ])('%s is read in its own words', async (format, body, source, healthy) => {
    const { id } = await newMember()
    const path = `/members/${id}/health-signal?format=${format}`
    const answer = await call(acme, 'POST', path, body)
    expect(answer).toMatchObject({ status: 200, body: { source, healthy } })
  })

  test.each([
    ['', { healthy: true }, 'source'],
    ['', { source: 'x' }, 'healthy'],
    ['', { source: 'x', healthy: true, ttl: 3_601 }, 'ttl'],
    ['?format=vendor_z', { healthy: true }, 'format: must be one of'],
  ])('with %s, %j is refused', async (query, body, word) => {
    const { id } = await newMember()
    const answer = await call(acme, 'POST', `/members/${id}/health-signal${query}`, body)
    expect(answer.status).toBe(400)
    expect(answer.body.error).toContain(word)
  })

  test('a node without health checks says that it goes by none', async () => {
    const { id } = await newMember()
    const path = `/members/${id}/health-signal`
    const said = { source: 'x', healthy: false }
    expect((await call(acme, 'POST', path, said)).headers).not.toHaveProperty('x-gslb-warnings')
    const without = createApp({ ...world.ports, goesBySignals: false }, [])
    const answer = await without.inject({
      method: 'POST',
      url: `/api/v1${path}`,
      headers: { authorization: `Bearer ${acme}` },
      payload: said,
    })
    expect(answer.statusCode).toBe(200)
    const why = '"this node goes by no signal: health.enabled is false in its settings"'
    expect(answer.headers['x-gslb-warnings']).toBe(`1, ${why};code=signals-off`)
  })

  test("another tenant's member takes no word", async () => {
    const { id } = await newMember()
    const said = { source: 'x', healthy: false }
    expect((await call(zenith, 'POST', `/members/${id}/health-signal`, said)).status).toBe(404)
    expect((await call(zenith, 'GET', `/members/${id}/health-signals`)).status).toBe(404)
  })
})
