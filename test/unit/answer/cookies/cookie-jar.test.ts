import { describe, expect, test } from 'vitest'
import { CookieJar, CookieKind, cookieBytes, cookieKindNames } from '#answer/cookies/cookie-jar.ts'
import { cookieCellBytes, SecretWriter } from '#answer/cookies/secret-cells.ts'
import { parseAddress } from '#dns/address.ts'
import { cookieCells, secretOfRfc } from '#test/support/dns/cookies.ts'
import type { CookieParts } from '#test/support/dns/cookies.ts'

const octetsOf = (address: string): Uint8Array => {
  const parsed = parseAddress(address)
  if (!parsed.ok) throw new Error(`${address} is no address`)
  return parsed.value
}
const secondsOf = (cookie: string): number => Number.parseInt(cookie.slice(24, 32), 16)

/** Returns the verdict of a jar about a cookie, and the cookie of its reply. */
function take(jar: CookieJar, cookie: string, client: string): { kind: string; reply: string } {
  const option = Buffer.from(cookie, 'hex')
  const view = new DataView(option.buffer, option.byteOffset, option.length)
  if (!jar.read(view, 0, option.length)) return { kind: 'malformed', reply: '' }
  const address = octetsOf(client)
  const kind = jar.check(Buffer.concat([Buffer.alloc(3), address]), 3, address.length)
  const reply = Buffer.alloc(cookieBytes)
  jar.write(new DataView(reply.buffer, reply.byteOffset, reply.length), 0)
  return { kind: cookieKindNames[kind]!, reply: reply.toString('hex') }
}

const jarOf = (parts: CookieParts): CookieJar => new CookieJar(cookieCells(parts))

/** RFC 9018 appendix A. A.3's time is one at which the cookie of the query is valid still. */
const appendix = [
  {
    is: 'A.1, a client that has none yet',
    secrets: [secretOfRfc],
    client: '198.51.100.100',
    query: '2464c4abcf10c957',
    nowSeconds: 1_559_731_985,
    kind: 'client',
    reply: '2464c4abcf10c957010000005cf79f111f8130c3eee29480',
  },
  {
    is: 'A.2, the same client 40 minutes later, whose cookie is renewed',
    secrets: [secretOfRfc],
    client: '198.51.100.100',
    query: '2464c4abcf10c957010000005cf79f111f8130c3eee29480',
    nowSeconds: 1_559_734_385,
    kind: 'valid',
    reply: '2464c4abcf10c957010000005cf7a871d4a564a1442aca77',
  },
  {
    is: 'A.3, reserved octets, by its reply: the cookie is older than an hour',
    secrets: [secretOfRfc],
    client: '203.0.113.203',
    query: 'fc93fc62807ddb8601abcdef5cf78f71a314227b6679ebf5',
    nowSeconds: 1_559_734_700,
    kind: 'expired',
    reply: 'fc93fc62807ddb86010000005cf7a9acf73a7810aca2381e',
  },
  {
    is: 'A.4, IPv6 and the secret before',
    secrets: ['445536bcd2513298075a5d379663c962', 'dd3bdf9344b678b185a6f5cb60fca715'],
    client: '2001:db8:220:1:59de:d0f4:8769:82b8',
    query: '22681ab97d52c298010000005cf7c57926556bd0934c72f8',
    nowSeconds: 1_559_741_961,
    kind: 'valid',
    reply: '22681ab97d52c298010000005cf7c609a6bb79d16625507a',
  },
]

describe('RFC 9018 appendix A', () => {
  for (const { is, secrets, nowSeconds, client, query, kind, reply } of appendix) {
    test(is, () => {
      expect(take(jarOf({ secrets, nowSeconds }), query, client)).toEqual({ kind, reply })
    })
  }

  test('A.3: reserved octets are hashed as they came, and are zero in the reply', () => {
    const query = 'fc93fc62807ddb8601abcdef5cf78f71a314227b6679ebf5'
    const jar = jarOf({ nowSeconds: secondsOf(query) })
    const { kind, reply } = take(jar, query, '203.0.113.203')
    expect(kind).toBe('valid')
    expect(reply.slice(16, 32)).toBe('010000005cf78f71')
  })
})

const client = '198.51.100.100'
const made = appendix[0]!.reply
const madeSeconds = secondsOf(made)

describe('the age of a cookie', () => {
  const rows = [
    ['new', 0, 'valid', true],
    ['half an hour', 1_800, 'valid', true],
    ['more than half an hour', 1_801, 'valid', false],
    ['an hour', 3_600, 'valid', false],
    ['more than an hour', 3_601, 'expired', false],
    ['five minutes from the future', -300, 'valid', true],
    ['more than five minutes from the future', -301, 'expired', false],
    ['half of all times away', 0x8000_0000, 'expired', false],
  ] as const
  for (const [is, ageSeconds, kind, isKept] of rows) {
    test(`${is}: ${kind}, ${isKept ? 'goes back as it is' : 'a new one goes back'}`, () => {
      const jar = jarOf({ nowSeconds: (madeSeconds + ageSeconds) | 0 })
      const taken = take(jar, made, client)
      expect([taken.kind, taken.reply === made]).toEqual([kind, isKept])
    })
  }

  test('goes on where 32 bits of seconds begin anew', () => {
    const { reply } = take(jarOf({ nowSeconds: 0xffff_fff0 | 0 }), '0102030405060708', client)
    expect(take(jarOf({ nowSeconds: 0x10 }), reply, client)).toEqual({ kind: 'valid', reply })
  })
})

