// Random series of small changes: an encoder that knows the last bundle writes what a fresh one
// writes, to the octet.
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { wireOf } from '#bundle/encode/record-pool.ts'
import { encodeBundle, EncoderMemory } from '#bundle/encode/encode.ts'
import { loadBundle } from '#bundle/load/load.ts'
import type {
  BundleModel,
  ExternalSignalMode,
  PoolModel,
  ResponseRuleModel,
  ServiceModel,
} from '#bundle/format/model.ts'
import { plainCodeOf } from '#routing/choose/ways.ts'
import {
  bareModel,
  closestZone,
  encode,
  healthCheck,
  member,
  pool,
  service,
  uid,
  zone,
} from '#test/support/bundle-models.ts'
import { laneCount } from '#test/support/lane.ts'

const zoneNames = ['example.org.', 'b.example.org.', 'a.c.example.org.', 'net.']
/** Names at apexes, at other names' empty non-terminals, below both, and at wildcards. */
const prefixes = ['', 'a.', 'b.', 'c.', '*.', 'a.b.', '*.b.', 'x.a.', '*.x.a.', 'y.x.*.c.', 'q.']
const domains = zoneNames.flatMap((name) => prefixes.map((prefix) => `${prefix}${name}`))
const uniqueDomains = [...new Set(domains)]

/** `at` chooses among what there is. */
const edit = fc.record({
  verb: fc.constantFrom(
    ...['create', 'create', 'delete', 'delete', 'move', 'rename', 'change', 'pool+', 'pool-'],
    ...['pool rename', 'pool change', 'rules', 'settings', 'glue', 'records', 'nothing'],
  ),
  at: fc.nat(),
  other: fc.nat(),
})
type Edit = typeof edit extends fc.Arbitrary<infer E> ? E : never

const withZone = (model: BundleModel, one: ServiceModel): ServiceModel => ({
  ...one,
  zone: closestZone(model.zones, one.domain.replace(/^\*\./, '')),
})

function freeDomain({ services }: BundleModel, number: number): string | undefined {
  const free = uniqueDomains.filter((domain) => services.every((one) => one.domain !== domain))
  return free[number % free.length]
}

const picked = <T>(items: readonly T[], at: number): T => items[at % items.length]!
const replaced = <T>(items: readonly T[], old: T, ...by: readonly T[]): T[] =>
  items.flatMap((one) => (one === old ? by : [one]))
const inserted = <T>(items: readonly T[], at: number, one: T): T[] =>
  items.toSpliced(at % (items.length + 1), 0, one)

function editServices(model: BundleModel, { verb, at, other }: Edit, step: number): BundleModel {
  const { services } = model
  const domain = freeDomain(model, other)
  if (verb === 'create') {
    if (domain === undefined) return model
    const made = withZone(model, service(at % 0xff, domain, { uid: uid(0x100000 + other + step) }))
    if (services.some((one) => one.uid === made.uid)) return model
    return { ...model, services: inserted(services, at, made) }
  }
  if (services.length === 0) return model
  const one = picked(services, at)
  if (verb === 'delete') return { ...model, services: replaced(services, one) }
  const next =
    verb === 'move'
      ? withZone(model, { ...one, domain: domain ?? one.domain })
      : verb === 'rename'
        ? { ...one, name: `named Größe ${other % 50}` }
        : { ...one, ttlSeconds: other % 4, algorithm: 'failover', answerCount: 1 + (other % 2) }
  return { ...model, services: replaced(services, one, next) }
}

function editPools(model: BundleModel, { verb, at, other }: Edit, step: number): BundleModel {
  const { pools, services } = model
  const placed = (next: readonly PoolModel[]): BundleModel => ({
    ...model,
    pools: next,
    services: services.map((one) => {
      const now = next.findIndex((candidate) => candidate.uid === pools[one.pool]?.uid)
      return now === one.pool ? one : { ...one, pool: now }
    }),
  })
  if (verb === 'pool+') {
    const made = pool(0x1000 + step, ['192.0.2.9', '2001:db8::9'], { name: `new ${other % 9}` })
    return placed(inserted(pools, at, made))
  }
  const one = picked(pools, at)
  if (verb === 'pool-') return pools.length < 2 ? model : placed(replaced(pools, one))
  const next =
    verb === 'pool rename'
      ? { ...one, name: `renamed ${other % 50}` }
      : { ...pool(0x2000 + step, ['192.0.2.8'].slice(other % 2)), uid: one.uid, name: one.name }
  return placed(replaced(pools, one, next))
}

