// Edits of hand-written YAML: what need not change does not.
import assert from 'node:assert/strict'
import fc from 'fast-check'
import { describe, test } from 'vitest'
import { Document, isSeq } from 'yaml'
import { editYaml, printYaml } from '#compiler/yaml/edit.ts'
import { readYaml } from '#compiler/yaml/document.ts'
import { jsonLines } from '#compiler/yaml/parse/json-lines.ts'
import { flowText } from '#compiler/yaml/text.ts'
import type { JsonObject, JsonValue } from '#compiler/yaml/text.ts'
import { anyText } from '#test/support/any-text.ts'

type Fields = Record<string, JsonValue>
interface Draft {
  readonly metadata: Fields
  readonly spec: {
    members: Fields[]
    healthCheck: Fields
    chain: JsonValue[]
    pool: JsonValue
    script: JsonValue
  }
}
interface Case {
  readonly name: string
  readonly before: string
  readonly change: (value: Draft) => unknown
  readonly after: string
}

const pool = `# The web servers of the shop.
apiVersion: gslb/v1
kind: Pool
metadata: { name: web }   # as in the runbook
spec:
  # probed from both sites
  healthCheck: { type: http, port: 443, tls: true }

  members:
    # Frankfurt
    - { name: fra1, ipAddress: 192.0.2.10, port: 443, weight: 10 }  # the old one

    # Paris
    - name: par1
      ipAddress: 192.0.2.20 # moved in May
      port: 443
    # to be ordered: ams1
`

const cases: readonly Case[] = [
  {
    name: 'a number in a mapping on one line',
    before: pool,
    change: ({ spec }) => (spec.members[0]!['weight'] = 5),
    after: pool.replace('weight: 10', 'weight: 5'),
  },
  {
    name: 'a field in a mapping of several lines, its comment kept',
    before: pool,
    change: ({ spec }) => (spec.members[1]!['ipAddress'] = '192.0.2.21'),
    after: pool.replace('192.0.2.20 #', '192.0.2.21 #'),
  },
  {
    name: 'a field more on one line, and one in several lines',
    before: pool,
    change: ({ spec }) => spec.members.forEach((member) => (member['region'] = 'NO')),
    after: pool
      .replace('weight: 10 }', 'weight: 10, region: "NO" }')
      .replace('      port: 443\n', '      port: 443\n      region: "NO"\n'),
  },
  {
    name: 'an id for the object',
    before: pool,
    change: ({ metadata }) => (metadata['uid'] = '01976c1e-7e5c-7000-8000-000000000001'),
    after: pool.replace('name: web }', 'name: web, uid: 01976c1e-7e5c-7000-8000-000000000001 }'),
  },
  {
    name: 'a member that goes, with the comment above it',
    before: pool,
    change: ({ spec }) => spec.members.pop(),
    after: pool.replace(/ {4}# Paris\n[^]*port: 443\n/, ''),
  },
  {
    name: 'the first member goes; what stands above the list may be about the list',
    before: pool,
    change: ({ spec }) => spec.members.shift(),
    after: pool.replace(/ {4}- \{ name: fra1.*\n/, ''),
  },
  {
    name: 'a member more, as the one before it is written',
    before: pool,
    change: ({ spec }) => spec.members.push({ name: 'ams1', ipAddress: '192.0.2.30', port: 443 }),
    after: pool.replace(
      '      port: 443\n',
      '      port: 443\n    - { name: ams1, ipAddress: 192.0.2.30, port: 443 }\n',
    ),
  },
  {
    name: 'all members go',
    before: pool,
    change: ({ spec }) => (spec.members = []),
    after: pool.replace(/members:\n[^]*port: 443\n/, 'members: []\n'),
  },
  {
    name: 'the first member of a pool without any',
    before: 'spec:\n  members: []  # none yet\n  minHealthy: 0\n',
    change: ({ spec }) => spec.members.push({ ipAddress: '192.0.2.1', port: 80 }),
    after:
      'spec:\n  members:  # none yet\n    - { ipAddress: 192.0.2.1, port: 80 }\n  minHealthy: 0\n',
  },
  {
    name: 'a field that goes, on one line',
    before: pool,
    change: ({ spec }) => delete spec.healthCheck['port'],
    after: pool.replace('port: 443, tls', 'tls'),
  },
  {
    name: 'the last field on one line goes',
    before: pool,
    change: ({ spec }) => delete spec.healthCheck['tls'],
    after: pool.replace(', tls: true', ''),
  },
  {
    name: 'a block that goes, with its comment',
    before: 'spec:\n  ttl: 5\n  # checked\n  healthCheck:\n    type: tcp\n  members: []\n',
    change: ({ spec }) => Reflect.deleteProperty(spec, 'healthCheck'),
    after: 'spec:\n  ttl: 5\n  members: []\n',
  },
  {
    name: 'a value where there was none',
    before: 'spec:\n  pool: # to come\n  ttl: 5\n',
    change: ({ spec }) => (spec.pool = 'web, eu'),
    after: 'spec:\n  pool: "web, eu" # to come\n  ttl: 5\n',
  },
  {
    name: 'a script of several lines',
    before: 'spec:\n  filterChain: [geo-ip]\n  script: old # short\n',
    change: ({ spec }) => (spec.script = 'a()\nb()\n'),
    after: 'spec:\n  filterChain: [geo-ip]\n  script: |\n    a()\n    b()\n',
  },
  {
    name: 'a file without a last line end, and one with CRLF',
    before: 'spec:\r\n  ttl: 5',
    change: ({ spec }) => (spec.pool = null),
    after: 'spec:\r\n  ttl: 5\r\n  pool: null\r\n',
  },
  {
    name: 'a list in brackets',
    before: 'spec: { chain: [a, b], ttl: 5 }\n',
    change: ({ spec }) => spec.chain.push('c, d'),
    after: 'spec: { chain: [a, b, "c, d"], ttl: 5 }\n',
  },
]

describe('an edit changes no other line', () => {
  test.each(cases)('$name', ({ before, change, after }) => {
    const value = structuredClone(readYaml(before).value) as Draft
    change(value)
    assert.equal(editYaml(before, value as unknown as JsonObject), after)
  })
})

test('an edit to the same value is no edit', () => {
  assert.equal(editYaml(pool, readYaml(pool).value as JsonObject), pool)
})

const text = fc.oneof(
  fc.constantFrom('NO', 'yes', '1', '1e3', '~', '', ' a', 'a: b', 'a #b', '- x', '0x1f', '<<'),
  anyText({ maxLength: 12 }).filter((one) => one.isWellFormed()),
  fc.constantFrom('a\nb\n', '\n  x\n', 'one\n\n\ntwo', 'tab\there', ' \n', '\n \n', '\n'),
)
/** Signs from word processors and other languages. */
const signs = fc
  .array(
    fc.constantFrom(
      ...['“', '”', '‘', '’', '«', '»', '„', '–', '—', '−', '\u00a0', '\u2007', '\u202f'],
      ...['\u3000', '\u200b', '\u200e', '\u200f', '\ufeff', ' ', ':', 'a', '-', '#', ',', '\n'],
      ...['\u2028', '\u2029', '\u0085'],
    ),
    { maxLength: 6 },
  )
  .map((one) => one.join(''))
const scalar = fc.oneof(
  text,
  signs,
  fc.integer(),
  fc.boolean(),
  fc.constant(null),
  fc.constant(0.5),
)
const key = fc.constantFrom('name', 'uid', 'port', 'ipAddress', 'weight', 'x-y', '1', 'NO')
const { value: anyValue } = fc.letrec<{ value: JsonValue }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 3 },
    scalar,
    fc.array(tie('value'), { maxLength: 4 }),
    fc.dictionary(key, tie('value'), { maxKeys: 4, noNullPrototype: true }),
  ),
}))
const object = fc.dictionary(key, anyValue, { minKeys: 1, maxKeys: 4, noNullPrototype: true })

