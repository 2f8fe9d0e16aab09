// Blocks of YAML are those that the library prints, also where it is not asked.
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { Document, isMap, isScalar, isSeq, visit } from 'yaml'
import type { YAMLMap } from 'yaml'
import { blockText, flowText } from '#compiler/yaml/text.ts'
import type { JsonObject, JsonValue } from '#compiler/yaml/text.ts'

/** By nodes of the library alone. */
function printed(value: JsonValue): string {
  const document = new Document(value, {
    ...{ schema: 'core', compat: 'yaml-1.1', aliasDuplicateObjects: false },
  })
  const isNamed = ({ items }: YAMLMap): boolean =>
    items.map(({ key }) => (isScalar(key) ? key.value : undefined)).join() === 'name,uid'
  const isShort = (node: YAMLMap): boolean => {
    const text = flowText(node.toJSON() as JsonObject)
    const isDeep = node.items.some(({ value: one }) => isMap(one) || isSeq(one))
    return !isDeep && text.length <= 96 && !text.includes('\\n')
  }
  visit(document, {
    Map: (key, node, above) => {
      if ((key !== null && isSeq(above.at(-1))) || isNamed(node)) node.flow = isShort(node)
    },
  })
  return document.toString({ lineWidth: 0, minContentWidth: 0 }).replace(/\n$/, '')
}

const word = fc.constantFrom(
  ...['www.acme.example.', 'gslb/v1', 'a', 'NO', 'y', 'null', 'e1', 'e-5', 'true', '~', '', 'a b'],
  ...[
    '192.0.2.1',
    '1.2',
    '010',
    '0x1f',
    '1e5',
    '1_000',
    '12:30',
    '2026-11-30',
    '.5',
    '-1',
    '1.2.3.4.5',
  ],
  ...[
    '"heritage=external-dns"',
    '"it\'s"',
    '"a\\"b"',
    '"',
    "'",
    'a: b',
    'a #b',
    '# x',
    '- a',
    '"é"',
  ],
  ...[
    '01234567-89ab-4cde-8f01-23456789abcd',
    '1e345678-89ab-4cde-8f01-23456789abcd',
    '2001:db8::1',
  ],
  ...[
    'a\\nb',
    '"x\\n"',
    'x'.repeat(96),
    'a\tb',
    'a\nb',
    'Inf',
    '.inf',
    'a/b:c',
    '<<',
    '=',
    'a.',
    'a-',
  ],
)
const text = fc.oneof(word, fc.string({ maxLength: 12 }))
const key = fc.oneof(fc.constantFrom('name', 'uid', 'spec', 'on', '1', 'a b', 'ttl'), word)
const { value } = fc.letrec<{ value: JsonValue; scalar: JsonValue }>((tie) => ({
  scalar: fc.oneof(text, fc.integer(), fc.constantFrom(null, true, 0.5, -0, 1e21), fc.double()),
  value: fc.oneof(
    { maxDepth: 4 },
    tie('scalar'),
    fc.array(tie('value'), { maxLength: 4 }),
    fc.dictionary(key, tie('value'), { maxKeys: 4, noNullPrototype: true }),
    fc.record({ name: text, uid: text }, { noNullPrototype: true }),
  ),
}))
test('a value is printed as the library prints it', () => {
  fc.assert(
    fc.property(value, (one) => {
      fc.pre(typeof one === 'object' && one !== null)
      fc.pre(!/(?<!\\)\\n/.test(JSON.stringify(one)))
      expect(blockText(one, 0, '\n')).toBe(printed(one))
    }),
    { numRuns: 3_000 },
  )
})
