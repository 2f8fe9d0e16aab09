// Tests that reading any file ends soon, with findings, and never with an exception.
import fc from 'fast-check'
import { readFileSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { createCompiler } from '#compiler/compile.ts'
import { formats } from '#diagnostics/print/formats.ts'
import { fileBytesMax } from '#compiler/read/source.ts'
import { laneCount } from '#test/support/lane.ts'

const corpus = join(import.meta.dirname, '../../fuzz/corpus/yaml')

function compileBytes(bytes: Uint8Array, path = 'tenants/default/x.yaml') {
  const file = { path, blobId: 'x', kind: 'file', sizeBytes: bytes.length, bytes } as const
  const result = createCompiler().compile([file], { commit: '' })
  for (const print of Object.values(formats)) print(result)
  return result
}

for (const name of readdirSync(corpus)) {
  test(`the corpus file ${name} is refused`, () => {
    expect(compileBytes(readFileSync(join(corpus, name))).ok).toBe(false)
  })
}

const fill = (piece: string, bytes: number) => piece.repeat(Math.floor(bytes / piece.length))
/** Enough to see what grows faster than the file; two kinds are as large as a file may be. */
const large = fileBytesMax / 4
const repeated: readonly [title: string, text: string][] = [
  ['opening brackets', fill('[', fileBytesMax)],
  ['nested lists on one line', fill('- ', large)],
  ['nested mappings on one line', fill('{a: ', large)],
  ['keys that repeat', fill('a: 1\n', fileBytesMax)],
  ['anchors', fill('&a ', large)],
  ['aliases', `a: &a [x]\nb: [${fill('*a,', large).slice(0, -20)}]`],
  ['open quotes', fill('"', large)],
]
for (const [title, text] of repeated) {
  test(`a large file of ${title} is refused in bounded time`, () => {
    const result = compileBytes(new TextEncoder().encode(text))
    expect(result.ok).toBe(false)
    expect(result.diagnostics.length).toBeLessThanOrEqual(200)
  })
}

test('no sequence of octets makes the compiler throw', () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 400 }), (bytes) => void compileBytes(bytes)),
    { numRuns: laneCount(300, 60) },
  )
})

const valid = `apiVersion: gslb/v1
kind: Pool
metadata: { name: web, uid: 01976c1e-7e5c-7000-8000-000000000001 }
spec:
  healthCheck: { type: http, port: 8081, httpPath: /healthz }
  members:
    - { name: a, ipAddress: 192.0.2.1, port: 8081, weight: 2 }
`
test('no change to a good file makes the compiler throw', () => {
  const piece = fc.constantFrom(
    '[',
    '{',
    '}',
    '&a ',
    '*a',
    '!!str ',
    '---\n',
    '? ',
    ': ',
    '\t',
    '"',
    '\n',
    '__proto__: ',
    '-1',
    'null',
    '\u{1F600}',
  )
  const edit = fc.tuple(fc.nat(valid.length), fc.nat(12), piece)
  fc.assert(
    fc.property(fc.array(edit, { minLength: 1, maxLength: 4 }), (edits) => {
      let text = valid
      for (const [at, cut, insert] of edits)
        text = text.slice(0, at) + insert + text.slice(at + cut)
      compileBytes(new TextEncoder().encode(text))
    }),
    { numRuns: laneCount(500, 100) },
  )
})

test('any plain value in any field gives findings that lie inside the file', () => {
  const kind = fc.constantFrom('Pool', 'Service', 'Tenant', 'Settings')
  fc.assert(
    fc.property(kind, fc.jsonValue(), fc.jsonValue(), (name, metadata, spec) => {
      const text = JSON.stringify({ apiVersion: 'gslb/v1', kind: name, metadata, spec }, null, 1)
      const path = name === 'Settings' ? 'gslb.yaml' : 'tenants/default/x.yaml'
      for (const { spans } of compileBytes(new TextEncoder().encode(text), path).diagnostics) {
        for (const { start, end } of spans) {
          expect(start).toBeGreaterThanOrEqual(0)
          expect(end).toBeLessThanOrEqual(text.length)
          expect(end).toBeGreaterThan(start)
        }
      }
    }),
    { numRuns: laneCount(300, 60) },
  )
})
