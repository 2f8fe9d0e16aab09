// RFC 7871: the scope of answers that depend on the client, and of those that do not.
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { BundleModel, ClientRanges } from '#bundle/format/model.ts'
import { Random } from '#lib/random.ts'
import { bareModel, member, newSigningKey, pool, zone } from '#test/support/bundle-models.ts'
import { service, uid } from '#test/support/bundle-models.ts'
import { ask } from '#test/support/dns/client.ts'
import type { AskParts } from '#test/support/dns/client.ts'
import { ecsOf } from '#test/support/dns/ecs.ts'
import { subnet, told } from '#test/support/geo-site.ts'
import { buildNode, publish } from '#test/support/node-under-test.ts'

const [first, inner, outer, other] = ['192.0.2.1', '192.0.2.2', '192.0.2.3', '192.0.2.4']

const geoRules: ClientRanges = {
  v4: [
    // 10.0.0.0/8, with 10.20.0.0/16 and in it 10.20.30.0/24, each of another member.
    { start: 0x0a00_0000, end: 0x0a13_ffff, endpoints: [outer] },
    { start: 0x0a14_0000, end: 0x0a14_1dff, endpoints: [inner, outer] },
    { start: 0x0a14_1e00, end: 0x0a14_1eff, endpoints: [other, inner, outer] },
    { start: 0x0a14_1f00, end: 0x0a14_ffff, endpoints: [inner, outer] },
    { start: 0x0a15_0000, end: 0x0aff_ffff, endpoints: [outer] },
    // 127.0.0.0/16: the tests themselves.
    { start: 0x7f00_0000, end: 0x7f00_ffff, endpoints: [other] },
    { start: 0x7f01_0000, end: 0x7fff_ffff, endpoints: [inner] },
  ],
  v6: [
    {
      start: 0x2001_0db8_0020_0000n << 64n,
      end: (0x2001_0db8_0021_0000n << 64n) - 1n,
      endpoints: [inner],
    },
  ],
}

const model: BundleModel = {
  ...bareModel,
  zones: [zone('test.')],
  pools: [
    pool(1, [first, inner, outer, other], { geoRules }),
    pool(2, ['192.0.2.9']),
    pool(3, [member('192.0.2.10', { enabled: false })], { geoRules }),
    pool(4, ['192.0.2.11', '192.0.2.12']),
  ],
  services: [
    service(1, 'www.test.', { algorithm: 'failover' }),
    service(2, 'one.test.', { pool: 1, filterChain: ['sticky'] }),
    service(3, 'down.test.', { pool: 2 }),
    service(4, '*.wild.test.', { algorithm: 'failover' }),
    service(5, 'plain.test.', { pool: 1 }),
    service(6, 'denied.test.', { algorithm: 'failover' }),
    service(7, 'pinned.test.', { pool: 3, filterChain: ['sticky'] }),
    service(8, 'scripted.test.', { pool: 3, filterChain: ['script:result = []', 'failover'] }),
  ],
  responseRules: [
    {
      uid: uid(0x9000),
      triggerType: 'exact',
      trigger: 'denied.test.',
      action: 'nxdomain',
      target: '',
      signed: false,
      source: 'local',
    },
  ],
}

const key = newSigningKey()
const { node } = buildNode({ trusted: key })
let port = 0
beforeAll(async () => {
  const started = await node.start()
  if (!started.ok) throw new Error(started.error)
  ;({ port } = started.value)
  const activated = await node.activate(publish(key, model, { seq: 1 }))
  if (!activated.ok) throw new Error(activated.error.message)
})
afterAll(() => node.stop())

const askWith = (question: string, client: string | null, parts: AskParts = {}) => {
  const options = client === null ? [] : [subnet(client)]
  return ask({ host: '127.0.0.1', port }, question, { ...parts, opt: { ...parts.opt, options } })
}
async function wwwFor(client: string | null, tcp = false) {
  return told(await askWith('www.test. A', client, { tcp }))
}

describe('section 7.2.1: the scope is how much of the address counted', () => {
  const rows = [
    // The same member for all of 10.20.128.0/17: that is the scope, not the source, not the rule.
    ['10.20.128.0/17', inner, 17],
    ['10.20.128.0/24', inner, 17],
    ['10.20.128.1/32', inner, 17],
    ['10.20.30.0/24', other, 24],
    ['10.20.30.1/32', other, 24],
    ['10.20.31.0/24', inner, 24],
    ['10.21.0.0/16', outer, 16],
    ['10.128.0.0/24', outer, 9],
    ['11.0.0.0/24', first, 8],
    ['128.0.0.0/1', first, 1],
    ['2001:db8:20::/48', inner, 48],
    ['2001:db8:20:1::/64', inner, 48],
    ['2001:db8:21::/64', first, 48],
    ['4000::/2', first, 2],
    // Longer than the source: the answer is not good for all of what was named.
    ['10.20.0.0/16', inner, 20],
    ['10.0.0.0/8', outer, 12],
    ['0.0.0.0/1', first, 5],
    ['2001:db8::/32', first, 43],
  ] as const
  for (const tcp of [false, true]) {
    test.each(rows)(`%s over ${tcp ? 'TCP' : 'UDP'}`, async (client, answer, scope) => {
      expect(await wwwFor(client, tcp)).toEqual({ answer, scope })
    })
  }

  test('a name that a wildcard answers', async () => {
    const reply = told(await askWith('any.wild.test. A', '10.20.30.0/24'))
    expect(reply).toEqual({ answer: other, scope: 24 })
  })

  test('an IPv4-mapped subnet: as the IPv4 one, with 96 bits before it', async () => {
    expect(await wwwFor('::ffff:10.20.30.0/120')).toEqual({ answer: other, scope: 120 })
  })

  test('with a single candidate the client does not count', async () => {
    expect(told(await askWith('one.test. A', '10.20.30.0/24'))).toEqual({
      answer: '192.0.2.9',
      scope: 0,
    })
  })
})