function editOthers(model: BundleModel, { verb, at, other }: Edit): BundleModel {
  if (verb === 'rules') {
    const rules = Array.from({ length: other % 3 }, (_, i): ResponseRuleModel => ({
      uid: uid(0x9000 + i),
      triggerType: 'domain',
      trigger: uniqueDomains[(at + i) % uniqueDomains.length]!.replace(/^\*\./, ''),
      action: 'nxdomain',
      target: '',
      signed: false,
      source: `source ${other % 2}`,
    }))
    const triggers = new Set(rules.map(({ trigger }) => trigger))
    return triggers.size < rules.length ? model : { ...model, responseRules: rules }
  }
  if (verb === 'settings') {
    const signals = { ...model.routing.signals, static: { DE: at % 3 } }
    return { ...model, routing: { ...model.routing, signals } }
  }
  if (verb === 'records') return { ...model, rrsets: rrsetsWith(at % 4) }
  if (verb === 'glue') return { ...model, zones: zonesWith(at % 3) }
  return model
}

/** Beside services, above and below them: a cut, a DNAME record, a target that is ours. */
function rrsetsWith(count: number): BundleModel['rrsets'] {
  const target = wireOf('ns.q.net.')
  const all = [
    { name: 'q.example.org.', type: 15, rdata: [Buffer.concat([Buffer.of(0, 1), target])] },
    { name: 'x.a.net.', type: 2, rdata: [target, wireOf('ns.x.a.net.')] },
    { name: 'b.b.example.org.', type: 39, rdata: [target] },
  ]
  return all.slice(0, count).map((one) => {
    const zone = zoneNames.findLastIndex((name) => one.name.endsWith(`.${name}`))
    return { ...one, zone, ttlSeconds: 60 }
  })
}

function zonesWith(addressCount: number): BundleModel['zones'] {
  const addresses = ['192.0.2.53', '2001:db8::53'].slice(0, addressCount)
  return zoneNames.map((name) => zone(name, { nameservers: [{ name: `ns.q.${name}`, addresses }] }))
}

function apply(model: BundleModel, one: Edit, step: number): BundleModel {
  if (['create', 'delete', 'move', 'rename', 'change'].includes(one.verb)) {
    return editServices(model, one, step)
  }
  return one.verb.startsWith('pool') ? editPools(model, one, step) : editOthers(model, one)
}

/** Many beside the few that change: else everything would be laid out anew. */
const crowd = Array.from({ length: 40 }, (_, i) =>
  service(0x500 + i, `${i % 3 === 0 ? 'deep.' : ''}n${i}.crowd.net.`, { pool: i % 3 }),
)
const firstModel: BundleModel = (() => {
  const model = { ...bareModel, zones: zonesWith(1), rrsets: rrsetsWith(3) }
  const own = uniqueDomains
    .filter((_, i) => i % 2 === 0)
    .map((domain, i) => service(i, domain, { pool: -1 }))
  const pools = [pool(1, ['192.0.2.1', '2001:db8::1']), pool(2, ['192.0.2.2']), pool(3, [])]
  return { ...model, pools, services: [...crowd, ...own].map((one) => withZone(model, one)) }
})()

test('after any series of changes the octets are those of a fresh encoder', () => {
  fc.assert(
    fc.property(fc.array(edit, { minLength: 20, maxLength: 40 }), (edits) => {
      const memory = new EncoderMemory()
      let model = firstModel
      for (const [step, one] of edits.entries()) {
        model = apply(model, one, step)
        const carried = encodeBundle(model, plainCodeOf, memory)
        const fresh = encode(model)
        expect(carried.manifest).toEqual(fresh.manifest)
        expect(carried.digest).toBe(fresh.digest)
        const loaded = loadBundle(carried.bytes)
        expect(loaded.ok ? '' : loaded.error.message).toBe('')
      }
    }),
    { numRuns: laneCount(60, 12) },
  )
})

