import { describe, expect, test } from 'vitest'
import { Random } from '#lib/random.ts'
import { HostnameResolver } from '#inputs/resolve/hostname-resolver.ts'
import { resolveLimits } from '#inputs/resolve/limits.ts'
import type { LookupResult } from '#inputs/resolve/lookup.ts'
import type { LastGood } from '#state/ports/last-addresses.ts'
import { FakeTime } from '#test/support/fake-time.ts'

const log = { info: () => undefined, warn: () => undefined, error: () => undefined }
const startMs = Date.UTC(2026, 0, 1)
const name = 'lb.example.net.'

const found = (v4: readonly string[] | undefined, ttlSeconds = 60, v6: readonly string[] = []) =>
  ({ ok: true, v4, v6, ttlSeconds }) satisfies LookupResult

class World {
  readonly time = new FakeTime(startMs)
  readonly asked: string[] = []
  readonly told: (readonly string[])[] = []
  readonly kept: LastGood[] = []
  /** Results of the next lookups; undefined: the lookup never ends. */
  answer: (hostname: string) => LookupResult | undefined = () => found(['192.0.2.1'])
  readonly resolver: HostnameResolver

  constructor({ allowLocal = false, stored = [] as readonly LastGood[] } = {}) {
    this.resolver = new HostnameResolver({
      lookup: async (hostname) => {
        this.asked.push(hostname)
        return this.answer(hostname) ?? (await new Promise<never>(() => undefined))
      },
      allowLocal,
      last: {
        of: (hostname) => stored.find((one) => one.hostname === hostname),
        keep: (all) => void this.kept.splice(0, Infinity, ...all),
      },
      clock: this.time.clock,
      after: this.time.after,
      random: new Random(1),
      log,
    })
    this.resolver.onChange((hostnames) => this.told.push(hostnames))
  }

  /** Time goes by in small steps, between which what was asked is answered. */
  async walk(durationMs: number): Promise<void> {
    const stepMs = 250
    for (let passed = 0; passed < durationMs; passed += stepMs) {
      this.time.pass(Math.min(stepMs, durationMs - passed))
      await new Promise(setImmediate)
    }
  }

  async want(...hostnames: string[]): Promise<void> {
    this.resolver.want(hostnames)
    await new Promise(setImmediate)
    await this.walk(500)
  }

  get v4(): string {
    return this.resolver.statusOf(name).v4.join(' ').trim()
  }
}

describe('a host name', () => {
  test('is looked up at once, and its addresses are told', async () => {
    const world = new World()
    await world.want(name)
    expect(world.v4).toBe('192.0.2.1')
    expect(world.told).toEqual([[name]])
    expect(world.resolver.statusOf(name)).toMatchObject({ error: '', resolvedAtMs: startMs })
  })

  test.each([
    ['its TTL', 60, 54, 60],
    ['5 s for a shorter one', 0, 4.5, 5],
    ['5 min for a longer one', 86_400, 270, 300],
  ])('is looked up again after %s', async (_what, ttlSeconds, fromSeconds, toSeconds) => {
    const world = new World()
    world.answer = () => found(['192.0.2.1'], ttlSeconds)
    await world.want(name)
    await world.walk((fromSeconds - 0.75) * 1000)
    expect(world.asked).toHaveLength(1)
    world.answer = () => found(['192.0.2.2'], ttlSeconds)
    await world.walk((toSeconds - fromSeconds + 1) * 1000)
    expect(world.asked.length).toBeGreaterThan(1)
    expect(world.v4).toBe('192.0.2.2')
  })

  test('keeps the slot of an address that stays, and gives free ones to new ones', async () => {
    const world = new World()
    world.answer = () => found(['192.0.2.3', '192.0.2.1', '192.0.2.2'], 5)
    await world.want(name)
    expect(world.v4).toBe('192.0.2.1 192.0.2.2 192.0.2.3')
    world.answer = () => found(['192.0.2.9', '192.0.2.3'], 5)
    await world.walk(6_000)
    expect(world.v4).toBe('192.0.2.9  192.0.2.3')
  })

  test('of 500 addresses has eight, the same ones as long as they are there', async () => {
    const world = new World()
    const many = Array.from({ length: 500 }, (_, i) => `198.51.${i >> 8}.${i & 255}`)
    world.answer = () => found(many, 5)
    await world.want(name)
    const first = world.v4
    expect(first.split(' ')).toHaveLength(resolveLimits.addressesMax)
    expect(world.resolver.statusOf(name).unused).toBe(492)
    world.answer = () => found(many.toReversed(), 5)
    await world.walk(6_000)
    expect(world.v4).toBe(first)
  })

  test('that is no longer wanted is not looked up', async () => {
    const world = new World()
    await world.want(name)
    await world.want('other.example.net.')
    world.asked.length = 0
    await world.walk(120_000)
    expect(new Set(world.asked)).toEqual(new Set(['other.example.net.']))
  })
})

