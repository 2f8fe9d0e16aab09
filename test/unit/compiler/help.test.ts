// Tests the advice of findings in cases where a wrong one would mislead people.
import { expect, test } from 'vitest'
import { createCompiler } from '#compiler/compile.ts'
import { helpOf, messageOf } from '#diagnostics/diagnostics.ts'
import { jsonSchemaOf } from '#schemas/json-schema.ts'
import { kindNames } from '#schemas/kinds.ts'
import { patternAdvice } from '#lib/text/patterns.ts'
import { sourceFile } from './fixture.ts'

const pool = (rest: string): string => `apiVersion: gslb/v1\nkind: Pool\n${rest}`
const named = (name: string): string => pool(`metadata: { name: ${name} }\nspec: {}\n`)
const soa = (rname: string): string =>
  'apiVersion: gslb/v1\nkind: Settings\nmetadata: { name: s }\n' +
  `spec: { defaults: { nameservers: [{ name: ns1.example. }], soa: { rname: ${rname} } } }\n`
const signed = (dnssec: string): string =>
  'apiVersion: gslb/v1\nkind: Settings\nmetadata: { name: s }\n' +
  `spec: { zones: [{ name: example., dnssec: { enabled: true, ${dnssec} } }] }\n`

const cases: readonly [title: string, text: string, code: string, words: RegExp][] = [
  ['a name of two lines', named('"a\\nb"'), 'field-format', /^write it on one line/],
  [
    'a uid that is a word',
    pool('metadata: { name: a, uid: mine }\nspec: {}\n'),
    'field-format',
    /^write 32 hexadecimal digits as 01976c1e-/,
  ],
  [
    'no spec',
    pool('metadata: { name: a }\n'),
    'field-missing',
    /^write "spec:" with its fields below it, indented \(.*members.*\), or "spec: \{\}"$/,
  ],
  [
    'no metadata',
    pool('spec: {}\n'),
    'field-missing',
    /^write "metadata:" with at least name below it, indented$/,
  ],
  [
    'a member without a port',
    pool('metadata: { name: a }\nspec: { members: [{ ipAddress: 192.0.2.1 }] }\n'),
    'field-missing',
    /^write "port:" and a whole number: /,
  ],
  [
    'a list for a mapping',
    pool('metadata: { name: a }\nspec: []\n'),
    'field-shape',
    /^remove the dashes or brackets/,
  ],
  [
    'an algorithm that is none',
    'apiVersion: gslb/v1\nkind: Service\nmetadata: { name: a }\n' +
      'spec: { domain: a.example., algorithm: random }\n',
    'field-value',
    /^the values are round-robin, .*[a-z]$/,
  ],
  [
    'a model of keys that is none',
    signed('model: KSKZSK'),
    'field-value',
    /^the values are csk, kskzsk$/,
  ],
  [
    'an algorithm of keys that is none',
    signed('algorithm: rsasha256'),
    'field-value',
    /^the values are ecdsap256sha256, ed25519$/,
  ],
  [
    'a life of keys in seconds',
    signed('policy: { zsk: 1s }'),
    'field-format',
    /^write years, days/,
  ],
  [
    'a wait that never ends',
    signed('policy: { propagation: never }'),
    'field-format',
    /^write days, hours, minutes or seconds/,
  ],
  [
    'a rule for a member that is not, beside one of no address',
    pool(
      'metadata: { name: a }\nspec:\n  members: [{ ipAddress: 192.0.2.300, port: 1 }, ' +
        '{ ipAddress: 192.0.2.7, port: 1 }]\n' +
        '  geoRules: [{ cidr: 10.0.0.0/8, endpoint: 192.0.2.9 }]\n',
    ),
    'geo-rule-endpoint-unknown',
    /^name a member, such as 192\.0\.2\.7$/,
  ],
  ['a number in place of text', named('42'), 'field-type', /^put quotes around it: name: "42"$/],
  [
    'a mailbox for a name',
    soa('hostmaster@example.com'),
    'name-invalid',
    /"hostmaster\.example\.com\."/,
  ],
  ['a mailbox with the dot', soa('dns@example.com.'), 'name-invalid', /"dns\.example\.com\."/],
  ['an empty label', soa('dns..example.com'), 'name-invalid', /"dns\.example\.com\."/],
  ['a mailbox with a dot', soa('a.b@example.com'), 'name-invalid', /"a\\.b\.example\.com\."/],
]
for (const [title, text, code, words] of cases) {
  test(`${title}: the help says what to write`, () => {
    const path = text.includes('Settings') ? 'gslb.yaml' : 'tenants/default/a.yaml'
    const { diagnostics } = createCompiler().compile([sourceFile(path, text)], { commit: '' })
    const found = diagnostics.find((one) => one.code === code)
    if (found === undefined) throw new Error(JSON.stringify(diagnostics))
    const said = code === 'name-invalid' ? `did you mean "${found.suggestion}"` : helpOf(found)
    expect(said).toMatch(words)
  })
}

test.each([
  ['spec: { minHealthy: 1e999 }', 'got a number that none can hold'],
  ['spec: { minHealthy: 2, members: [{ ipAddress: 192.0.2.7, port: 1 }] }', 'has 1 member'],
])('%s: the message says what is wrong', (spec, words) => {
  const file = sourceFile('tenants/default/a.yaml', pool(`metadata: { name: a }\n${spec}\n`))
  const { diagnostics } = createCompiler().compile([file], { commit: '' })
  expect(diagnostics.map(messageOf).join()).toMatch(new RegExp(`${words}($|,)`))
})

test('every pattern of the schemas has its words', () => {
  const patterns = new Set<string>()
  const named = new Set<string>()
  JSON.stringify(kindNames.map(jsonSchemaOf), (key, value: unknown) => {
    if (key === 'pattern' && typeof value === 'string') patterns.add(value)
    if (key === 'patternProperties')
      for (const name of Object.keys(value as object)) named.add(name)
    return value
  })
  // A pattern for the names of a map counts when it asks for more than any text.
  for (const name of named) if (name in patternAdvice) patterns.add(name)
  expect([...patterns].sort()).toEqual(Object.keys(patternAdvice).sort())
})
