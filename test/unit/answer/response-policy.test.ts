// Tests response rules from the side of clients: which rule answers, and how.
import { describe, expect, test } from 'vitest'
import { OptionCode } from '../../support/dns/codes.ts'
import { query } from '../../support/dns/message.ts'
import type { Message } from '../../support/dns/message.ts'
import { wireOf } from '#bundle/encode/record-pool.ts'
import { RrType } from '#dns/rrtype.ts'
import { said } from '../../support/dns/said.ts'
import type { Said } from '../../support/dns/said.ts'
import { smallModel } from '../../support/bundle-models.ts'
import { createRuleAnswerer, rule } from '../../support/response-rules.ts'
import { allocatedBytesPerCall } from '#test/support/allocated-bytes.ts'
import { laneRows } from '#test/support/lane.ts'

const soa =
  'example.org. 30 IN SOA ns1.example.org. hostmaster.example.org. SERIAL 3600 600 86400 30'
const alias = (target: string) => ({ action: 'cname' as const, target })
const responseRules = [
  rule(1, 'domain', 'bad.example.'),
  rule(2, 'exact', 'good.bad.example.', { action: 'passthru' }),
  rule(3, 'domain', 'deep.bad.example.', alias('blocked.example.net.')),
  rule(4, 'exact', 'www.example.org.', alias('maintenance.example.net.')),
  rule(5, 'domain', 'apps.example.org.'),
  rule(6, 'domain', 'ok.apps.example.org.', { action: 'passthru' }),
  rule(7, 'exact', 'bad.example.', alias('exact.example.net.')),
  rule(8, 'domain', 'long.example.', alias(`${'x'.repeat(60)}.`.repeat(4))),
]
const { ask, repeat, hits } = createRuleAnswerer({ ...smallModel, responseRules })
const hitsOf = (trigger: string): number =>
  hits.read().reduce((sum, one) => sum + (one.trigger === trigger ? one.hits : 0), 0)

const denied = (inZone: boolean): Said => ({
  rcode: 'NXDOMAIN',
  aa: inZone,
  answer: [],
  authority: inZone ? [soa] : [],
  additional: [],
})
const answered = (record: string, aa: boolean): Said => ({
  rcode: 'NOERROR',
  aa,
  answer: [record],
  authority: [],
  additional: [],
})
const refused: Said = { rcode: 'REFUSED', aa: false, answer: [], authority: [], additional: [] }

describe('a rule answers', () => {
  const rows: readonly [question: string, answer: Said][] = [
    ['x.bad.example. A', denied(false)],
    ['X.BAD.Example. A', denied(false)],
    ['a.b.c.bad.example. TXT', denied(false)],
    ['bad.example. A', answered('bad.example. 60 IN CNAME exact.example.net.', false)],
    ['notbad.example. A', refused],
    ['example. A', refused],
    ['good.bad.example. A', refused],
    ['x.good.bad.example. A', denied(false)],
    [
      'deep.bad.example. AAAA',
      answered('deep.bad.example. 60 IN CNAME blocked.example.net.', false),
    ],
    [
      'x.deep.bad.example. ANY',
      answered('x.deep.bad.example. 60 IN CNAME blocked.example.net.', false),
    ],
    [
      'www.example.org. CNAME',
      answered('www.example.org. 60 IN CNAME maintenance.example.net.', true),
    ],
    [
      'www.example.org. MX',
      answered('www.example.org. 60 IN CNAME maintenance.example.net.', true),
    ],
    ['x.apps.example.org. A', denied(true)],
    ['apps.example.org. SOA', denied(true)],
    ['ok.apps.example.org. A', answered('ok.apps.example.org. 60 IN A 198.51.100.1', true)],
  ]
  test.each(rows)('%s', (question, expected) => {
    expect(said(ask(question))).toEqual(expected)
  })

  test('class ANY as class IN, and no other', () => {
    expect(ask('x.bad.example. A', { class: 255 }).rcode).toBe(3)
    expect(said(ask('x.bad.example. A', { class: 3 }))).toEqual(refused)
  })

  test('a query for the root is never answered by one', () => {
    expect(said(ask('. NS'))).toEqual(refused)
  })

  test.each(['AXFR', 'IXFR'])('but not a question for %s', (type) => {
    expect(said(ask(`bad.example. ${type}`))).toEqual(refused)
    expect(said(ask(`apps.example.org. ${type}`))).toEqual(refused)
  })
})

