// Which answers of the answer path a rate limit counts as one, and what it does with too many.
import { describe, expect, test } from 'vitest'
import { setRates } from '#answer/rate-limit/rate-memory.ts'
import { cookieCells } from '#test/support/dns/cookies.ts'
import { modelOfWritten } from '#test/support/dns/written-zone.ts'
import { limitedPath, rates } from '#test/support/rate-limits.ts'
import type { LimitedPath, PathParts } from '#test/support/rate-limits.ts'
import { rule } from '#test/support/response-rules.ts'
import { zone } from '#test/support/bundle-models.ts'

const written = modelOfWritten({
  name: 'example.org.',
  text: `$TTL 300
@ SOA ns.example.net. host.example.net. 1 2 3 4 5
@ NS ns.example.net.
www A 192.0.2.1
other A 192.0.2.2
*.wild A 192.0.2.3
alias CNAME www
moved DNAME wild
child NS ns.child
ns.child A 192.0.2.4
second NS ns.example.net.
dangling CNAME none
big TXT "${'x'.repeat(250)}" "${'y'.repeat(250)}" "${'z'.repeat(250)}"
`,
})
const model = {
  ...written,
  zones: [...written.zones, zone('sub.example.net.')],
  responseRules: [
    rule(1, 'domain', 'blocked.example.org.'),
    rule(2, 'domain', 'foreign.example.com.', { action: 'cname', target: 'www.example.org.' }),
  ],
}

const perSecond = 5
const path = (parts: Partial<PathParts> = {}): LimitedPath => limitedPath({ model, ...parts })

/** Names that have one answer, however many of them there are. */
const endless = (suffix: string): string[] =>
  Array.from({ length: perSecond * 2 }, (_, i) => `n${i}.${suffix}`)

describe('answers that count as one', () => {
  test.each([
    ['one name', ['www.example.org. A'], 'answer'],
    ['one name, in other letters', ['www.example.org. A', 'WWW.Example.ORG. A'], 'answer'],
    ['all types of one name', ['www.example.org. A', 'www.example.org. ANY'], 'answer'],
    ['the names of a wildcard', endless('wild.example.org. A'), 'answer'],
    ['the names below a DNAME', endless('moved.example.org. A'), 'answer'],
    ['an alias', ['alias.example.org. A'], 'answer'],
    ['names of a response rule that is an alias', endless('foreign.example.com. A'), 'answer'],
    ['a referral, for all names below it', endless('child.example.org. A'), 'referral'],
    ['a name without such records', ['www.example.org. AAAA', 'www.example.org. MX'], 'nodata'],
    ['names of a wildcard without such records', endless('wild.example.org. MX'), 'nodata'],
    ['all names that a zone has not', endless('example.org. A'), 'nxdomain'],
    ['all names that a rule denies', endless('blocked.example.org. A'), 'nxdomain'],
    ['an alias of a name that is not there', ['dangling.example.org. A'], 'nxdomain'],
    ['all errors', ['www.example.com. A', 'www.example.org. AXFR', 'a.b. TXT'], 'error'],
  ])('are those of %s', (_name, questions, name) => {
    const { ask, limited } = path()
    const replies = Array.from({ length: perSecond + 4 }, (_, i) =>
      ask(questions[i % questions.length]!),
    )
    expect(replies.slice(0, perSecond)).not.toContain(undefined)
    expect(replies.slice(perSecond)).toEqual([undefined, undefined, undefined, undefined])
    expect(limited()).toEqual([`${name} drop: 4`])
  })

  test.each([
    ['another name', 'other.example.org. A'],
    ['the name that a wildcard hangs from', 'wild.example.org. A'],
    ['another class of the same name', 'www.example.org. AAAA'],
    ['another delegation', 'a.second.example.org. A'],
    ['another zone', 'none.sub.example.net. A'],
    ['what a rule denies', 'a.blocked.example.org. A'],
    ['an error', 'www.example.com. A'],
  ])('leave the answers for %s alone', (_name, question) => {
    const { ask, count } = path()
    for (const asked of [
      ...['www.example.org. A', 'a.wild.example.org. A', 'a.child.example.org. A'],
      'none.example.org. A',
    ]) {
      count(perSecond * 2, asked)
    }
    for (let i = 0; i < perSecond; i++) expect(ask(question)).toBeDefined()
  })

  test('CHAOS is counted by its name, and what is malformed as an error', () => {
    const { count, limited } = path({ settings: { versionBind: 'one' } })
    expect(count(9, 'version.bind. TXT', '192.0.2.1', { class: 3 })).toBe(perSecond)
    expect(count(9, 'x. A', '192.0.2.1', { trailing: Buffer.of(1) })).toBe(perSecond)
    expect(count(9, 'x. A', '192.0.2.1', { opcode: 5 })).toBe(0)
    expect(limited()).toEqual(['answer drop: 4', 'error drop: 13'])
  })

  test('an answer that is too long for UDP counts as one of its name', () => {
    const { ask, limited, counters } = path()
    for (let i = 0; i < perSecond; i++) expect(ask('big.example.org. TXT')?.tc).toBe(true)
    expect(ask('big.example.org. TXT')).toBeUndefined()
    expect(limited()).toEqual(['answer drop: 1'])
    expect(counters.snapshot().truncated).toBe(perSecond)
  })

  test('all answers of a network together have a limit of their own', () => {
    const limits = { rates: rates(5, { classes: { all: 7 } }) }
    const { ask, limited } = path({ limits })
    const replies = endless('example.org. TXT').map((_, i) =>
      ask(['www.example.org. A', 'other.example.org. A'][i % 2]!),
    )
    expect(replies.filter((reply) => reply !== undefined).length).toBe(7)
    expect(limited()).toEqual(['all drop: 3'])
  })

  test('a class without a limit has none', () => {
    const { count } = path({ limits: { rates: rates(5, { classes: { nxdomain: 0 } }) } })
    expect(count(500, 'none.example.org. A')).toBe(500)
    expect(count(500, 'www.example.org. A')).toBe(5)
  })
})