/** Few, and the same for all fields, so that the first user of a text changes often. */
const texts = ['', 'eu', 'us', 'pool-1', 'pool-2', 'Größe', 'https://rum.example/']
const aText = fc.constantFrom(...texts)
const fieldsOfPool = fc.record({
  name: aText,
  tenant: fc.constantFrom('default', 'eu', 'pool-1'),
  healthCheck: fc.constantFrom(null, healthCheck, { ...healthCheck, port: 8_443 }),
  minHealthy: fc.nat(3),
})
const fieldsOfMember = fc.record({
  name: aText,
  region: aText,
  ipAddress: fc.constantFrom('192.0.2.7', '192.0.2.8', '2001:db8::7', '2001:db8::8'),
  weight: fc.nat(5),
  enabled: fc.boolean(),
})
const extraOfMember = fc.record({
  rumUrl: fc.constantFrom('', '', '', ...texts),
  warmupThreshold: fc.constantFrom(0, 0, 0, 3),
  externalSignalMode: fc.constantFrom<ExternalSignalMode>('and', 'and', 'and', 'or'),
})
const poolEdit = fc.record({
  does: fc.constantFrom(...['fields', 'fields', 'fields', 'pool+', 'pool-', 'member+', 'member-']),
  at: fc.nat(),
  fields: fieldsOfPool,
  member: fc.nat(),
  memberFields: fc.tuple(fieldsOfMember, extraOfMember),
  hasRule: fc.constantFrom(false, false, false, false, true),
  isSparing: fc.boolean(),
})
type PoolEdit = typeof poolEdit extends fc.Arbitrary<infer E> ? E : never

function editPool(pools: readonly PoolModel[], edit: PoolEdit): PoolModel[] {
  const { does, at, member: number, memberFields } = edit
  const addresses = ['192.0.2.5', '2001:db8::5', '192.0.2.6'].slice(number % 4)
  if (does === 'pool+') {
    const more = pool(at % 997, addresses)
    return pools.some((one) => one.uid === more.uid) ? [...pools] : inserted(pools, number, more)
  }
  const one = picked(pools, at)
  if (does === 'pool-') return pools.length < 3 ? [...pools] : replaced(pools, one)
  if (does === 'fields') return editFields(pools, one, edit)
  const place = number % Math.max(one.members.length, 1)
  const [fields] = memberFields
  const more = { ...member('192.0.2.4'), ...fields, uid: uid(0x4000_0000 + (at % 0xffff)) }
  const members =
    does === 'member+' ? inserted(one.members, number, more) : one.members.toSpliced(place, 1)
  return replaced(pools, one, { ...one, members })
}

function editFields(
  pools: readonly PoolModel[],
  one: PoolModel,
  { isSparing, ...to }: PoolEdit,
): PoolModel[] {
  const place = to.member % Math.max(one.members.length, 1)
  const members = one.members.map((old, i) => {
    if (i !== place) return old
    const [{ name, ...fields }, extra] = to.memberFields
    return isSparing ? { ...old, name } : { ...old, ...fields, name, ...extra }
  })
  const fields = isSparing ? { name: to.fields.name } : to.fields
  const rule = { start: 0, end: 255, endpoints: ['192.0.2.7'] }
  const geoRules = to.hasRule ? { v4: [rule], v6: [] } : one.geoRules
  return replaced(pools, one, { ...one, ...fields, members, geoRules })
}

test('after any changes of what pools and members say, several at once, too', () => {
  const addresses = ['192.0.2.1', '2001:db8::1', '192.0.2.2', '2001:db8::2']
  // Long runs of pools stay as they are: these are copied.
  const first = Array.from({ length: 60 }, (_, i) => pool(1 + i * 16, addresses.slice(i % 4)))
  const steps = fc.array(fc.array(poolEdit, { minLength: 1, maxLength: 3 }), { minLength: 10 })
  fc.assert(
    fc.property(steps, (edits) => {
      const memory = new EncoderMemory()
      let pools: readonly PoolModel[] = first
      for (const some of edits) {
        pools = some.reduce(editPool, pools)
        const model = { ...firstModel, pools }
        const [carried, fresh] = [encodeBundle(model, plainCodeOf, memory), encode(model)]
        expect(carried.manifest).toEqual(fresh.manifest)
        expect(carried.digest).toBe(fresh.digest)
      }
    }),
    { numRuns: laneCount(25, 8) },
  )
})

