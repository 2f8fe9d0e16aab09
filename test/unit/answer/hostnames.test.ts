import { describe, expect, test } from 'vitest'
import type { BundleModel, MemberModel, PoolModel, ServiceModel } from '#bundle/format/model.ts'
import { createRoutingState, rebuildPool } from '#routing/state/candidates.ts'
import { addressNow, fillSlots } from '#routing/state/slots.ts'
import { answers, asking } from '#test/support/answer-bundle.ts'
import { bareModel, bundleOf, member, pool, service, zone } from '#test/support/bundle-models.ts'
import { ecs } from '#test/support/dns/ecs.ts'

const named = (hostname: string, parts: Partial<MemberModel> = {}): MemberModel =>
  member('', { hostname, ...parts })

function site(pools: readonly PoolModel[], services: readonly ServiceModel[]) {
  const model: BundleModel = { ...bareModel, zones: [zone('test.')], pools, services }
  const bundle = bundleOf(model)
  const state = createRoutingState(bundle, 1)
  return { bundle, state, ask: asking(bundle, state) }
}

/** How often each address comes in so many answers. */
function tally(ask: ReturnType<typeof asking>, question: string, count: number) {
  const seen = new Map<string, number>()
  for (let i = 0; i < count; i++) {
    for (const one of answers(ask(question))) seen.set(one, (seen.get(one) ?? 0) + 1)
  }
  return seen
}

describe('a pool that answers an alias', () => {
  const answer = 'cname'
  const { bundle, state, ask } = site(
    [pool(1, [named('a.example.net.'), named('b.example.net.')], { answer })],
    [
      service(1, 'www.test.'),
      service(2, '*.wild.test.', { algorithm: 'failover' }),
      service(3, 'many.test.', { answerCount: 4 }),
      service(4, 'sticky.test.', { filterChain: ['sticky'] }),
    ],
  )

  test.each(['A', 'AAAA', 'CNAME', 'MX', 'TXT', 'TYPE65280'])(
    'answers type %s with one CNAME, of each member in turn',
    (type) => {
      const seen = [1, 2].map(() => ask(`www.test. ${type}`))
      for (const reply of seen) {
        expect(reply).toMatchObject({ rcode: 0, aa: true, authority: [] })
        expect(reply.answer).toMatchObject([{ name: 'www.test.', type: 5, ttl: 60 }])
      }
      expect(seen.flatMap(answers).sort()).toEqual(['5 a.example.net.', '5 b.example.net.'])
    },
  )

  test('answers ANY as every other name', () => {
    expect(answers(ask('www.test. ANY'))).toEqual(['13 "RFC8482" ""'])
  })

  test('answers below a wildcard with the name that was asked for', () => {
    expect(ask('x.wild.test. A').answer).toMatchObject([
      { name: 'x.wild.test.', rdataText: 'a.example.net.' },
    ])
  })

  test('has one alias in a reply, however many records the service may give', () => {
    expect(ask('many.test. A').answer).toHaveLength(1)
  })

  test('says how much of the client it went by', () => {
    const opt = { options: [ecs(1, 24, 0, '0a0000')] }
    const first = ask('sticky.test. A', { opt })
    expect(first.answer).toMatchObject([{ type: 5 }])
    expect(first.opt?.options[0]?.data[3]).toBe(24)
  })

  test('leads to the healthy member, and to none when all are down', () => {
    state.memberHealthy[0] = 0
    rebuildPool(bundle, state, 0)
    expect([...tally(ask, 'www.test. A', 4).keys()]).toEqual(['5 b.example.net.'])
    state.memberHealthy[1] = 0
    rebuildPool(bundle, state, 0)
    const down = ask('www.test. A')
    expect(down).toMatchObject({ rcode: 0, answer: [], authority: [{ type: 6 }] })
    state.memberHealthy.fill(1)
    rebuildPool(bundle, state, 0)
  })
})

describe('an alias that leads to a name of ours', () => {
  const answer = 'cname'
  const { ask } = site(
    [
      pool(1, [named('next.test.')], { answer }),
      pool(2, [named('Web.test.')], { answer }),
      pool(3, ['192.0.2.1']),
      pool(4, [named('away.example.net.')], { answer }),
      pool(5, [named('web.test.'), named('next.test.')], { answer }),
    ],
    [
      service(1, 'www.test.'),
      service(2, 'next.test.', { pool: 1 }),
      service(3, 'web.test.', { pool: 2 }),
      service(4, 'sticky.test.', { filterChain: ['sticky'], pool: 4 }),
      service(5, 'gone.test.', { pool: 3 }),
    ],
  )

  test('is followed to its addresses', () => {
    const reply = ask('www.test. A')
    expect(reply).toMatchObject({ rcode: 0, aa: true })
    expect(reply.answer.map(({ name, rdataText }) => `${name} ${rdataText}`)).toEqual([
      'www.test. next.test.',
      'next.test. Web.test.',
      'Web.test. 192.0.2.1',
    ])
  })

  test('is not followed when the alias is what was asked for, nor out of our zones', () => {
    expect(answers(ask('www.test. CNAME'))).toEqual(['5 next.test.'])
    expect(answers(ask('gone.test. A'))).toEqual(['5 away.example.net.'])
  })

  test('ends with a denial where the target has no such type', () => {
    const reply = ask('www.test. AAAA')
    expect(answers(reply)).toEqual(['5 next.test.', '5 Web.test.'])
    expect(reply.authority).toMatchObject([{ type: 6 }])
  })

  test('is given alone where the subnet of the client decided', () => {
    const opt = { options: [ecs(1, 24, 0, '0a0000')] }
    expect(ask('sticky.test. A', { opt }).answer).toMatchObject([{ type: 5 }])
    expect(ask('sticky.test. A').answer.length).toBeGreaterThan(1)
  })
})

