// Requests to the API that would send more clients elsewhere than `gslb.yaml` permits.
import { describe, expect, test } from 'vitest'
import { MovedGuard } from '#node/plan/moved-guard.ts'
import { goneBackTo } from '#node/plan/effects.ts'
import type { MovedFrom } from '#node/plan/effects.ts'
import { ConfigIndex } from '#config/object-index.ts'
import { systemClock } from '#lib/clock.ts'
import type { MoveLimits } from '#compiler/lower/name-outline.ts'
import type { ConfigWriter, WriteRequest } from '#config/operation.ts'
import { err, ok } from '#lib/result.ts'

const request: WriteRequest = {
  requestId: 'r',
  actor: { name: 'user:1', email: 'ann@example.com', address: 'user-1@users.gslbd' },
  operations: [],
}
const dry = { ...request, isDryRun: true } as const
const limited = new Map([
  ['acme', 50],
  ['*', 10],
])
const meant = { ...request, override: 'a new site' } as const
const told = { revision: 'c', isChanged: true, objects: [], warnings: [], affected: [] }

const none: MoveLimits = { all: null, tenants: new Map() }
const limitOf = (all: number | null): MoveLimits => ({ ...none, all })

const around = {
  log: { warn: () => undefined },
  config: () => ConfigIndex.empty,
  movedFrom: async () => undefined,
  clock: systemClock,
}

/**
 * @param percent of the clients of www, acme's; undefined: it cannot be told
 * @param shares of them, from each of the commits that answered before, newest first
 */
function scene(
  limits: MoveLimits,
  percent: number | undefined,
  shares: readonly (number | undefined)[] = [],
) {
  const earlier = shares.map((_, i) => ({
    ...{ commit: `${i}`.repeat(40), untilMs: 0, bundle: new Uint8Array(1) },
  }))
  const share = (percent ?? 0) / 100
  const moved = [{ name: 'www.example.com.', tenant: 'acme', share }]
  const effect = `moved=${percent}%; names=1`
  const asked: WriteRequest[] = []
  const writer: ConfigWriter = {
    write: async (one) => {
      if (one.wantsEarlier === true) return ok({ ...told, bundle: would, earlier })
      asked.push(one)
      return ok(one.isDryRun === true && percent !== undefined ? { ...told, effect, moved } : told)
    },
  }
  const warned: object[] = []
  const log = { warn: (fields: object, text: string) => void warned.push({ ...fields, text }) }
  const movedFrom: MovedFrom = async (bundle) => {
    const back = shares[earlier.findIndex((one) => one.bundle === bundle)]
    return back === undefined ? undefined : back === 0 ? [] : [{ ...moved[0]!, share: back }]
  }
  const parts = { ...around, writer, limits: () => limits, log, movedFrom }
  return { guard: new MovedGuard(parts), asked, warned }
}

const would = new Uint8Array(1)

