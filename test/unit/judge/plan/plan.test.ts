// Tests plans of one change at a time.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import type { BundleModel } from '#bundle/format/model.ts'
import { RrType } from '#dns/rrtype.ts'
import { printPlan } from '#judge/print/text.ts'
import type { Style } from '#judge/print/text.ts'
import type { Moment } from '#judge/sides/side.ts'
import {
  bareModel,
  healthCheck,
  member,
  pool,
  service,
  smallModel,
  soa,
  uid,
  zone,
} from '#test/support/bundle-models.ts'
import { planBetween } from '#test/support/plans.ts'

const [a, b, c] = ['192.0.2.1', '192.0.2.2', '192.0.2.3'] as const
const zones = [
  zone('example.org.', { nameservers: [{ name: 'ns1.example.org.', addresses: ['192.0.2.53'] }] }),
]
const failover = { algorithm: 'failover', pool: 0 } as const
const ranked = (...addresses: readonly string[]) =>
  pool(
    1,
    addresses.map((ip, i) => member(ip, { priority: i + 1, region: i === 0 ? 'DE' : 'US' })),
    { healthCheck },
  )
const text = (name: string, value: string) => ({
  name,
  zone: 0,
  type: RrType.TXT,
  ttlSeconds: 60,
  rdata: [Buffer.from(`\x02${value}`)],
})
const model: BundleModel = {
  ...bareModel,
  zones,
  pools: [ranked(a, b, c), pool(2, ['198.51.100.1'])],
  services: [
    service(1, 'www.example.org.', failover),
    service(2, 'turns.example.org.', { pool: 0 }),
    service(3, 'dice.example.org.', { algorithm: 'weighted-round-robin', pool: 0 }),
    service(4, 'other.example.org.', { pool: 1 }),
  ],
  rrsets: [text('txt.example.org.', 'v1')],
}
const withPool = (changed: ReturnType<typeof pool>): BundleModel => ({
  ...model,
  pools: [changed, model.pools[1]!],
})
const withService = (number: number, parts: object): BundleModel => ({
  ...model,
  services: model.services.map((one, i) => (i === number ? { ...one, ...parts } : one)),
})

/** `name type kind moved`, `later: kind`. */
function told(head: BundleModel, base: BundleModel = model): readonly string[] {
  const { scenarios, later } = planBetween(base, head)
  const changes = scenarios[0]!.changes.map(({ name, type, kind, movement }) => {
    const moved = movement === null ? '-' : Math.round(movement.ipv4.moved * 1_000) / 10
    return `${name.replace('.example.org.', '')} ${type} ${kind} ${moved}`
  })
  return [...changes, ...later.map(({ kind }) => `later: ${kind}`)]
}