describe('networks', () => {
  test.each([
    ['192.0.2.1', '192.0.2.254', true],
    ['192.0.2.1', '192.0.3.1', false],
    ['2001:db8::1', '2001:db8:0:ff:ffff::1', true],
    ['2001:db8::1', '2001:db8:0:100::1', false],
    ['::ffff:192.0.2.1', '192.0.2.200', true],
    ['0.0.2.1', '::2', false],
  ])('%s and %s are one: %s', (one, other, isSame) => {
    const { count } = path()
    expect(count(9, 'www.example.org. A', one)).toBe(perSecond)
    expect(count(9, 'www.example.org. A', other)).toBe(isSame ? 0 : perSecond)
  })

  test.each([
    [{ ipv4Bits: 32 }, '192.0.2.1', '192.0.2.2'],
    [{ ipv4Bits: 8 }, '192.0.2.1', '193.0.2.1'],
    [{ ipv6Bits: 64 }, '2001:db8::1', '2001:db8:0:1::1'],
    [{ ipv6Bits: 16 }, '2001:db8::1', '2002:db8::1'],
  ])('with %o, %s and %s are two', (limits, one, other) => {
    const { count } = path({ limits })
    expect(count(9, 'www.example.org. A', one)).toBe(perSecond)
    expect(count(9, 'www.example.org. A', other)).toBe(perSecond)
  })

  test.each([
    ['192.0.2.7', true],
    ['192.0.2.8', false],
    ['198.51.100.0', true],
    ['198.51.100.255', true],
    ['198.51.101.0', false],
    ['2001:db8:1::', true],
    ['2001:db8:1:ffff::1', true],
    ['2001:db8:2::', false],
    ['::ffff:198.51.100.9', true],
    ['255.255.255.255', true],
  ])('%s is exempt: %s', (client, isExempt) => {
    const exempt = ['192.0.2.7', '198.51.100.0/24', '2001:db8:1::/48', '255.255.255.255/32']
    const { count, limited } = path({ limits: { exempt } })
    expect(count(9, 'www.example.org. A', client)).toBe(isExempt ? 9 : perSecond)
    expect(limited().length).toBe(isExempt ? 0 : 1)
  })

  test('exempt by the configuration come with the bundle, besides those of the settings', () => {
    const routing = { ...written.routing, rateLimitExempt: ['203.0.113.0/24'] }
    const limits = { exempt: ['192.0.2.7'] }
    const { count } = limitedPath({ model: { ...model, routing }, limits })
    expect(count(9, 'www.example.org. A', '203.0.113.9')).toBe(9)
    expect(count(9, 'www.example.org. A', '192.0.2.7')).toBe(9)
    expect(count(9, 'www.example.org. A', '192.0.2.8')).toBe(perSecond)
  })

  test('an exempt client takes nothing from its neighbours', () => {
    const { count } = path({ limits: { exempt: ['192.0.2.7'] } })
    expect(count(100, 'www.example.org. A', '192.0.2.7')).toBe(100)
    expect(count(9, 'www.example.org. A', '192.0.2.8')).toBe(perSecond)
  })
})