describe('a write', () => {
  test.each<[label: string, limits: MoveLimits, percent: number]>([
    ['that moves as many as may', limitOf(50), 50],
    ['that moves nobody', limitOf(0), 0],
    ['of a tenant that may more than others', { ...none, tenants: limited }, 50],
  ])('%s is planned and made', async (_label, limits, percent) => {
    const { guard, asked, warned } = scene(limits, percent)
    const effect = `moved=${percent}%; names=1`
    expect(await guard.write(request)).toEqual(ok({ ...told, effect }))
    expect(asked).toEqual([dry, request])
    expect(warned).toEqual([])
  })

  test('that cannot be planned in time is made, and says that nobody has judged it', async () => {
    const { guard, asked, warned } = scene(limitOf(30), undefined)
    const unjudged = ok({ ...told, effect: 'moved=unknown' })
    expect(await guard.write(dry)).toEqual(unjudged)
    expect(warned).toEqual([])
    expect(await guard.write(request)).toEqual(unjudged)
    expect(asked).toEqual([dry, dry, request])
    expect(warned).toEqual([
      {
        ...{ requestId: 'r', actor: 'user:1', userEmail: 'ann@example.com' },
        ...{ revision: 'c', movedClients: 30 },
        text: expect.stringContaining('without being judged by guardrails.movedClients') as string,
      },
    ])
  })

  test.each<[label: string, limits: MoveLimits, percent: number, words: RegExp]>([
    ['the whole', limitOf(50), 50.1, /^This would send 50.1 % of the clients of www\.[^,]*, more/],
    ['hardly anybody', limitOf(0), 0.04, /^This would send 0.040 % of the clients of www\./],
    ['its tenant', { all: 90, tenants: limited }, 60.5, /50 %, of tenant "acme" \(guardrails.ten/],
    ['each tenant', { ...none, tenants: new Map([['*', 10]]) }, 10.5, /10 %, of tenant "acme"/],
  ])('that moves more than the limit of %s is refused', async (_label, limits, percent, words) => {
    for (const one of [request, dry]) {
      const { guard, asked } = scene(limits, percent)
      const done = await guard.write(one)
      expect(done.ok ? undefined : done.error).toMatchObject({
        code: 'guarded',
        guardrail: 'movedClients',
        message: expect.stringMatching(words) as string,
      })
      expect(done.ok ? '' : done.error.message).toContain('X-Gslb-Override: REASON')
      expect(asked).toEqual([dry])
    }
  })

  test.each<[label: string, shares: readonly (number | undefined)[], backTo: string | undefined]>([
    ['to what answered just before', [0], '0'],
    ['to an earlier one', [0.9, undefined, 0], '2'],
    ['to nothing that answered', [0.9, 0.6], undefined],
  ])('that goes back %s', async (_label, shares, found) => {
    const { guard, asked } = scene(limitOf(50), 100, shares)
    const done = await guard.write(request)
    const tried = await guard.write(dry)
    expect(tried.ok).toBe(done.ok)
    if (found === undefined) {
      expect(done.ok ? '' : done.error.code).toBe('guarded')
      expect(asked).toEqual([dry, dry])
      return
    }
    const backTo = found.repeat(40)
    const effect = `moved=100%; names=1; back=${found.repeat(10)}`
    expect(done).toEqual(ok({ ...told, effect }))
    expect(tried).toMatchObject(ok({ effect }))
    expect(asked).toEqual([dry, { ...request, backTo }, dry])
  })

  test('is made with a warning where it cannot be told in time that it goes back', async () => {
    const { guard, asked, warned } = scene(limitOf(50), 100, [0.9, undefined])
    const unjudged = ok({ ...told, effect: 'moved=100%; names=1; back=unknown' })
    expect(await guard.write(request)).toEqual(unjudged)
    expect(asked).toEqual([dry, request])
    const text = expect.stringContaining('without being judged') as string
    expect(warned).toEqual([expect.objectContaining({ revision: 'c', text })])
    expect(await guard.write(dry)).toMatchObject(
      ok({ effect: 'moved=100%; names=1; back=unknown' }),
    )
    expect(warned).toHaveLength(1)
  })

  test('is compared with no more of what answered before than ten seconds permit', async () => {
    let nowMs = 0
    const clock = { nowMs: () => nowMs, monotonicMs: () => nowMs }
    const one = { commit: '0', untilMs: 0, bundle: would }
    const moved = [{ name: 'www.example.com.', tenant: 'acme', share: 1 }]
    const slow: MovedFrom = async () => ((nowMs += 6_000), moved)
    const before = { bundle: would, earlier: Array<typeof one>(4).fill(one) }
    const beyond = { limits: limitOf(50), moved }
    expect(await goneBackTo(before, beyond, slow, clock)).toBe('unknown')
    expect(nowMs).toBe(12_000)
    expect(await goneBackTo({ ...before, earlier: [one] }, beyond, slow, clock)).toBeUndefined()
  })

  test('whose effect is wanted is not planned behind four others, and made at once', async () => {
    const { promise: planned, resolve } = Promise.withResolvers<undefined>()
    const asked: string[] = []
    const writer: ConfigWriter = {
      write: async ({ requestId, isDryRun }) => {
        asked.push(`${requestId} ${isDryRun === true ? 'dry' : 'made'}`)
        if (isDryRun === true) await planned
        return ok({ ...told, ...(isDryRun === true ? { effect: 'moved=1%; names=1' } : {}) })
      },
    }
    const guard = new MovedGuard({ ...around, writer, limits: () => none })
    const wanted = (requestId: string) => guard.write({ ...request, requestId, wantsEffect: true })
    const first = ['a', 'b', 'c', 'd'].map(wanted)
    expect(await wanted('e')).toEqual(ok({ ...told, effect: 'moved=unknown' }))
    expect(asked).toEqual(['a dry', 'b dry', 'c dry', 'd dry', 'e made'])
    resolve(undefined)
    for (const done of await Promise.all(first)) {
      expect(done).toEqual(ok({ ...told, effect: 'moved=1%; names=1' }))
    }
    expect(await wanted('f')).toEqual(ok({ ...told, effect: 'moved=1%; names=1' }))
  })

  test('that is meant is made, and is not planned', async () => {
    const { guard, asked } = scene(limitOf(0), 100)
    expect((await guard.write(meant)).ok).toBe(true)
    expect(asked).toEqual([meant])
  })

  const wanted = { ...request, wantsEffect: true } as const
  test.each<[label: string, limits: MoveLimits, percent: number | undefined, effect: string]>([
    ['that is known', none, 12.4, 'moved=12.4%; names=1'],
    ['that cannot be told in time', none, undefined, 'moved=unknown'],
    ['that is judged as well', limitOf(50), 12.4, 'moved=12.4%; names=1'],
  ])(
    'whose effect is wanted is planned and says one %s',
    async (_label, limits, percent, effect) => {
      const { guard, asked } = scene(limits, percent)
      expect(await guard.write(wanted)).toEqual(ok({ ...told, effect }))
      expect(asked).toEqual([{ ...wanted, isDryRun: true }, wanted])
    },
  )

  test('that is meant and whose effect is wanted is made, whatever it moves', async () => {
    const { guard } = scene(limitOf(0), 100)
    const done = await guard.write({ ...wanted, override: 'a new site' })
    expect(done).toEqual(ok({ ...told, effect: 'moved=100%; names=1' }))
  })

  test('costs nothing without a limit', async () => {
    const { guard, asked } = scene(none, 100)
    await guard.write(request)
    await guard.write(dry)
    expect(asked).toEqual([request, dry])
  })

  test('that cannot be made is refused as ever', async () => {
    const failure = { code: 'not-found', message: 'x', operation: 0, diagnostics: [] } as const
    const writer: ConfigWriter = { write: async () => err(failure) }
    const guard = new MovedGuard({ ...around, writer, limits: () => limitOf(10) })
    expect(await guard.write(request)).toEqual(err(failure))
  })
})
