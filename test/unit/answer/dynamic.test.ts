// Answers from both trees: static records and services, and the TXT records written at run time.
import { describe, expect, test } from 'vitest'
import { createRoutingState } from '#routing/state/candidates.ts'
import { encodeWritten } from '#zones/dynamic/written-bundle.ts'
import { asking } from '#test/support/answer-bundle.ts'
import { bundleOf, pool, service } from '#test/support/bundle-models.ts'
import { answered, nodata, nxdomain, said } from '#test/support/dns/said.ts'
import { staticSoa, staticZone } from '#test/support/dns/static-zone.ts'
import { modelOfWritten } from '#test/support/dns/written-zone.ts'
import { txtRrsets } from '#test/support/txt-records.ts'

const text = `${staticZone.text}
*.wild A 192.0.2.7
*.wild TXT "static"
both TXT "static"
_acme.gone CNAME x.acme
`
const main = bundleOf({
  ...modelOfWritten({ ...staticZone, text }),
  pools: [pool(1, ['192.0.2.9'])],
  services: [
    service(1, 'app.example.org.', { pool: 0 }),
    service(2, '*.apps.example.org.', { pool: 0 }),
  ],
})
const { handed, outside, leftOut, hidden } = encodeWritten(
  txtRrsets([
    ['new.new.example.org.', 'moved'],
    ['_a.www.example.org.', 'two'],
    ['_a.www.example.org.', 'one', 30],
    ['www.example.org.', 'beside', 20],
    ['both.example.org.', 'static', 600],
    ['both.example.org.', 'dynamic', 600],
    ['app.example.org.', 'service'],
    ['example.org.', 'apex'],
    ['a.deep.wild.example.org.', 'below'],
    ['*.wild.example.org.', 'both wild'],
    ['_a.x.apps.example.org.', 'below a service'],
    ['*.star2.example.org.', 'star'],
    ['x.acme.example.org.', 'led to'],
    ['out.example.org.', 'hidden'],
    ['x.sub.example.org.', 'hidden'],
    ['sub.example.org.', 'hidden'],
    ['x.old.example.org.', 'hidden'],
    ['a.example.net.', 'not ours'],
  ]),
  main,
)
const state = createRoutingState(main, 1)
const ask = asking(main, state, handed)
const askWithout = asking(main, state)

const txt = (name: string, ttl: number, ...values: string[]) =>
  answered(...values.map((value) => `${name} ${ttl} IN TXT "${value}"`))
const none = nodata(staticSoa)
const missing = nxdomain(staticSoa)

test.each([
  ['of a new name are one rrset with one TTL', '_a.www', 'TXT', ['30', 'one', 'two']],
  ['beside static addresses', 'new.new', 'TXT', ['60', 'moved']],
  ['and static ones are one rrset with the smaller TTL', 'www', 'TXT', ['20', 'beside', 'hello']],
  ['that are static, too, come once', 'both', 'TXT', ['60', 'dynamic', 'static']],
  ['of a service', 'app', 'TXT', ['60', 'service']],
  ['below a wildcard', 'a.deep.wild', 'TXT', ['60', 'below']],
  ['at a wildcard join the static ones', 'x.wild', 'TXT', ['60', 'both wild', 'static']],
  ['at a wildcard of its own', 'x.y.star2', 'TXT', ['60', 'star']],
])('records %s', (_title, name, type, [ttl, ...values]) => {
  const owner = `${name}.example.org.`
  expect(said(ask(`${owner} ${type}`))).toEqual(txt(owner, Number(ttl), ...values))
})

test('records of the apex are answered', () => {
  expect(said(ask('example.org. TXT'))).toEqual(txt('example.org.', 60, 'apex'))
})