describe('behind an alias', () => {
  const record = (name: string, type: number, target: string) => {
    return { name, zone: 0, type, ttlSeconds: 60, rdata: [wireOf(target)] }
  }
  const cname = (name: string, target: string) => record(name, RrType.CNAME, target)
  const chained = createRuleAnswerer({
    ...smallModel,

    rrsets: [
      cname('to-bad.example.org.', 'x.bad.example.org.'),
      cname('to-far.example.org.', 'x.evil.example.'),
      cname('twice.example.org.', 'to-bad.example.org.'),
      cname('to-walled.example.org.', 'walled.example.org.'),
      cname('to-free.example.org.', 'free.bad.example.org.'),
      cname('free.example.org.', 'x.apps.example.org.'),
      cname('to-apps.example.org.', 'x.apps.example.org.'),
      record('moved.example.org.', RrType.DNAME, 'bad.example.org.'),
    ].toSorted((a, b) => (a.name < b.name ? -1 : 1)),
    responseRules: [
      rule(1, 'domain', 'bad.example.org.'),
      rule(2, 'domain', 'evil.example.'),
      rule(3, 'exact', 'walled.example.org.', alias('x.apps.example.org.')),
      rule(4, 'exact', 'free.bad.example.org.', { action: 'passthru' }),
      rule(5, 'exact', 'free.example.org.', { action: 'passthru' }),
      rule(10, 'domain', 'apps.example.org.'),
      rule(6, 'exact', 'outside.example.', alias('www.example.org.')),
      rule(7, 'exact', 'ring.example.org.', alias('ring.example.org.')),
      rule(8, 'exact', 'loop.example.org.', alias('x.bad.example.org.')),
      rule(9, 'exact', 'nothing.example.org.', alias('no-such.example.org.')),
    ],
  })
  const [aOfApps, bad] = ['60 IN A 198.51.100.1', '60 IN CNAME x.bad.example.org.']
  const rows: readonly [string, rcode: string, aa: boolean, answer: string[], soa: boolean][] = [
    ['to-bad.example.org. A', 'NXDOMAIN', true, [`to-bad.example.org. ${bad}`], true],
    ['to-bad.example.org. CNAME', 'NOERROR', true, [`to-bad.example.org. ${bad}`], false],
    [
      'to-far.example.org. A',
      'NXDOMAIN',
      true,
      ['to-far.example.org. 60 IN CNAME x.evil.example.'],
      false,
    ],
    [
      'twice.example.org. TXT',
      'NXDOMAIN',
      true,
      ['twice.example.org. 60 IN CNAME to-bad.example.org.', `to-bad.example.org. ${bad}`],
      true,
    ],
    [
      'a.moved.example.org. A',
      'NXDOMAIN',
      true,
      [
        'moved.example.org. 60 IN DNAME bad.example.org.',
        'a.moved.example.org. 60 IN CNAME a.bad.example.org.',
      ],
      true,
    ],
    [
      'to-walled.example.org. A',
      'NOERROR',
      true,
      [
        'to-walled.example.org. 60 IN CNAME walled.example.org.',
        'walled.example.org. 60 IN CNAME x.apps.example.org.',
        `x.apps.example.org. ${aOfApps}`,
      ],
      false,
    ],
    [
      'outside.example. AAAA',
      'NOERROR',
      false,
      ['outside.example. 60 IN CNAME www.example.org.', 'www.example.org. 60 IN AAAA 2001:db8::1'],
      false,
    ],
    [
      'to-free.example.org. A',
      'NXDOMAIN',
      true,
      ['to-free.example.org. 60 IN CNAME free.bad.example.org.'],
      true,
    ],
    [
      'free.example.org. A',
      'NOERROR',
      true,
      ['free.example.org. 60 IN CNAME x.apps.example.org.', `x.apps.example.org. ${aOfApps}`],
      false,
    ],
    [
      'to-apps.example.org. A',
      'NXDOMAIN',
      true,
      ['to-apps.example.org. 60 IN CNAME x.apps.example.org.'],
      true,
    ],
    [
      'ring.example.org. A',
      'NOERROR',
      true,
      ['ring.example.org. 60 IN CNAME ring.example.org.'],
      false,
    ],
    ['loop.example.org. A', 'NXDOMAIN', true, [`loop.example.org. ${bad}`], true],
    [
      'nothing.example.org. A',
      'NXDOMAIN',
      true,
      ['nothing.example.org. 60 IN CNAME no-such.example.org.'],
      true,
    ],
  ]
  test.each(rows)('%s is %s', (question, rcode, aa, answer, hasSoa) => {
    const reply = said(chained.ask(question))
    const authority = hasSoa ? [soa] : []
    expect(reply).toEqual({ rcode, aa, answer: answer.toSorted(), authority, additional: [] })
  })
})