describe('an answer beyond the limit', () => {
  test('is never one for a client with a valid cookie, which takes nothing from the others', () => {
    const { tx, count } = path()
    const reset = tx.reset.bind(tx)
    tx.reset = () => {
      reset()
      tx.hasValidCookie = true
    }
    expect(count(99, 'www.example.org. A')).toBe(99)
    tx.reset = reset
    expect(count(99, 'www.example.org. A')).toBe(perSecond)
  })

  test('is an empty one with TC where the slip is 1', () => {
    const settings = { nsid: 'a long name of a node', versionBind: '' }
    const { ask, limited } = path({ settings, limits: { rates: rates(1, { slip: 1 }) } })
    const parts = { opt: { options: [{ code: 3, data: Buffer.alloc(0) }] } }
    const asked = (question: string) => ask(question, '192.0.2.1', parts)
    expect(asked('www.example.org. A')?.answer.length).toBe(1)
    const slipped = asked('www.example.org. A')
    expect(slipped).toMatchObject({ tc: true, aa: true, rcode: 0 })
    expect(slipped).toMatchObject({ answer: [], authority: [], additional: [] })
    expect(slipped?.opt?.options).toEqual([])
    asked('none.example.org. A')
    expect(asked('none.example.org. A')).toMatchObject({ tc: true, rcode: 3, authority: [] })
    expect(limited()).toEqual(['answer slip: 1', 'nxdomain slip: 1'])
  })

  test('keeps the cookie and the client subnet when it is cut, and nothing longer', () => {
    const cookie = Buffer.from('0123456789abcdef', 'hex')
    const subnet = Buffer.from('00011800c63364', 'hex')
    const options = [
      { code: 3, data: Buffer.alloc(0) },
      { code: 8, data: subnet },
      { code: 10, data: cookie },
    ]
    const settings = { nsid: 'a long name of a node', versionBind: '', cookies: cookieCells() }
    const { ask } = path({ settings, limits: { rates: rates(1, { slip: 1 }) } })
    const parts = { opt: { options } }
    ask('www.example.org. A', '192.0.2.1', parts)
    const slipped = ask('www.example.org. A', '192.0.2.1', parts)
    expect(slipped).toMatchObject({ tc: true, answer: [] })
    expect(slipped?.opt?.options.map(({ code }) => code)).toEqual([8, 10])
    const [left, jar] = slipped?.opt?.options ?? []
    expect(left?.data.toString('hex')).toBe(subnet.toString('hex'))
    expect(jar?.data.subarray(0, 8)).toEqual(cookie)
  })

  test.each([2, 3, 10])('is an empty one about once in %i, at random', (slip) => {
    const { ask, limited } = path({ limits: { rates: rates(1, { slip }) } })
    ask('www.example.org. A')
    const replies = Array.from({ length: 3_000 }, () => ask('www.example.org. A'))
    const slipped = replies.filter((reply) => reply?.tc === true).length
    expect(slipped / 3_000).toBeCloseTo(1 / slip, 1)
    expect(limited()).toEqual([`answer drop: ${3_000 - slipped}`, `answer slip: ${slipped}`])
  })

  test('goes out in a dry run, and is counted', () => {
    const { count, limited } = path({ limits: { rates: rates(5, { isDryRun: true, slip: 2 }) } })
    expect(count(9, 'www.example.org. A')).toBe(9)
    expect(limited()).toEqual(['answer would: 4'])
  })

  test('is one again as soon as the rates are changed', () => {
    const { memory, count } = path({ limits: { rates: rates(5, { isDryRun: true }) } })
    expect(count(9, 'www.example.org. A')).toBe(9)
    setRates(memory, rates(5))
    expect(count(9, 'www.example.org. A')).toBe(0)
    setRates(memory, rates(0))
    expect(count(9, 'www.example.org. A')).toBe(9)
  })
})

describe('time', () => {
  test('brings the answers of the rate, up to those of the window', () => {
    const { count, pass } = path({ limits: { rates: rates(5, { windowMs: 3_000 }) } })
    expect(count(99, 'www.example.org. A')).toBe(15)
    pass(199)
    expect(count(9, 'www.example.org. A')).toBe(0)
    pass(1)
    expect(count(9, 'www.example.org. A')).toBe(1)
    pass(1_000)
    expect(count(99, 'www.example.org. A')).toBe(5)
    pass(3_600_000)
    expect(count(99, 'www.example.org. A')).toBe(15)
  })

  test.each([2 ** 31 / 1_000, 2 ** 32 / 1_000, 2 ** 33 / 1_000])(
    'goes on where microseconds leave 32 bits (at %d ms)',
    (turnMs) => {
      const { count, pass } = path({ startMs: turnMs - 100 })
      expect(count(9, 'www.example.org. A')).toBe(5)
      pass(200)
      expect(count(9, 'www.example.org. A')).toBe(1)
    },
  )

  test.each([0, 2 ** 32 / 1_000 - 5_000])(
    'an empty table holds nothing back (at %d ms)',
    (startMs) => {
      const { count } = path({ startMs })
      expect(count(9, 'www.example.org. A')).toBe(5)
    },
  )
})