test('a list in lines of JSON stays one', () => {
  const records = Array.from({ length: 3 }, (_, i) => ({ name: `n${i}`, values: ['192.0.2.1'] }))
  const before = jsonLines({ spec: { records } })
  const after = editYaml(before, { spec: { records: records.slice(1) } })
  assert.equal(after, before.replace('{"name":"n0","values":["192.0.2.1"]},\n', ''))
  const odd = { spec: { records: [{ name: 'a\u2028b\u007f' }] } }
  assert.deepEqual(readYaml(editYaml(before, odd)).value, odd)
})

test('printed and edited texts read as the intended value', () => {
  fc.assert(
    fc.property(object, fc.array(object, { maxLength: 3 }), (first, others) => {
      let now = printYaml(first)
      assert.deepEqual(readYaml(now).value, first)
      for (const other of others) {
        now = editYaml(now, other)
        assert.deepEqual(readYaml(now).value, other)
      }
    }),
    { numRuns: 400 },
  )
})

test('a short text is printed as the library prints it', () => {
  const byLibrary = (text: string): string => {
    const document = new Document([text], { schema: 'core', compat: 'yaml-1.1' })
    assert(isSeq(document.contents))
    document.contents.flow = true
    return document.toString().trim().slice(1, -1).trim()
  }
  const words = ['y', 'No', 'ON', 'off', 'True', 'null', 'e3', 'E-1', 'inf', 'NaN', 'none', 'web-1']
  const ids = ['019adf00-0000-7000-8000-000000000000', '1e345678-0000-0000-0000-000000000000']
  const signs = fc.string({ unit: fc.constantFrom(...'yesnotruflae0129.-_:#'), maxLength: 6 })
  const check = (text: string): void => assert.equal(flowText(text), byLibrary(text))
  for (const text of [...words, ...ids]) check(text)
  fc.assert(fc.property(signs, check))
})