const rows: readonly (readonly [string, BundleModel, readonly string[]])[] = [
  ['nothing', model, []],
  ['another commit of the same', { ...model, commit: 'c0ffee' }, []],
  [
    'everything is gone',
    bareModel,
    [
      'dice A removed 100',
      'example.org. NS removed -',
      'example.org. SOA removed -',
      'ns1 A removed 100',
      'other A removed 100',
      'turns A removed 100',
      'txt TXT removed -',
      'www A removed 100',
    ],
  ],
  [
    'a name server is renamed',
    {
      ...model,
      zones: [
        zone('example.org.', {
          nameservers: [{ name: 'ns2.example.org.', addresses: ['192.0.2.53'] }],
        }),
      ],
    },
    ['example.org. NS changed -', 'ns1 A removed 100', 'ns2 A added 100'],
  ],
  [
    'glue gets another address',
    {
      ...model,
      zones: [
        zone('example.org.', {
          nameservers: [{ name: 'ns1.example.org.', addresses: ['192.0.2.54'] }],
        }),
      ],
    },
    ['example.org. NS changed -', 'ns1 A changed 100'],
  ],
  [
    'the SOA says another minimum',
    { ...model, zones: [{ ...zones[0]!, soa: { ...soa, minimumSeconds: 31 } }] },
    ['example.org. SOA changed -'],
  ],
  ['a text', { ...model, rrsets: [text('txt.example.org.', 'v2')] }, ['txt TXT changed -']],
  [
    'a name comes',
    { ...model, rrsets: [...model.rrsets, text('new.example.org.', 'v1')] },
    ['new TXT added -'],
  ],
  [
    'the port of a health check',
    withPool({ ...ranked(a, b, c), healthCheck: { ...healthCheck, port: 8_080 } }),
    ['later: health-check'],
  ],
  [
    'the health check goes',
    withPool({ ...ranked(a, b, c), healthCheck: null }),
    ['later: health-check'],
  ],
  [
    'two of three members go',
    withPool(ranked(a)),
    ['dice A changed 66.7', 'turns A changed 66.7', 'later: pool'],
  ],
  [
    'regions are swapped',
    withPool(
      pool(
        1,
        ranked(a, b, c).members.map((one, i) => ({ ...one, region: i === 0 ? 'US' : 'DE' })),
        { healthCheck },
      ),
    ),
    ['later: pool'],
  ],
  ['a TTL', withService(0, { ttlSeconds: 5 }), ['www A changed 0']],
  ['the fallback', withService(0, { onAllDown: { pool: 1 } }), ['later: service']],
  ['another pool', withService(0, { pool: 1 }), ['www A changed 100']],
  ['another way to choose', withService(0, { algorithm: 'round-robin' }), ['www A changed 66.7']],
  ['no pool', withService(0, { pool: -1 }), ['www A changed 100']],
  [
    'weights',
    withPool(
      pool(
        1,
        ranked(a, b, c).members.map((one, i) => ({ ...one, weight: i === 0 ? 2 : 1 })),
        { healthCheck },
      ),
    ),
    ['dice A changed 16.7', 'later: pool'],
  ],
  [
    'a service in place of a text',
    {
      ...model,
      rrsets: [],
      services: [...model.services, service(9, 'txt.example.org.', failover)],
    },
    ['txt A added 100', 'txt TXT removed -'],
  ],
  [
    'a response rule',
    {
      ...model,
      responseRules: [
        {
          uid: uid(1),
          triggerType: 'domain',
          trigger: 'other.example.org.',
          action: 'nxdomain',
          target: '',
          signed: false,
          source: '',
        },
      ],
    },
    ['other A removed 100'],
  ],
  [
    'a redirect',
    {
      ...model,
      redirects: [
        {
          ...{ uid: uid(1), tenant: 'default', host: 'go.example.org.', isWildcard: false },
          ...{ target: 'https://example.org/', code: 301, preservePath: false },
          ...{ hstsSeconds: 0, hstsIncludeSubDomains: false },
        },
      ],
    },
    ['later: redirects'],
  ],
]

test.each(rows)('%s', (_, head, expected) => {
  expect(told(head)).toEqual(expected)
})

test('an alias answers what its target answers', () => {
  const alias = { name: 'alias.example.org.', zone: 0, type: RrType.CNAME, ttlSeconds: 60 }
  const rdata = [Buffer.from('\x03www\x07example\x03org\x00', 'latin1')]
  const base = { ...model, rrsets: [{ ...alias, rdata }] }
  const head = { ...base, pools: [ranked(b, c), model.pools[1]!] }
  expect(told(head, base).filter((one) => one.startsWith('alias'))).toEqual(['alias A changed 100'])
})

test('a name that falls to a wildcard gets what its service gives', () => {
  const wild = service(8, '*.example.org.', { pool: 0 })
  const base = { ...model, services: [...model.services, wild] }
  const head = {
    ...base,
    services: base.services.filter(({ name }) => name !== model.services[3]!.name),
  }
  const { scenarios } = planBetween(base, head)
  const [other] = scenarios[0]!.changes.filter(({ name }) => name.startsWith('other'))
  const shares = other!.movement!.ipv4.members.map(
    ({ member: at, after }) => `${at} ${Math.round(after * 300)}`,
  )
  expect(shares.sort()).toEqual([...[a, b, c].map((at) => `${at} 100`), '198.51.100.1 0'])
  expect(other!.after.policy).toBe('round-robin')
})

