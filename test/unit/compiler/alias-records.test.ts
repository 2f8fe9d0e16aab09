// ALIAS records: what they become, what is told of them, and what is answered.
import { describe, expect, test } from 'vitest'
import { messageOf } from '#diagnostics/diagnostics.ts'
import { createCompiler } from '#compiler/compile.ts'
import type { SourceFile } from '#compiler/read/source.ts'
import { createRoutingState, rebuildPool } from '#routing/state/candidates.ts'
import { fillSlots } from '#routing/state/slots.ts'
import { answers, asking } from '#test/support/answer-bundle.ts'
import { bundleOf } from '#test/support/bundle-models.ts'
import { compile, messagesOf, records, service, settings } from './record-files.ts'

function modelOf(...files: readonly SourceFile[]) {
  const result = compile(settings, ...files)
  if (!result.ok) throw new Error(result.diagnostics.map(messageOf).join('\n'))
  return result.model
}

const apex = '{ name: "@", type: ALIAS, ttl: 30, values: [lb.example.net.] }'
const text = '{ name: "@", type: TXT, values: [\'"beside"\'] }'

test('an ALIAS is a service with a pool of one host name', () => {
  const model = modelOf(records([apex, text]))
  expect(model.rrsets.map(({ type }) => type)).toEqual([16])
  expect(model.services).toMatchObject([
    { domain: 'example.com.', ttlSeconds: 30, pool: 0, zone: 0, tenant: 'default' },
  ])
  expect(model.pools).toMatchObject([
    { name: 'ALIAS example.com.', members: [{ hostname: 'lb.example.net.' }] },
  ])
})

test('all addresses are answered, at the apex, below a wildcard, and beside other records', () => {
  const wild = '{ name: "*.any", type: alias, values: [lb] }'
  const bundle = bundleOf(modelOf(records([apex, text, wild])))
  const state = createRoutingState(bundle, 1)
  const ask = asking(bundle, state)
  expect(answers(ask('example.com. A'))).toEqual([])
  for (const hostname of [0, 1]) {
    const v6 = ['2001:db8::1']
    fillSlots(bundle, state, hostname, { v4: ['192.0.2.1', '192.0.2.2', '192.0.2.3'], v6 })
  }
  for (const pool of [0, 1]) rebuildPool(bundle, state, pool)
  const all = ['1 192.0.2.1', '1 192.0.2.2', '1 192.0.2.3']
  expect(answers(ask('example.com. A')).sort()).toEqual(all)
  expect(ask('example.com. A').answer[0]).toMatchObject({ ttl: 30 })
  expect(answers(ask('example.com. AAAA'))).toEqual(['28 2001:db8::1'])
  expect(answers(ask('example.com. TXT'))).toEqual(['16 "beside"'])
  expect(answers(ask('x.any.example.com. A')).sort()).toEqual(all)
  expect(answers(ask('x.any.example.com. MX'))).toEqual([])
})

describe('the compiler reports', () => {
  const www = (type: string, value: string) => `{ name: www, type: ${type}, values: [${value}] }`
  test.each<[title: string, files: readonly SourceFile[], message: string]>([
    [
      'addresses beside it',
      [records([www('ALIAS', 'a.example.net.'), www('A', '192.0.2.1')])],
      'www.example.com. has the addresses of another name (ALIAS), so that it cannot have A records',
    ],
    [
      'a CNAME beside it',
      [records([www('ALIAS', 'a.example.net.'), www('CNAME', 'b.example.net.')])],
      'www.example.com. is an alias (CNAME), so that it cannot have ALIAS records',
    ],
    [
      'a service beside it',
      [records([www('ALIAS', 'a.example.net.')]), service('www', 'www.example.com.')],
      'a service answers for www.example.com., so that it cannot have ALIAS records',
    ],
    [
      'two targets',
      [records([www('ALIAS', 'a.example.net., b.example.net.')])],
      'www.example.com. has one ALIAS record at most, not 2',
    ],
    [
      'an address',
      [records([www('ALIAS', '192.0.2.1')])],
      '192.0.2.1 is an address, and ALIAS records name a host',
    ],
    [
      'a circle',
      [records([www('ALIAS', 'web'), '{ name: web, type: ALIAS, values: [www] }'])],
      'aliases lead in a circle: www.example.com. → web.example.com. → www.example.com.',
    ],
    [
      'a name that nodes answer for themselves',
      [records([www('ALIAS', 'web')]), service('web', 'web.example.com.')],
      'www.example.com. is an ALIAS of web.example.com., which nodes ask a resolver for, though ' +
        'they answer for it',
    ],
    [
      'a name that was meant to be elsewhere, and is in this zone without its final dot',
      [records([www('ALIAS', 'a.example.net')])],
      'www.example.com. is an alias of a.example.net.example.com., which does not exist',
    ],
    [
      'the name that others have for it',
      [records([www('ANAME', 'a.example.net.')])],
      'there are no ANAME records; a name that has the addresses of another one is an ALIAS',
    ],
  ])('%s', (_title, files, message) => {
    expect(messagesOf(settings, ...files)).toContain(message)
  })
})

test('an ALIAS of a name of ours that leads elsewhere could lead there itself', () => {
  const cdn = '{ name: www, type: CNAME, values: [shop.example.net.] }'
  const { diagnostics } = compile(
    settings,
    records(['{ name: "@", type: ALIAS, values: [www] }', cdn]),
  )
  expect(diagnostics.map(({ code, suggestion }) => [code, suggestion])).toEqual([
    ['alias-target-own', 'shop.example.net.'],
  ])
})

test('an ALIAS of a name that other servers answer for is looked up in silence', () => {
  const cut = '{ name: eu, type: NS, values: [ns1.example.net.] }'
  for (const target of ['eu', 'lb.eu', 'example.net.']) {
    const sets = [`{ name: "@", type: ALIAS, values: [${target}] }`, cut]
    expect(messagesOf(settings, records(sets))).toEqual([])
  }
})

test('a host that is an ALIAS has addresses', () => {
  const mail = '{ name: mail, type: ALIAS, values: [mx.example.net.] }'
  expect(
    messagesOf(settings, records(['{ name: "@", type: MX, values: [10 mail] }', mail])),
  ).toEqual([])
})

test('a compiler that is kept gives what a new one gives', () => {
  const kept = createCompiler()
  const steps = [
    [apex, text],
    [apex, text, '{ name: b, type: ALIAS, values: [b.example.net.] }'],
    ['{ name: b, type: ALIAS, values: [b.example.net.] }'],
    [text],
    [text, apex],
  ]
  for (const sets of steps) {
    const files = [settings, records(sets), service('www', 'www.example.com.')]
    const [one, other] = [kept, createCompiler()].map((compiler) =>
      compiler.compile(files, { commit: '' }),
    )
    if (one?.ok !== true || other?.ok !== true) throw new Error('it does not compile')
    expect(one.bundle.digest).toBe(other.bundle.digest)
  }
})