const onePool = (number: number, name: string, region: string): PoolModel =>
  pool(number, [member('192.0.2.1', { region })], { name })

test.each<[string, readonly string[], readonly PoolModel[]]>([
  [
    'the text that a pool begins with is no longer what the one before ends with',
    ['p1 x', 'x', 'p3'],
    [onePool(1, 'p1', 'y')],
  ],
  [
    'one pool has a text less, another one more, which the next begins with',
    ['p1 x', 'p2', 'p3'],
    [onePool(1, 'p1', ''), onePool(2, 'p2', 'p3')],
  ],
])('%s', (_, written, changed) => {
  const pools = written.map((text, i) => {
    const [name = '', region = ''] = text.split(' ')
    return onePool(1 + i, name, region)
  })
  const model = { ...bareModel, pools, services: [] }
  const memory = new EncoderMemory()
  encodeBundle(model, plainCodeOf, memory)
  const next = { ...model, pools: [...changed, ...pools.slice(changed.length)] }
  expect(encodeBundle(next, plainCodeOf, memory)).toEqual(encode(next))
})

test('a series longer than the memory of texts gives the octets of a fresh encoder', () => {
  const memory = new EncoderMemory()
  let model = firstModel
  for (let round = 0; round < 8; round++) {
    // Each round has thousands of texts that no other has.
    const pools = Array.from({ length: 3_000 }, (_, i) =>
      pool(1 + i, ['192.0.2.1'], { name: `pool ${i} of round ${round}` }),
    )
    for (const extra of [[], crowd.slice(0, 1)]) {
      const services = extra.map((one) => ({ ...one, domain: 'extra.net.', zone: 3, uid: uid(7) }))
      model = { ...firstModel, pools, services: [...firstModel.services, ...services] }
      expect(encodeBundle(model, plainCodeOf, memory).digest).toBe(encode(model).digest)
    }
  }
})

/** What an encoder stumbles over, and how far it comes. */
const breaks: Readonly<Record<string, (model: BundleModel) => BundleModel>> = {
  'the address of a member': (model) => ({
    ...model,
    pools: [...model.pools, pool(0x7000, ['none'])],
  }),
  'the uid of a service': (model) => ({
    ...model,
    services: [...model.services, service(0x7000, 'broken.net.', { zone: 3, uid: 'none' })],
  }),
  'a name that belongs to two': (model) => ({
    ...model,
    services: [...crowd, ...model.services, service(0x7000, crowd[0]!.domain, { zone: 3 })],
  }),
}

test('an encoder that threw half-way writes what a fresh one writes', () => {
  const slip = fc.record({ lost: edit, kept: edit, break: fc.constantFrom(...Object.keys(breaks)) })
  // The integer is the call of `codeOf` that throws, one call a service; below 0, `breaks` throws.
  const slips = fc.array(fc.tuple(slip, fc.integer({ min: -20, max: 40 })), { minLength: 10 })
  fc.assert(
    fc.property(slips, (all) => {
      const memory = new EncoderMemory()
      let model = firstModel
      encodeBundle(model, plainCodeOf, memory)
      for (const [step, [one, failingCall]] of all.entries()) {
        const lost = apply(model, one.lost, step * 2)
        let calls = 0
        const codeOf = (algorithm: string): number => {
          if (calls++ === failingCall) throw new Error('half-way')
          return plainCodeOf(algorithm)
        }
        const toEncode = failingCall >= 0 ? lost : breaks[one.break]!(lost)
        expect(() => encodeBundle(toEncode, codeOf, memory)).toThrow()
        model = apply(model, one.kept, step * 2 + 1)
        expect(encodeBundle(model, plainCodeOf, memory).digest).toBe(encode(model).digest)
      }
    }),
    { numRuns: laneCount(30, 8) },
  )
})