test('a name that comes takes types away that a wildcard gave', () => {
  const base = {
    ...model,
    services: [...model.services, service(8, '*.example.org.', { pool: 0 })],
  }
  const head = { ...base, rrsets: [...base.rrsets, text('new.example.org.', 'v1')] }
  expect(told(head, base)).toEqual(['new A removed 100', 'new TXT added -'])
})

const movedOf = (base: BundleModel, head: BundleModel) =>
  planBetween(base, head).scenarios[0]!.changes.map(({ name, type, movement }) => [
    `${name} ${type}`,
    movement?.ipv4.moved,
    movement?.ipv4.differs,
  ])
const record = (type: number, name: string, rdata: readonly Uint8Array[]) => ({
  ...{ name, zone: 0, type, ttlSeconds: 60 },
  rdata: [...rdata],
})
const addresses = (...last: readonly number[]) =>
  record(
    RrType.A,
    'w.example.org.',
    last.map((octet) => Uint8Array.of(192, 0, 2, octet)),
  )

describe('a client moves when the first address is another one', () => {
  const bare = { ...bareModel, zones, pools: [ranked(a, b)] }
  const both = { ...bare, rrsets: [addresses(1, 2)] }

  test('not where a service becomes the records that it gave', () => {
    const given = service(1, 'w.example.org.', { ...failover, answerCount: 2, ttlSeconds: 60 })
    expect(movedOf({ ...bare, services: [given] }, both)).toEqual([['w.example.org. A', 0, 1]])
  })

  test('not where a later record differs', () => {
    const other = { ...bare, rrsets: [addresses(1, 3)] }
    expect(movedOf(both, other)).toEqual([['w.example.org. A', 0, 1]])
  })

  test('nor from one way to answer nothing to another: the name above a new one', () => {
    const deep = { ...bare, services: [service(1, 'x.y.example.org.', failover)] }
    expect(movedOf(bare, deep)).toEqual([
      ['x.y.example.org. A', 1, 1],
      ['y.example.org. A', 0, 1],
    ])
  })

  test('but where an alias leads to nothing', () => {
    const target = Buffer.from('\x01w\x07example\x03org\x00')
    const alias = record(RrType.CNAME, 'alias.example.org.', [target])
    const plan = planBetween(
      { ...both, rrsets: [addresses(1), alias] },
      { ...bare, rrsets: [alias] },
    )
    const change = plan.scenarios[0]!.changes.find(({ name }) => name === 'alias.example.org.')
    expect(change!.movement!.ipv4.members).toMatchObject([
      { member: 'NXDOMAIN', before: 0, after: 1 },
      { member: a, before: 1, after: 0 },
    ])
    expect(printPlan(plan, { style: (_, words) => words, answersMax: 9 })).toContain('+ NXDOMAIN')
  })
})

