// Tests the effect that a write reports: the figures of a plan, or the reason for their absence.
import { expect, test } from 'vitest'
import type { Bundle } from '#bundle/format/bundle.ts'
import type { BundleModel, ServiceModel } from '#bundle/format/model.ts'
import type { AnswerChange } from '#judge/document/model.ts'
import { createCommitEffects } from '#judge/effects/commit-effects.ts'
import { MovedNames } from '#judge/effects/moved-between.ts'
import { RrType } from '#dns/rrtype.ts'
import { systemClock } from '#lib/clock.ts'
import { Random } from '#lib/random.ts'
import { shortSummary } from '#judge/print/short.ts'
import { QuickEffects, quickLimits } from '#judge/plan/quick-effect.ts'
import type { PlacesState } from '#judge/plan/quick-effect.ts'
import { bareModel, bundleOf, member, pool, service, zone } from '#test/support/bundle-models.ts'
import { laneCount } from '#test/support/lane.ts'
import { planBetween, workBetween } from '#test/support/plans.ts'

const nowMs = Date.UTC(2026, 0, 1)
const quick = (places: PlacesState = 'none'): QuickEffects =>
  new QuickEffects({ nowMs: () => nowMs, places: () => places })

const ways: readonly (readonly [string, Partial<ServiceModel>])[] = [
  ['turns', {}],
  ['dice', { algorithm: 'weighted-round-robin' }],
  ['first', { algorithm: 'failover' }],
  ['sticky', { filterChain: ['sticky'] }],
  ['map', { algorithm: 'map-file' }],
  ['none', { pool: -1 }],
]
const addresses = ['192.0.2.1', '192.0.2.2', '192.0.2.3', '192.0.2.4', '2001:db8::1']

function randomModel(random: Random): BundleModel {
  const pick = <T>(all: readonly T[]): T => all[random.next() % all.length]!
  const pools = [1, 2, 3].map((number) => {
    const own = addresses.filter(() => random.next() % 3 > 0)
    return pool(
      number,
      own.map((ip, i) =>
        member(ip, { weight: 1 + (random.next() % 3), priority: 1 + i, port: pick([443, 8443]) }),
      ),
    )
  })
  const services = ways
    .filter(() => random.next() % 8 > 0)
    .map(([name, parts], i) =>
      service(i + 1, `${name}.example.org.`, {
        ...{ pool: random.next() % 3, ttlSeconds: pick([30, 60]) },
        ...parts,
      }),
    )
  const text = { name: 'txt.example.org.', zone: 0, type: RrType.TXT, ttlSeconds: 60 }
  const rrsets = [{ ...text, rdata: [Buffer.from(`\x02${pick(['v1', 'v2'])}`)] }]
  return { ...bareModel, zones: [zone('example.org.')], pools, services, rrsets }
}

test('a write says the figures that a plan of the same change says, one after the other', () => {
  const random = new Random(laneCount(7, 6))
  const effects = quick()
  let base = randomModel(random)
  let before = bundleOf(base)
  const said = new Set<string>()
  for (let round = 0; round < laneCount(200, 20); round++) {
    const head = random.next() % 5 === 0 ? base : randomModel(random)
    const after = bundleOf(head)
    const effect = effects.between(before, after)
    const [own, planned] = [new MovedNames(), new MovedNames()]
    if (effect.ok) for (const change of effect.changes) own.add(change)
    const onChange = (change: AnswerChange): void => planned.add(change)
    const { summary } = planBetween(base, head, { limits: quickLimits, onChange })
    expect(own.all).toEqual(planned.all)
    const words = effect.ok ? shortSummary(effect.of(null)) : effect.reason
    expect(words).toBe(shortSummary(summary))
    said.add(words)
    // Sometimes another branch of the history: what was compared last is not the base.
    if (random.next() % 4 > 0) [base, before] = [head, after]
  }
  expect(said.size).toBeGreaterThan(laneCount(50, 8))
})

const two = [member('192.0.2.1'), member('192.0.2.2')]
const modelOf = (services: BundleModel['services'], members = two): BundleModel => ({
  ...bareModel,
  zones: [zone('example.org.')],
  pools: [pool(1, members)],
  services,
})
const reasonOf = (
  effects: QuickEffects,
  base: BundleModel | Bundle,
  head: BundleModel | Bundle,
): string => {
  const [one, other] = [base, head].map((each) => ('pools' in each ? bundleOf(each) : each))
  const effect = effects.between(one!, other!)
  return effect.ok ? shortSummary(effect.of(null)) : effect.reason
}

test.each([
  ['a plain service', { algorithm: 'failover' }, 'none', 'moved=100%; names=1; later=1'],
  [
    'a plain service, databases unread',
    { algorithm: 'failover' },
    'unread',
    'moved=100%; names=1; later=1',
  ],
  ['by country, no databases', { algorithm: 'geo-ip' }, 'none', 'moved=100%; names=1; later=1'],
  ['by country, databases unread', { algorithm: 'geo-ip' }, 'unread', 'places'],
  ['by operator, databases unread', { algorithm: 'asn' }, 'unread', 'places'],
  ['by what browsers measured', { filterChain: ['rum'] }, 'none', 'places'],
  ['by round trips of regions', { algorithm: 'latency' }, 'unread', 'places'],
  ['by client networks, databases unread', { algorithm: 'map-file' }, 'unread', 'places'],
] as const)('%s: it is told, or depends on places', (_what, parts, places, expected) => {
  const base = modelOf([service(1, 'www.example.org.', { pool: 0, ...parts })], [two[0]!])
  const head = { ...base, pools: [pool(1, [two[1]!])] }
  expect(reasonOf(quick(places), base, head)).toBe(expected)
})