describe('section 7.1.2: a source prefix of 0', () => {
  test.each(['0.0.0.0/0', '::/0'])(
    '%s: the resolver is the client, and nothing is told about it',
    async (client) => {
      expect(await wwwFor(client)).toEqual({ answer: other, scope: 0 })
      expect(await wwwFor(client, true)).toEqual({ answer: other, scope: 0 })
    },
  )

  // PowerDNS Recursor 4.8.8 sends 127.0.0.1/32 for clients of private networks.
  test.each(['127.0.0.1/32', '127.9.0.0/16', '127.0.0.0/8'])(
    '%s, where no client is: the resolver is the client, for this network alone',
    async (client) => {
      expect(await wwwFor(client)).toEqual({ answer: other, scope: 8 })
      expect(await wwwFor(client, true)).toEqual({ answer: other, scope: 8 })
      expect(told(await askWith('one.test. A', client)).scope).toBe(0)
    },
  )

  test('no scope of another client holds for it', async () => {
    expect(await wwwFor('126.0.0.0/8')).toEqual({ answer: first, scope: 8 })
    expect(await wwwFor('112.0.0.0/5')).toEqual({ answer: first, scope: 5 })
  })

  // These look at the client whatever the tables say: for the resolver as for anybody.
  const names = ['pinned.test. A', 'scripted.test. A']
  test.each(names)('%s: what counted was the resolver', async (question) => {
    expect(told(await askWith(question, '10.20.30.0/24')).scope).toBeGreaterThan(0)
    for (const client of ['0.0.0.0/0', '::/0']) {
      expect(told(await askWith(question, client)).scope).toBe(0)
    }
  })
})

describe('section 7.3: what a cache may make of scopes', () => {
  const random = new Random(7_871)
  /** A client near to the rules; in a random network of 8 to 32 bits. */
  const randomSubnet = (): string => {
    const bits = 8 + (random.next() % 25)
    const near = [0x0a14_1e00, 0x0a14_0000, 0x0a00_0000, 0x0b00_0000][random.next() % 4]!
    const address = near ^ (random.next() & ((1 << (random.next() % 24)) - 1))
    const kept = address & (bits === 32 ? -1 : ~((1 << (32 - bits)) - 1))
    return `${[24, 16, 8, 0].map((shift) => (kept >>> shift) & 255).join('.')}/${bits}`
  }
  const word = (client: string): number =>
    client
      .split('/')[0]!
      .split('.')
      .reduce((sum, octet) => sum * 256 + Number(octet), 0)

  test('no answer that is kept under its scope is wrong for another client of it', async () => {
    const cache: { first: number; last: number; answer: string }[] = []
    let hits = 0
    for (let i = 0; i < 2_000; i++) {
      const client = randomSubnet()
      const { answer, scope } = await wwwFor(client)
      const [address, source] = [word(client), Number(client.split('/')[1])]
      const hit = cache.find(({ first: from, last }) => from <= address && address <= last)
      if (hit !== undefined) {
        hits++
        expect([client, hit.answer]).toEqual([client, answer])
      }
      // Section 7.3.1: kept for the shorter of both prefixes, and where the scope is longer, only
      // for the address as it was sent.
      if (scope! > source) continue
      const size = 2 ** (32 - scope!)
      const from = Math.floor(address / size) * size
      cache.push({ first: from, last: from + size - 1, answer })
    }
    expect(hits).toBeGreaterThan(1_000)
  })
})

describe('section 7.2.1 and 7.4: replies that did not depend on the client have scope 0', () => {
  const rows = [
    ['no.test. A', 3],
    ['www.test. AAAA', 0],
    ['www.test. TXT', 0],
    ['www.test. ANY', 0],
    ['down.test. A', 0],
    ['plain.test. A', 0],
    ['denied.test. A', 3],
    ['test. SOA', 0],
    ['test. NS', 0],
    ['www.elsewhere. A', 5],
    ['test. AXFR', 5],
    ['www.test. MAILB', 4],
  ] as const
  for (const tcp of [false, true]) {
    test.each(rows)(`%s over ${tcp ? 'TCP' : 'UDP'}`, async (question, rcode) => {
      const reply = await askWith(question, '10.20.30.0/24', { tcp })
      expect(reply.rcode).toBe(rcode)
      expect(ecsOf(reply.opt)).toEqual({ family: 1, source: 24, scope: 0, address: '0a141e' })
    })
  }

  test('a query with another EDNS version has no option read, and none returned', async () => {
    const reply = await askWith('www.test. A', '10.20.30.0/24', { opt: { version: 1 } })
    expect([reply.rcode, ecsOf(reply.opt)]).toEqual([16, undefined])
  })
})

describe('section 7.2.2: no option in the query, none in the reply', () => {
  test('with OPT and without it, though the answer depends on the client', async () => {
    for (const tcp of [false, true]) {
      expect(await wwwFor(null, tcp)).toEqual({ answer: other })
      const bare = await ask({ host: '127.0.0.1', port }, 'www.test. A', { tcp })
      expect([told(bare).answer, bare.opt]).toEqual([other, undefined])
    }
  })

  test('holds after a query with the option, on the same connection and thread', async () => {
    for (let i = 0; i < 20; i++) {
      expect(await wwwFor('10.20.30.0/24')).toEqual({ answer: other, scope: 24 })
      expect(await wwwFor(null)).toEqual({ answer: other })
      expect(told(await askWith('test. SOA', '10.20.30.0/24')).scope).toBe(0)
    }
  })
})
