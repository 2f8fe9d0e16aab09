// Discovery under a hand-moved clock: what members ask, last good ones, and what is said of faults.
import { describe, expect, test } from 'vitest'
import { Discovery } from '#integrations/discovery/discovery.ts'
import type {
  Asked,
  DiscoveryKind,
  KindAnswer,
  KindParts,
  SourceSettings,
} from '#integrations/targets/kind.ts'
import { err, ok } from '#lib/result.ts'
import type { Result } from '#lib/result.ts'
import { Random } from '#lib/random.ts'
import type { FoundMembers, LastMembers } from '#state/ports/last-members.ts'
import { FakeTime } from '#test/support/fake-time.ts'

const plainSettings: SourceSettings = {
  ...{ name: 'inventory', type: 'test', path: '', url: '', user: '', kubeconfig: '', service: '' },
  ...{ intervalMs: 30_000, timeoutMs: 10_000, weightLabel: 'weight' },
  ...{ maxRemoved: 0.5, removeAfterMs: 10_000, tenants: ['default', 'acme'] },
}

const target = (address: string, labels: Record<string, string> = {}) => ({
  ...{ address, port: 80 },
  labels: new Map(Object.entries(labels).map(([name, value]) => [name, [value]])),
})

const found = (...targets: readonly ReturnType<typeof target>[]): Result<KindAnswer, string> =>
  ok({ targets, cursor: '' })

function setUp({
  service = 'none',
  last,
  tenants = ['default', 'acme'],
  isCheap = false,
  waits = () => false,
}: {
  service?: 'none' | 'required'
  last?: FoundMembers[]
  tenants?: readonly string[]
  isCheap?: boolean
  waits?: DiscoveryKind['waits']
} = {}) {
  const settings: SourceSettings = { ...plainSettings, tenants }
  const warnings: string[] = []
  const told: (readonly [key: string, targets: number])[] = []
  const time = new FakeTime(1_764_500_000_000)
  const asked: Asked[] = []
  const world = { answer: found(target('192.0.2.1')), isSilent: false }
  const kind: DiscoveryKind = {
    ...{ name: 'test', needs: [], service, serviceForm: 'NAMESPACE/NAME', isCheap, waits },
    create: () => (one) => {
      asked.push(one)
      return world.isSilent ? new Promise(() => undefined) : Promise.resolve(world.answer)
    },
  }
  const parts: KindParts = {
    ...{ env: {}, resolvers: [], secret: () => ok(undefined), nowMs: () => 0 },
    lookup: () => Promise.resolve({ ok: false, fault: 'other' }),
  }
  let kept: readonly FoundMembers[] = []
  const store: LastMembers = {
    of: (name) => last?.find((one) => one.name === name),
    keep: (all) => {
      kept = all
    },
  }
  const silent = (): void => undefined
  const discovery = new Discovery({
    sources: new Map([['inventory', { settings, kind, ask: kind.create(settings, parts) }]]),
    allowLocal: false,
    last: store,
    fleet: {
      tell: (key, targets) => void told.push([key, targets.length]),
      forget: () => undefined,
    },
    ...{ clock: time.clock, after: time.after, random: new Random(1) },
    log: { info: silent, warn: (_, text) => warnings.push(text ?? ''), error: silent },
  })
  const changes: string[] = []
  discovery.onChange((names) => changes.push(...names))
  return {
    ...{ time, world, asked, discovery, changes, warnings, told },
    kept: () => kept,
    addresses: (from = 'inventory') =>
      [
        ...discovery.statusOf(`from:default:${from}`).v4,
        ...discovery.statusOf(`from:default:${from}`).v6,
      ].filter((one) => one !== ''),
    walk: async (ms: number) => {
      for (let left = ms; left > 0; left -= 1_000) {
        await new Promise(setImmediate)
        time.pass(Math.min(left, 1_000))
      }
      await new Promise(setImmediate)
    },
  }
}

test('members are found at once, followed by the interval, and told of', async () => {
  const { discovery, world, addresses, walk, changes } = setUp()
  discovery.want(['from:default:inventory'])
  await walk(1_000)
  expect(addresses()).toEqual(['192.0.2.1'])
  expect(changes).toEqual(['from:default:inventory'])
  world.answer = found(target('192.0.2.1'), target('2001:db8::1', { weight: '3' }))
  await walk(31_000)
  expect(addresses()).toEqual(['192.0.2.1', '2001:db8::1'])
  expect(discovery.statusOf('from:default:inventory').weights?.get('2001:db8::1')).toBe(3)
})