test.each([
  ['a name that has TXT records has no others', '_a.www', 'A', none],
  ['an empty name above one exists', 'acme', 'A', none],
  ['an empty name above one exists, for TXT as well', 'star2', 'TXT', none],
  ['a name beside one does not exist', '_b.www', 'TXT', missing],
  ['a name below one does not exist', 'x._a.www', 'TXT', missing],
  ['a wildcard stands for no name beside a new one', 'b.deep.wild', 'A', missing],
  ['a wildcard stands for no empty name above a new one', 'deep.wild', 'A', none],
  ['a wildcard of a service does neither', 'x.apps', 'A', none],
  ['a wildcard of TXT records has no others', 'x.star2', 'A', none],
])('%s', (_title, name, type, expected) => {
  expect(said(ask(`${name}.example.org. ${type}`))).toEqual(expected)
})

test.each([
  ['at an alias', 'out.example.org. TXT'],
  ['below a cut', 'x.sub.example.org. TXT'],
  ['at a cut', 'sub.example.org. TXT'],
  ['below a DNAME', 'x.old.example.org. TXT'],
  ['in another zone', 'a.example.net. TXT'],
])('records %s are hidden', (_title, question) => {
  expect(said(ask(question))).toEqual(said(askWithout(question)))
})

test.each([
  'www.example.org. A',
  'app.example.org. A',
  'x.y.wild.example.org. A',
  'x.y.apps.example.org. A',
  'mail.example.org. MX',
  'example.org. SOA',
  'nowhere.example.org. A',
  'www.example.org. ANY',
  'www.example.org. AAAA',
  'mail.example.org. TXT',
])('%s is answered as without them', (question) => {
  expect(said(ask(question))).toEqual(said(askWithout(question)))
})

describe('an alias', () => {
  test('leads to them', () => {
    expect(said(ask('_acme.gone.example.org. TXT')).answer).toEqual([
      '_acme.gone.example.org. 60 IN CNAME x.acme.example.org.',
      'x.acme.example.org. 60 IN TXT "led to"',
    ])
  })

  test('to a TXT record has NODATA for other types', () => {
    const { rcode, answer } = said(ask('_acme.gone.example.org. A'))
    expect([rcode, answer.length]).toEqual(['NOERROR', 1])
  })
})

test('ANY is the same small answer as for other names', () => {
  expect(said(ask('_a.www.example.org. ANY'))).toEqual(
    answered('_a.www.example.org. 60 IN HINFO "RFC8482" ""'),
  )
})

test('names in no zone are counted, hidden ones, and records too many for one message', () => {
  expect([outside, leftOut, hidden]).toEqual([1, 0, 4])
  const big = bundleOf({
    ...modelOfWritten(staticZone),
    rrsets: [
      {
        ...{ name: 'big.example.org.', zone: 0, type: 16, ttlSeconds: 60 },
        rdata: [Buffer.concat(Array(230).fill(Buffer.concat([Buffer.of(255), Buffer.alloc(255)])))],
      },
    ],
  })
  const records = Array.from({ length: 20 }, (_, i) => {
    return ['big.example.org.', `${i}`.padEnd(250)] as const
  })
  const encoded = encodeWritten(txtRrsets(records), big)
  expect(encoded.leftOut).toBe(16)
  expect(encoded.handed).not.toBeNull()
})

test('without any in our zones there is no bundle', () => {
  expect(encodeWritten(txtRrsets([['a.example.net.', 'x']]), main).handed).toBeNull()
})

test('another main bundle with the same zones and TXT records needs no second encoding', () => {
  const records = txtRrsets([
    ['www.example.org.', 'a'],
    ['x.example.org.', 'b'],
  ])
  const first = encodeWritten(records, main)
  const services = bundleOf({ ...modelOfWritten({ ...staticZone, text }) })
  expect(encodeWritten(records, services, first).handed).toBe(first.handed)
  const others = bundleOf(modelOfWritten({ ...staticZone, text: `${text}x TXT "b2"\n` }))
  expect(encodeWritten(records, others, first).handed).not.toBe(first.handed)
})