test('more names than may be asked are not asked', () => {
  const rows = Array.from({ length: quickLimits.namesMax + 1 }, (_, i) =>
    service(i + 1, `s${i}.example.org.`, { pool: 0 }),
  )
  // A comparison asks for the places first, which counts it.
  let comparisons = 0
  const places = () => (comparisons++, 'none' as const)
  const effects = new QuickEffects({ nowMs: () => nowMs, places })
  const [base, head] = [modelOf(rows, [two[0]!]), modelOf(rows)]
  expect([reasonOf(effects, base, head), comparisons]).toEqual(['names', 0])
  const fewer = { ...base, services: rows.slice(1) }
  const fewerNow = { ...head, services: rows.slice(1) }
  const said = `moved=50%; names=${rows.length - 1}; later=1`
  expect([reasonOf(effects, fewer, fewerNow), comparisons]).toEqual([said, 1])
})

test('a few of very many names that differ are not looked for', () => {
  const rows = Array.from({ length: 3 }, (_, i) =>
    service(i + 1, `s${i}.example.org.`, { pool: 0 }),
  )
  const [base, head] = [bundleOf(modelOf(rows, [two[0]!])), bundleOf(modelOf(rows))]
  const parts = { nowMs: () => nowMs, places: () => 'none' as const }
  const some = new Set(['s0.example.org.'])
  const found = (foundMax: number) =>
    new QuickEffects(parts, { foundMax }).between(base, head, some)
  expect(found(rows.length)).toMatchObject({ ok: true, changes: [{ name: 's0.example.org.' }] })
  expect(found(rows.length - 1)).toEqual({ ok: false, reason: 'names' })
})

test('an effect over too many clients ends unfinished', () => {
  const rows = Array.from({ length: 40 }, (_, i) =>
    service(i + 1, `s${i}.example.org.`, { filterChain: ['sticky'], pool: i }),
  )
  const pools = (last: number) =>
    rows.map((_, i) => pool(i + 1, [member(`10.0.${i}.1`), member(`10.0.${i}.${last}`)]))
  const base = { ...modelOf(rows), pools: pools(2) }
  const head = { ...base, pools: pools(3) }
  expect(reasonOf(quick(), base, head)).toBe('networks')
  const { asksMax, rowsMax, networksMax } = quickLimits
  const { names, isSpent } = workBetween(base, head, {
    limits: { networksMax },
    work: { asksMax, rowsMax, takesTables: true },
  })
  expect(isSpent).toBe(true)
  expect(names).toBeLessThan(rows.length)
})

test('a configuration of more names than may be compared is not compared', () => {
  const bundle = bundleOf(modelOf([service(1, 'www.example.org.', { pool: 0 })]))
  const large = { ...bundle, counts: { ...bundle.counts, nodes: quickLimits.comparedMax + 1 } }
  expect(reasonOf(quick(), bundle, large)).toBe('size')
})

test('an author of a shared commit sees only the own names', () => {
  const tenants = ['acme', 'other'].map((tenant, i) =>
    service(i + 1, `${tenant}.example.org.`, { pool: i, tenant }),
  )
  const text = (name: string, value: string) => ({
    ...{ name, zone: 0, type: RrType.TXT, ttlSeconds: 60 },
    rdata: [Buffer.from(`\x02${value}`)],
  })
  const model = (members: number, value: string): BundleModel => ({
    ...modelOf(tenants),
    pools: [
      pool(1, two.slice(0, members), { tenant: 'acme' }),
      pool(2, [...two.slice(1), ...(members > 1 ? [member('192.0.2.7')] : [])], {
        tenant: 'other',
      }),
    ],
    rrsets: [text('a.example.org.', value), text('b.example.org.', value)],
  })
  const bundle = (one: BundleModel) => {
    const { bytes, digest } = bundleOf(one)
    return { bytes, digest }
  }
  const none = { hasDatabases: false, databases: () => null }
  const effects = createCommitEffects(none, { ...systemClock, nowMs: () => nowMs })
  const [before, after] = [bundle(model(1, 'v1')), bundle(model(2, 'v2'))]
  const { text: words } = effects.between(before, after)
  const nobody = new Set<string>()
  expect(words?.(null)).toBe('moved=50%; names=4; later=2')
  expect(words?.({ tenant: 'acme', names: nobody })).toBe('moved=50%; names=1; later=1')
  const own = new Set(['a.example.org.'])
  expect(words?.({ tenant: 'acme', names: own })).toBe('moved=50%; names=2; later=1')
  expect(words?.({ tenant: 'third', names: nobody })).toBe('moved=0%; names=0')
  expect(effects.between(null, after)).toEqual({ moved: 'first' })
})

test('a name that passes from one tenant to another is of both', () => {
  const model = (tenant: string, ip: string): BundleModel => ({
    ...modelOf([service(1, 'www.example.org.', { pool: 0, tenant })]),
    pools: [pool(1, [member(ip)], { tenant })],
  })
  const [base, head] = [model('acme', '192.0.2.1'), model('beta', '192.0.2.2')]
  const effect = quick().between(bundleOf(base), bundleOf(head))
  for (const tenant of ['acme', 'beta', 'third']) {
    const viewer = { tenant, names: new Set<string>() }
    const { summary } = planBetween(base, head, { viewer })
    const words = shortSummary(summary)
    expect([tenant, effect.ok && shortSummary(effect.of(viewer))]).toEqual([tenant, words])
    expect(words.includes('names=1')).toBe(tenant !== 'third')
  }
})