test('labels divide what a source finds, and one request serves all members that ask', async () => {
  const { discovery, world, addresses, asked, walk } = setUp()
  world.answer = found(target('192.0.2.1', { region: 'eu' }), target('192.0.2.2', { region: 'us' }))
  discovery.want([
    'from:default:inventory?region=eu',
    'from:default:inventory?region=us',
    'from:default:inventory?region=ap',
  ])
  await walk(1_000)
  expect(addresses('inventory?region=eu')).toEqual(['192.0.2.1'])
  expect(addresses('inventory?region=us')).toEqual(['192.0.2.2'])
  expect(addresses('inventory?region=ap')).toEqual([])
  expect(asked).toHaveLength(1)
})

test('several targets on one machine are one member with the weight of all', async () => {
  const { discovery, world, addresses, walk } = setUp()
  world.answer = found(target('192.0.2.1'), target('192.0.2.1', { weight: '4' }))
  discovery.want(['from:default:inventory'])
  await walk(1_000)
  expect(addresses()).toEqual(['192.0.2.1'])
  expect(discovery.statusOf('from:default:inventory').weights?.get('192.0.2.1')).toBe(5)
})

test('a source that fails costs nothing but its age, and is asked ever less often', async () => {
  const { discovery, world, addresses, asked, walk } = setUp()
  discovery.want(['from:default:inventory'])
  await walk(1_000)
  world.answer = err('inventory.example.net cannot be asked: ECONNREFUSED')
  await walk(300_000)
  expect(addresses()).toEqual(['192.0.2.1'])
  const [source] = discovery.sources()
  expect(source).toMatchObject({ state: 'failing', members: 1, held: 0, heldSinceMs: 0 })
  expect(source!.error).toContain('ECONNREFUSED')
  const [status] = discovery.list()
  expect(status).toMatchObject({ error: 'inventory.example.net cannot be asked: ECONNREFUSED' })
  expect(discovery.counts()).toMatchObject({ references: { found: 0, stale: 1, missing: 0 } })
  expect(discovery.counts().ageSeconds).toBeGreaterThan(250)
  expect(asked.length).toBeLessThan(14)
  expect(discovery.counts().failures).toEqual({ inventory: asked.length - 1 })
})

test('a source that never answers is given up after its time, and asked again', async () => {
  const { discovery, world, asked, walk } = setUp()
  world.isSilent = true
  discovery.want(['from:default:inventory'])
  await walk(20_000)
  expect(discovery.list()[0]!.error).toBe('no whole answer within 10 s')
  expect(asked.length).toBe(2)
  expect(asked[0]!.signal.aborted).toBe(true)
})

test('a source that waits is asked anew at once, and for all once it is silent', async () => {
  const { discovery, world, addresses, asked, walk } = setUp({ waits: (cursor) => cursor !== '' })
  world.answer = ok({ targets: [target('192.0.2.1')], cursor: 'v1' })
  discovery.want(['from:default:inventory'])
  await walk(10_000)
  expect(asked.length).toBeGreaterThan(4)
  expect(asked.length).toBeLessThan(11)
  expect(new Set(asked.map(({ cursor }) => cursor))).toEqual(new Set(['', 'v1']))
  world.isSilent = true
  await walk(60_000)
  expect(discovery.list()[0]!.error).toBe('')
  asked.splice(0)
  await walk(60_000)
  expect(asked.map(({ cursor }) => cursor)[0]).toBe('')
  expect(discovery.list()[0]!.error).toContain('no whole answer')
  expect(addresses()).toEqual(['192.0.2.1'])
})

test('a restart goes on with the members that were kept', async () => {
  const first = setUp()
  first.discovery.want(['from:default:inventory'])
  await first.walk(10_000)
  expect(first.kept()).toMatchObject([
    { name: 'from:default:inventory', members: [['192.0.2.1', 1]] },
  ])
  const second = setUp({ last: [...first.kept()] })
  second.world.answer = err('away')
  second.discovery.want(['from:default:inventory'])
  await second.walk(1_000)
  expect(second.addresses()).toEqual(['192.0.2.1'])
})

test('an answer with nothing is held, shown, and taken when a person accepts it', async () => {
  const { discovery, world, addresses, walk } = setUp()
  discovery.want(['from:default:inventory'])
  await walk(1_000)
  world.answer = found()
  await walk(120_000)
  expect(addresses()).toEqual(['192.0.2.1'])
  expect(discovery.list()[0]!.error).toContain(
    '1 of 1 members are not found any more: the source finds nobody',
  )
  expect(discovery.counts().held).toBe(1)
  expect(discovery.sources()).toMatchObject([
    {
      ...{ name: 'inventory', state: 'held', members: 1, held: 1 },
      heldSinceMs: expect.any(Number) as number,
    },
  ])
  expect(discovery.accept('other')).toBe(0)
  expect(discovery.accept('inventory')).toBe(1)
  expect(discovery.accept('inventory')).toBe(0)
  expect(addresses()).toEqual([])
  expect(discovery.list()[0]).toMatchObject({ error: '', held: null })
})