describe('a later difference', () => {
  const members = (...ports: readonly (readonly [address: string, port: number])[]) =>
    pool(
      1,
      ports.map(([ip, port], i) => member(ip, { port, priority: i + 1 })),
      { healthCheck },
    )
  const laterOf = (base: BundleModel, head: BundleModel) =>
    planBetween(base, head).later.map(({ what }) => what)
  const before = withPool(members([a, 80], [b, 8_080]))

  test.each([
    ['members in another order have the same ports', members([b, 8_080], [a, 80]), []],
    [
      'a port, beside a member that joins',
      members([a, 81], [b, 8_080], [c, 80]),
      [`with ${c}`, `${a} port 80 → 81`],
    ],
    [
      'a port, beside a check that differs',
      {
        ...members([a, 81], [b, 8_080]),
        healthCheck: { ...healthCheck, intervalMs: healthCheck.intervalMs * 2 },
      },
      [`intervalMs ${healthCheck.intervalMs} → ${healthCheck.intervalMs * 2}; ${a} port 80 → 81`],
    ],
  ])('%s', (_, changed, expected) => {
    const words = laterOf(before, withPool(changed)).map((what) =>
      what
        .split('; ')
        .filter((part) => !part.includes('priority'))
        .join('; '),
    )
    expect(words.filter((what) => what !== '')).toEqual(expected)
  })

  test('when all are down, beside an answer that differs', () => {
    const head = withService(0, { onAllDown: 'all', ttlSeconds: 61 })
    expect(laterOf(model, head)).toContain('onAllDown empty → all')
  })

  test('how many addresses are answered is part of how a service chooses', () => {
    const head = withService(0, { answerCount: 2 })
    const [change] = planBetween(model, head).scenarios[0]!.changes
    expect([change!.before.policy, change!.after.policy]).toEqual([
      'failover',
      'failover (answerCount: 2)',
    ])
  })
})

describe('with two moments', () => {
  const at = (health: Moment['health']): Moment => ({ atMs: Date.UTC(2026, 0, 1), health })
  const down = new Map([[`pool-1/${a}`, { healthy: false }]])

  test('a difference hidden while all are up shows when one is down', () => {
    const plan = planBetween(model, withPool(ranked(a, c)), { moments: [at(null), at(down)] })
    const moved = plan.scenarios.map(
      ({ changes }) => changes.find(({ name }) => name.startsWith('www'))?.movement?.ipv4.moved,
    )
    expect(moved).toEqual([undefined, 1])
    expect(plan.scenarios.map(({ health }) => health)).toEqual(['all-up', 'given'])
  })

  test('members that neither side has are told of, but not to a tenant', () => {
    const moments = [at(new Map([['other-pool/192.0.2.250', { healthy: false }]]))]
    const viewer = { tenant: 'zenith', names: new Set<string>() }
    const said = (more: object) => planBetween(model, model, { moments, ...more }).warnings.join()
    expect(said({})).toContain('other-pool/192.0.2.250')
    expect(said({ viewer })).toBe('')
  })

  test('a window shows at its time', () => {
    const window = {
      ...{ uid: uid(7), name: 'work', tenant: 'default', pool: 0, member: 0, members: null },
      ...{ startAtMs: Date.UTC(2026, 1, 1), endAtMs: Date.UTC(2026, 1, 2) },
    }
    const head = { ...model, windows: [window] }
    const moments = [0, 1].map((month) => ({ atMs: Date.UTC(2026, month, 1), health: null }))
    const { scenarios, later } = planBetween(model, head, { moments })
    const names = scenarios.map(({ changes }) => changes.map(({ name }) => name.split('.')[0]))
    expect(names).toEqual([[], ['dice', 'turns', 'www']])
    expect(later.map(({ kind }) => kind)).toContain('overlay')
    const printed = printPlan(planBetween(model, head, { moments }), {
      style: (_, words) => words,
      answersMax: 9,
    })
    expect(printed).toMatch(/^at 2026-01-01.*\n {2}no answer differs\n/m)
  })
})

test('a movement has its clients, from where to where', () => {
  const { scenarios, summary } = planBetween(model, withPool(ranked(a, b)))
  const turns = scenarios[0]!.changes.find(({ name }) => name.startsWith('turns'))!.movement!.ipv4
  const share = (value: number): number => Math.round(value * 1_000) / 1_000
  expect(
    turns.flows.map(({ from, to, share: part }) => [from.member, to.member, share(part)]),
  ).toEqual([
    [c, a, 0.167],
    [c, b, 0.167],
  ])
  expect(turns.members.map((one) => [one.member, share(one.before), share(one.after)])).toEqual([
    [a, 0.333, 0.5],
    [b, 0.333, 0.5],
    [c, 0.333, 0],
  ])
  expect(turns).toMatchObject({ error: 0, differs: 1, countries: null })
  expect(summary).toMatchObject({ names: 2, answers: 2, comparedNames: 7, laterChanges: 1 })
})