describe('a cookie that is not ours', () => {
  const changed = (at: number): string => {
    const octets = Buffer.from(made, 'hex')
    octets[at]! ^= 1
    return octets.toString('hex')
  }
  const rows = [
    ['another client cookie', changed(0), 'invalid'],
    ['another version', changed(8), 'invalid'],
    ['other reserved octets', changed(11), 'invalid'],
    ['another time', changed(15), 'invalid'],
    ['another first octet of the hash', changed(16), 'invalid'],
    ['another last octet of the hash', changed(23), 'invalid'],
    ['8 octets', made.slice(0, 32), 'invalid'],
    ['15 octets', made.slice(0, 46), 'invalid'],
    ['17 octets', `${made}00`, 'invalid'],
    ['32 octets', made + '00'.repeat(16), 'invalid'],
    ['only zeros', '00'.repeat(24), 'invalid'],
  ] as const
  for (const [is, cookie, kind] of rows) {
    test(`${is} is ${kind}, and a right one goes back`, () => {
      const jar = jarOf({ nowSeconds: madeSeconds })
      const taken = take(jar, cookie, client)
      expect(taken.kind).toBe(kind)
      expect(take(jar, taken.reply, client)).toEqual({ kind: 'valid', reply: taken.reply })
    })
  }

  test('another address, a day of another secret', () => {
    expect(take(jarOf({}), made, '198.51.100.101').kind).toBe('invalid')
    expect(take(jarOf({}), made, '::c633:6464').kind).toBe('invalid')
    expect(take(jarOf({ secrets: ['00'.repeat(16)] }), made, client).kind).toBe('invalid')
  })
})

test('an IPv4 address in IPv6 form is the IPv4 address', () => {
  expect(take(jarOf({}), made, `::ffff:${client}`)).toEqual({ kind: 'valid', reply: made })
})

test('every length but 8 and 16 to 40 is malformed', () => {
  const jar = jarOf({})
  const fine = Array.from({ length: 60 }, (_, length) => length).filter(
    (length) => take(jar, '00'.repeat(length), client).kind !== 'malformed',
  )
  expect(fine).toEqual([8, ...Array.from({ length: 25 }, (_, i) => 16 + i)])
})

test('without secrets there are no cookies', () => {
  expect(new CookieJar().isOn()).toBe(false)
  expect(new CookieJar(new SharedArrayBuffer(cookieCellBytes)).isOn()).toBe(false)
  expect(jarOf({}).isOn()).toBe(true)
})

describe('the secrets of the settings', () => {
  const first = '11'.repeat(16)
  const second = '22'.repeat(16)

  test('are rolled over in three steps, in which every cookie stays valid', () => {
    const shared = cookieCells({ secrets: [first] })
    const writer = new SecretWriter(shared, false)
    const jar = new CookieJar(shared)
    let cookie = take(jar, '0102030405060708', client).reply
    for (const secrets of [[first, second], [second, first], [second]]) {
      writer.setFixed(secrets.map((secret) => Buffer.from(secret, 'hex')))
      const taken = take(jar, cookie, client)
      expect(taken.kind).toBe('valid')
      cookie = taken.reply
    }
    expect(take(jarOf({ secrets: [second] }), cookie, client).kind).toBe('valid')
    expect(take(jarOf({ secrets: [first] }), cookie, client).kind).toBe('invalid')
  })
})

describe('the secrets of days', () => {
  const secretOf = (day: number): Uint8Array => new Uint8Array(16).fill(day)
  const at = (nowSeconds: number): CookieJar => {
    const shared = new SharedArrayBuffer(cookieCellBytes)
    const writer = new SecretWriter(shared, false)
    writer.setDaily(nowSeconds, secretOf)
    writer.tick(nowSeconds)
    return new CookieJar(shared)
  }
  const midnight = 20_000 * 86_400

  test('cookies of yesterday are valid for an hour', () => {
    const { reply } = take(at(midnight - 1), '0102030405060708', client)
    expect(take(at(midnight + 1_000), reply, client)).toEqual({ kind: 'valid', reply })
    expect(take(at(midnight + 3_599), reply, client).kind).toBe('valid')
    expect(take(at(midnight + 3_600), reply, client).kind).toBe('expired')
  })

  test('a node whose clock is behind reads cookies of tomorrow', () => {
    const { reply } = take(at(midnight + 10), '0102030405060708', client)
    expect(take(at(midnight - 200), reply, client)).toEqual({ kind: 'valid', reply })
  })

  test('each day has another one', () => {
    const today = take(at(midnight), '0102030405060708', client).reply
    const others = (day: number): Uint8Array => secretOf(day + 1)
    const shared = new SharedArrayBuffer(cookieCellBytes)
    const writer = new SecretWriter(shared, false)
    writer.setDaily(midnight, others)
    writer.tick(midnight)
    expect(take(new CookieJar(shared), today, client).kind).toBe('invalid')
  })

  test('are in place as days go by, and after a jump of the clock', () => {
    const shared = new SharedArrayBuffer(cookieCellBytes)
    const writer = new SecretWriter(shared, false)
    const asked: number[] = []
    for (const day of [20_000, 20_000, 20_001, 20_002, 19_000]) {
      writer.setDaily(day * 86_400 + 5, (of) => {
        asked.push(of)
        return secretOf(of)
      })
      writer.tick(day * 86_400 + 5)
      const { reply } = take(new CookieJar(shared), '0102030405060708', client)
      expect(take(at(day * 86_400 + 5), reply, client).kind).toBe('valid')
    }
    expect(asked).toEqual([19_999, 20_000, 20_001, 20_002, 20_003, 18_999, 19_000, 19_001])
  })
})

test('kinds have names', () => {
  expect(Object.values(CookieKind).map((kind) => cookieKindNames[kind])).toHaveLength(6)
})