describe('a pool that answers the addresses of host names', () => {
  const mixed = () =>
    site(
      [pool(1, ['192.0.2.1', named('lb.example.net.'), '2001:db8::1'])],
      [
        service(1, 'www.test.'),
        service(2, 'weighted.test.', { algorithm: 'weighted-round-robin' }),
        service(3, 'chained.test.', { filterChain: ['weighted-round-robin'] }),
        service(4, 'sticky.test.', { filterChain: ['sticky-weighted'] }),
        service(5, 'all.test.', {
          filterChain: ['round-robin'],
          onAllDown: 'all',
          answerCount: 16,
        }),
      ],
    )
  const four = ['198.51.100.1', '198.51.100.2', '198.51.100.3', '198.51.100.4']
  const fill = ({ bundle, state }: ReturnType<typeof mixed>, v4: string[], v6: string[] = []) => {
    const isChanged = fillSlots(bundle, state, 0, { v4, v6 })
    rebuildPool(bundle, state, 0)
    return isChanged
  }

  test('answers without the host name until it is resolved', () => {
    const world = mixed()
    expect([...tally(world.ask, 'www.test. A', 4).keys()]).toEqual(['1 192.0.2.1'])
    expect(answers(world.ask('all.test. A'))).toEqual(['1 192.0.2.1'])
    expect(addressNow(world.bundle, world.state, 1)).toBe('lb.example.net.')
  })

  test('answers the addresses of both families, and what they become', () => {
    const world = mixed()
    expect(fill(world, four.slice(0, 2), ['2001:db8::2'])).toBe(true)
    expect([...tally(world.ask, 'www.test. A', 3).keys()].sort()).toEqual([
      '1 192.0.2.1',
      '1 198.51.100.1',
      '1 198.51.100.2',
    ])
    expect([...tally(world.ask, 'www.test. AAAA', 2).keys()].sort()).toEqual([
      '28 2001:db8::1',
      '28 2001:db8::2',
    ])
    expect(fill(world, four.slice(0, 2), ['2001:db8::2'])).toBe(false)
    expect(fill(world, ['', '198.51.100.9'])).toBe(true)
    expect([...tally(world.ask, 'www.test. A', 2).keys()].sort()).toEqual([
      '1 192.0.2.1',
      '1 198.51.100.9',
    ])
    expect(answers(world.ask('www.test. AAAA'))).toEqual(['28 2001:db8::1'])
  })

  test('weighs a host name as one member, whatever it resolves to', () => {
    for (const name of ['weighted.test.', 'chained.test.']) {
      const world = mixed()
      fill(world, four)
      const seen = tally(world.ask, `${name} A`, 4_000)
      // Half for the address, an eighth for each of the four; five standard deviations.
      expect(Math.abs(seen.get('1 192.0.2.1')! - 2_000)).toBeLessThan(160)
      for (const one of four) expect(Math.abs(seen.get(`1 ${one}`)! - 500)).toBeLessThan(105)
    }
  })

  test('weighs it as one member for clients that stick, too', () => {
    const world = mixed()
    fill(world, four)
    const seen = new Map<string, number>()
    for (let client = 0; client < 2_000; client++) {
      const address = `0a${client.toString(16).padStart(4, '0')}`
      const opt = { options: [ecs(1, 24, 0, address)] }
      const [one] = answers(world.ask('sticky.test. A', { opt }))
      seen.set(one!, (seen.get(one!) ?? 0) + 1)
    }
    expect(Math.abs(seen.get('1 192.0.2.1')! - 1_000)).toBeLessThan(115)
    expect(seen.size).toBe(5)
  })

  test('counts it as one member of those that must be healthy', () => {
    const world = site(
      [pool(1, [named('lb.example.net.'), named('other.example.net.')], { minHealthy: 2 })],
      [service(1, 'www.test.')],
    )
    fillSlots(world.bundle, world.state, 0, { v4: four, v6: [] })
    rebuildPool(world.bundle, world.state, 0)
    expect(answers(world.ask('www.test. A'))).toEqual([])
    fillSlots(world.bundle, world.state, 1, { v4: ['192.0.2.9'], v6: [] })
    rebuildPool(world.bundle, world.state, 0)
    expect(answers(world.ask('www.test. A'))).toHaveLength(1)
  })

  test.each([[1_000_000], [0]])('keeps its sums inside 32 bits (weight %i)', (weight) => {
    const members = Array.from({ length: 200 }, (_, i) => named(`h${i}.example.net.`, { weight }))
    const world = site(
      [pool(1, [...members, member('192.0.2.1', { weight: 1 })])],
      [service(1, 'www.test.', { algorithm: 'weighted-round-robin' })],
    )
    for (let i = 0; i < 200; i++) {
      fillSlots(world.bundle, world.state, i, { v4: four, v6: [] })
    }
    rebuildPool(world.bundle, world.state, 0)
    const { memberShare } = world.state
    const sum = memberShare.subarray(0, 200 * 8).reduce((total, one) => total + one, 0)
    expect(sum).toBeLessThan(2 ** 32)
    expect(world.ask('www.test. A').answer).toHaveLength(1)
  })
})

test('a bundle without host names has one column of weights', () => {
  const { state } = site([pool(1, ['192.0.2.1'])], [service(1, 'www.test.')])
  expect(state.memberShare).toBe(state.memberWeight)
})