test('a sticky step is asked for some networks, and says how far that may err', () => {
  const sticky = withService(0, { filterChain: ['sticky'] })
  const head = { ...sticky, pools: [ranked(a, b), model.pools[1]!] }
  const movementOf = (networksMax: number) =>
    planBetween(sticky, head, { limits: { networksMax } }).scenarios[0]!.changes.find(({ name }) =>
      name.startsWith('www'),
    )!.movement!.ipv4
  for (const networksMax of [4_096, 65_536]) {
    const { moved, error, flows } = movementOf(networksMax)
    expect(error).toBeGreaterThan(0)
    expect(error).toBeLessThan(0.02)
    // Clients of the unchanged member stay: a third of all clients moves.
    expect(Math.abs(moved - 1 / 3)).toBeLessThan(2 * error)
    expect(flows.every(({ from }) => from.member === c)).toBe(true)
  }
  // The same members: nobody has to be asked.
  expect(planBetween(sticky, { ...sticky, commit: 'c0ffee' }).summary.names).toBe(0)
})

test('only what differs is computed, and seen by whom it concerns', () => {
  const services = Array.from({ length: 300 }, (_, i) =>
    service(i + 10, `s${i}.example.org.`, { pool: i % 2, tenant: i % 2 === 0 ? 'acme' : 'zenith' }),
  )
  const many = { ...model, services }
  const head = { ...many, pools: [ranked(a, b), model.pools[1]!] }
  const whole = planBetween(many, head)
  expect(whole.summary).toMatchObject({ names: 150, comparedNames: 303 })
  const seen = planBetween(many, head, { viewer: { tenant: 'zenith', names: new Set() } })
  expect([seen.summary.names, seen.later, JSON.stringify(seen).includes('acme')]).toEqual([
    0,
    [],
    false,
  ])
})

test('reads well', () => {
  const head = { ...withPool(ranked(b, c)), rrsets: [text('txt.example.org.', 'v2')] }
  const style: Style = (_, words) => words
  const golden = readFileSync(join(import.meta.dirname, '../../../golden/plan/pool.txt'), 'utf8')
  expect(printPlan(planBetween(model, head), { style, answersMax: 3 })).toBe(golden)
})

test('a small configuration and its copy are the same', () => {
  expect(planBetween(smallModel, structuredClone(smallModel))).toMatchObject({
    summary: { names: 0, laterChanges: 0 },
    warnings: [],
  })
})

describe('a type that goes, at a name that stays, is an answer that is gone', () => {
  const rrset = (type: number, octets: readonly number[]) => ({
    ...text('both.example.org.', ''),
    ...{ type, rdata: [Buffer.from(octets)] },
  })
  const ipv4 = rrset(RrType.A, [192, 0, 2, 9])
  const ipv6 = rrset(RrType.AAAA, [0x20, 1, 0xd, 0xb8, ...new Array<number>(12).fill(0)])
  const plain = { style: ((_format, words) => words) as Style, answersMax: 50 }

  test('for records', () => {
    const base = { ...bareModel, zones, rrsets: [ipv4, ipv6] }
    const head = { ...bareModel, zones, rrsets: [ipv4] }
    expect(told(head, base)).toEqual(['both AAAA removed 100'])
    const plan = planBetween(base, head)
    expect(plan.summary.removedNames).toBe(0)
    expect(printPlan(plan, plain)).toContain('; 1 answer is gone')
  })

  test('for a service moves its clients to no address', () => {
    const both = ranked(a, '2001:db8::1')
    const services = [service(1, 'www.example.org.', failover)]
    const base = { ...bareModel, zones, services, pools: [both] }
    const head = { ...base, pools: [ranked(a)] }
    expect(told(head, base)).toEqual(['www AAAA changed 100', 'later: pool'])
  })
})