test('of more members than there are places some have none, and the others stay', async () => {
  const { discovery, world, addresses, walk } = setUp()
  discovery.want(['from:default:inventory'])
  await walk(1_000)
  world.answer = found(...Array.from({ length: 100 }, (_, i) => target(`192.0.2.${i + 1}`)))
  await walk(40_000)
  expect(addresses()).toHaveLength(64)
  expect(addresses()).toContain('192.0.2.1')
  expect(discovery.list()[0]).toMatchObject({ unused: 36 })
})

describe('a member that nobody can be asked for', () => {
  const rows = [
    ['consul/shop', 'none', `has no "consul"; it has inventory`],
    ['inventory/shop', 'none', 'has no services; write from: inventory'],
    ['inventory', 'required', 'write which service of inventory: inventory/NAMESPACE/NAME'],
  ] as const
  test.each(rows)('%s (services: %s) says why', (from, service, why) => {
    const { discovery } = setUp({ service })
    discovery.want([`from:default:${from}`])
    expect(discovery.list()[0]!.error).toContain(why)
    expect(discovery.counts().references.missing).toBe(1)
    // The source itself is well: its operator need not be called.
    const [source] = discovery.sources()
    expect(source).toMatchObject({ state: 'unused', error: '' })
    if (from === 'consul/shop') expect(source!.note).toBe('')
    else expect(source!.note).toMatch(`not asked for ${from} of the tenant default: `)
  })
})

test('what no pool asks for any more is not asked again', async () => {
  const { discovery, asked, walk } = setUp()
  discovery.want(['from:default:inventory'])
  await walk(1_000)
  discovery.want([])
  await walk(120_000)
  expect(asked).toHaveLength(1)
})

describe('a source that is for some tenants', () => {
  const rows = [
    ['named', ['default', 'acme'], true],
    ['not named', ['default'], false],
    ['one of all', ['*'], true],
    ['of an installation that lets nobody', [], false],
  ] as const
  test.each(rows)('a tenant that is %s (%j): %j', async (_, tenants, isFor) => {
    const last = [{ name: 'from:acme:inventory', members: [['192.0.2.7', 1] as const], atMs: 1 }]
    const { discovery, asked, walk, warnings } = setUp({ tenants, last })
    discovery.want(['from:acme:inventory'])
    await walk(60_000)
    discovery.want(['from:acme:inventory'])
    const { v4, error } = discovery.statusOf('from:acme:inventory')
    const { found, refused } = discovery.counts().references
    expect([v4.includes('192.0.2.1'), found, refused]).toEqual(isFor ? [true, 1, 0] : [false, 0, 1])
    if (isFor) return
    expect(v4.filter((one) => one !== '')).toEqual([])
    expect(error).toBe(
      "this node's settings do not let the tenant acme use the source inventory; " +
        'discovery.sources.inventory.tenants says which may',
    )
    expect(discovery.sources()).toMatchObject([{ state: 'unused', error: '', foundAtMs: 0 }])
    expect(asked).toEqual([])
    expect(warnings).toHaveLength(1)
  })

  test('a tenant hears of no source that is for others', () => {
    const { discovery } = setUp({ tenants: ['default'] })
    discovery.want(['from:acme:consul/shop'])
    expect(discovery.list()[0]).toMatchObject({ tenant: 'acme', from: 'consul/shop' })
    expect(discovery.list()[0]!.error).toMatch(/has no "consul"; it has none for this tenant$/)
  })

  test('tenants that may both are given the same, by one request', async () => {
    const { discovery, asked, walk } = setUp()
    discovery.want(['from:default:inventory', 'from:acme:inventory'])
    await walk(1_000)
    const [one, other] = ['default', 'acme'].map((id) => discovery.statusOf(`from:${id}:inventory`))
    expect(one!.v4).toEqual(other!.v4)
    expect(asked).toHaveLength(1)
  })
})

test('members that a source finds take the places of those that are held', async () => {
  const { discovery, world, addresses, walk } = setUp()
  const many = Array.from({ length: 100 }, (_, i) => target(`198.51.100.${i + 1}`))
  world.answer = found(...many)
  discovery.want(['from:default:inventory'])
  await walk(1_000)
  world.answer = found(target('192.0.2.1'), target('192.0.2.2'))
  await walk(31_000)
  expect(discovery.list()[0]).toMatchObject({ held: { missing: 100, members: 102 }, unused: 38 })
  expect(addresses()).toEqual(expect.arrayContaining(['192.0.2.1', '192.0.2.2']))
  expect(addresses()).toHaveLength(64)
})