const ofNode = 'an address that leads to a node itself, its link or its cloud'
const failures: readonly [string, LookupResult | undefined, string][] = [
  ['there is no such name', { ok: false, fault: 'no-such-name' }, 'there is no such name'],
  ['it has no addresses', { ok: false, fault: 'no-addresses' }, 'the name has no addresses'],
  ['the server fails', { ok: false, fault: 'server-failure' }, 'fails (SERVFAIL)'],
  ['nobody answers in time', { ok: false, fault: 'timeout' }, 'no name server answers in time'],
  ['it is this machine', found(['127.0.0.1']), '127.0.0.1 is a loopback address'],
  ['it is the link', found(['169.254.1.1']), '169.254.1.1 is a link-local address'],
  ['it is nowhere', found(['0.0.0.0']), '0.0.0.0 is the unspecified address'],
  ['it is this machine in IPv6', found([], 60, ['::1']), '::1 is a loopback address'],
  ['it is the link in IPv6', found([], 60, ['fe80::1']), 'fe80::1 is a link-local address'],
  ['it is the metadata of a cloud', found(['100.100.100.200']), `100.100.100.200 is ${ofNode}`],
  ['it is the same in IPv6', found([], 60, ['fd00:ec2::254']), `fd00:ec2::254 is ${ofNode}`],
  ['a gateway makes it this machine', found([], 60, ['64:ff9b::7f00:1']), `7f00:1 is ${ofNode}`],
  ['it is everybody', found(['224.0.0.1']), '224.0.0.1 is a multicast address'],
]

describe('a host name that does not resolve', () => {
  test.each(failures)('because %s keeps its last good addresses', async (_why, result, reason) => {
    const world = new World()
    world.answer = () => found(['192.0.2.1'], 5)
    await world.want(name)
    world.answer = () => result
    await world.walk(10_000)
    expect(world.v4).toBe('192.0.2.1')
    const status = world.resolver.statusOf(name)
    expect(status.error).toContain(reason)
    expect(status.resolvedAtMs).toBe(startMs)
    const counts = world.resolver.counts()
    expect(counts.hostnames).toEqual({ resolved: 0, stale: 1, unresolved: 0 })
    expect(counts.ageSeconds).toBeGreaterThanOrEqual(10)
    expect(Object.values(counts.failures).reduce((sum, one) => sum + one)).toBeGreaterThan(0)
    world.answer = () => found(['192.0.2.2'], 5)
    await world.walk(resolveLimits.retries.mostMs)
    expect(world.v4).toBe('192.0.2.2')
    expect(world.resolver.statusOf(name).error).toBe('')
  })

  test('is asked for less and less often, and at least every minute', async () => {
    const world = new World()
    world.answer = () => ({ ok: false, fault: 'timeout' })
    await world.want(name)
    await world.walk(62_000)
    // At 0, 2, 6, 14, 30 and 62 s.
    expect(world.asked).toHaveLength(6)
    await world.walk(240_000)
    expect(world.asked.length).toBeGreaterThanOrEqual(9)
    expect(world.asked.length).toBeLessThanOrEqual(11)
  })

  test('keeps what a family had of which nobody could say anything', async () => {
    const world = new World()
    world.answer = () => found(['192.0.2.1'], 5, ['2001:db8::1'])
    await world.want(name)
    world.answer = () => found(undefined, 5, ['2001:DB8:0::2'])
    await world.walk(6_000)
    expect(world.v4).toBe('192.0.2.1')
    expect(world.resolver.statusOf(name).v6[0]).toBe('2001:db8::2')
    world.answer = () => found([], 5, ['2001:db8::2'])
    await world.walk(6_000)
    expect(world.v4).toBe('')
  })

  test('may be this machine where the settings allow it, but never nowhere', async () => {
    const world = new World({ allowLocal: true })
    world.answer = () => found(['127.0.0.1', '0.0.0.0', '169.254.0.7'])
    await world.want(name)
    expect(world.v4).toBe('127.0.0.1 169.254.0.7')
  })
})

describe('many host names', () => {
  const names = Array.from({ length: 200 }, (_, i) => `h${i}.example.net.`)

  test('are looked up a few at once, and hanging ones do not stop the start', async () => {
    const world = new World()
    world.answer = () => undefined
    world.resolver.want(names)
    const settled = world.resolver.settled()
    await world.walk(resolveLimits.startPatienceMs)
    await settled
    expect(world.asked).toHaveLength(resolveLimits.inFlightMax)
  })

  test('are all found', async () => {
    const world = new World()
    world.resolver.want(names)
    await world.resolver.settled()
    expect(world.resolver.counts().hostnames.resolved).toBe(200)
  })
})

describe('after a restart', () => {
  const stored = [{ hostname: name, v4: ['192.0.2.7'], v6: [], atMs: startMs - 60_000 }]

  test('the last good addresses are there before the first answer, with their age', () => {
    const world = new World({ stored })
    world.answer = () => undefined
    world.resolver.want([name])
    expect(world.v4).toBe('192.0.2.7')
    expect(world.resolver.counts().ageSeconds).toBe(60)
  })

  test('the addresses found are kept for the next resolver', async () => {
    const world = new World()
    await world.want(name)
    await world.walk(resolveLimits.storeEveryMs)
    expect(world.kept).toEqual([{ hostname: name, v4: ['192.0.2.1'], v6: [], atMs: startMs }])
  })
})