describe('extended errors', () => {
  const codesOf = (reply: Message): number[] =>
    (reply.opt?.options ?? [])
      .filter(({ code }) => code === OptionCode.EDE)
      .map(({ data }) => data.readUInt16BE(0))

  test('NXDOMAIN of a rule says Blocked, where the client takes EDNS', () => {
    expect(codesOf(ask('x.bad.example. A', { opt: {} }))).toEqual([15])
    expect(codesOf(ask('x.apps.example.org. A', { opt: {} }))).toEqual([15])
    expect(ask('x.bad.example. A').opt).toBeUndefined()
  })

  test('an alias and a name that passes say nothing', () => {
    expect(codesOf(ask('bad.example. A', { opt: {} }))).toEqual([])
    expect(codesOf(ask('ok.apps.example.org. A', { opt: {} }))).toEqual([])
  })
})

test('an alias that does not fit is truncated, with no record at all', () => {
  const long = `${['y', 'z', 'w'].map((letter) => letter.repeat(60)).join('.')}.long.example.`
  expect(ask(`${long} A`).answer).toHaveLength(1)
  const longer = `${'v'.repeat(50)}.${long}`
  const cut = ask(`${longer} A`)
  expect([cut.tc, cut.rcode, cut.answer]).toEqual([true, 0, []])
  expect(ask(`${longer} A`, { opt: {} }).answer).toHaveLength(1)
})

test('each answer counts once for the rule that gave it, a name that passes too', () => {
  const before = ['bad.example.', 'good.bad.example.', 'deep.bad.example.'].map(hitsOf)
  for (const name of [
    'y.bad.example.',
    'bad.example.',
    'good.bad.example.',
    'z.deep.bad.example.',
  ]) {
    ask(`${name} A`)
  }
  const after = ['bad.example.', 'good.bad.example.', 'deep.bad.example.'].map(hitsOf)
  // Two rules are for bad.example.: one for the name, one for what is below it.
  expect(after.map((count, i) => count - before[i]!)).toEqual([2, 1, 1])
})

const measured = ['x.bad.example.', 'deep.bad.example.', 'good.bad.example.', 'x.apps.example.org.']
test.each(laneRows(measured, (_name, row) => row % 2 === 1))(
  'an answer for %s allocates nothing',
  (name) => {
    const packet = query(`${name} A`, { opt: {} })
    const bytes = allocatedBytesPerCall((times) => repeat(packet, times), 10_000)
    expect(bytes).toBeLessThan(0.05)
  },
)

test('without rules the same names are answered as ever', () => {
  const plain = createRuleAnswerer(smallModel)
  expect(said(plain.ask('x.bad.example. A'))).toEqual(refused)
  expect(plain.ask('www.example.org. A').answer).toHaveLength(1)
})