test('one wrong answer with very many members is forgotten with the next right one', async () => {
  const { discovery, world, addresses, walk } = setUp()
  discovery.want(['from:default:inventory'])
  await walk(1_000)
  world.answer = found(...Array.from({ length: 200 }, (_, i) => target(`198.51.100.${i + 1}`)))
  await walk(31_000)
  world.answer = found(target('192.0.2.1'))
  await walk(41_000)
  expect(addresses()).toEqual(['192.0.2.1'])
  expect(discovery.list()[0]).toMatchObject({ held: null, unused: 0, error: '' })
})

test('a source that costs nothing to ask is asked every two seconds while it fails', async () => {
  const { discovery, world, asked, walk, addresses } = setUp({ isCheap: true })
  world.answer = err('no JSON')
  discovery.want(['from:default:inventory'])
  await walk(120_000)
  expect(asked.length).toBeGreaterThan(55)
  world.answer = found(target('192.0.2.9'))
  await walk(3_000)
  expect(addresses()).toEqual(['192.0.2.9'])
})

const services = (count: number, first = 0): string[] =>
  Array.from({ length: count }, (_, i) => `from:default:inventory/s${first + i}`)

test('queries that end make room for others, also for what found none before', async () => {
  const { discovery, walk } = setUp({ service: 'required' })
  const counted = (): readonly [found: number, missing: number] => {
    const { references } = discovery.counts()
    return [references.found, references.missing]
  }
  discovery.want(services(256))
  await walk(1_000)
  discovery.want(services(256, 1_000))
  await walk(1_000)
  expect(counted()).toEqual([256, 0])
  discovery.want(services(300, 1_000))
  await walk(1_000)
  expect(counted()).toEqual([256, 44])
  discovery.want(services(200, 1_100))
  await walk(1_000)
  expect(counted()).toEqual([200, 0])
  expect(discovery.list().every(({ error }) => error === '')).toBe(true)
})

test('a tenant with more questions than there may be leaves the others theirs', async () => {
  const { discovery, walk } = setUp({ service: 'required' })
  const mine = (count: number): string[] =>
    Array.from({ length: count }, (_, i) => `from:acme:inventory/a${i}`)
  const foundOf = (tenant: string): number =>
    discovery.list().filter((one) => one.tenant === tenant && one.error === '').length
  discovery.want(services(300))
  await walk(1_000)
  expect(foundOf('default')).toBe(256)
  discovery.want([...services(300), ...mine(3)])
  await walk(1_000)
  expect([foundOf('default'), foundOf('acme')]).toEqual([253, 3])
  const left = discovery.list().filter(({ error }) => error !== '')
  expect(left.map(({ error }) => error)).toContain(
    'this node asks 256 services, which the tenants share, and no more: name fewer in pools',
  )
  // The three that had members before keep them.
  expect(left.filter(({ members }) => members.length > 0)).toHaveLength(3)
  discovery.want([...services(300), ...mine(200)])
  await walk(1_000)
  expect([foundOf('default'), foundOf('acme')]).toEqual([128, 128])
  discovery.want([...services(200), ...mine(3)])
  await walk(1_000)
  expect([foundOf('default'), foundOf('acme')]).toEqual([200, 3])
})

test('what is asked in another way while a source is away has its last members', async () => {
  const { discovery, world, addresses, walk } = setUp()
  world.answer = found(target('192.0.2.1', { region: 'eu' }))
  discovery.want(['from:default:inventory'])
  await walk(1_000)
  world.answer = err('away')
  await walk(60_000)
  discovery.want(['from:default:inventory?region=eu'])
  expect(addresses('inventory?region=eu')).toEqual(['192.0.2.1'])
  expect(discovery.list()[0]!.error).toBe('away')
})

test('what is taken out and put back while a source is away has its last members', async () => {
  const { discovery, world, addresses, walk } = setUp()
  discovery.want(['from:default:inventory'])
  await walk(1_000)
  world.answer = err('away')
  discovery.want([])
  await walk(3_000_000)
  discovery.want(['from:default:inventory'])
  await walk(1_000)
  expect(addresses()).toEqual(['192.0.2.1'])
  discovery.want([])
  await walk(3_600_000)
  discovery.want(['from:default:inventory'])
  expect(addresses()).toEqual([])
})
