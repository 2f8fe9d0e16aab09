import { globSync, readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { parse } from 'yaml'
import { readFile } from '#compiler/read/read-file.ts'
import { laneRows } from '#test/support/lane.ts'

const read = (text: string) => readFile('blob', Buffer.from(text))
const found = (text: string): string[] =>
  read(text).findings.map(
    ({ code, spans: [{ start, end }] }) => `${code} ${text.slice(start, end)}`,
  )

const head = (kind: string): string =>
  `apiVersion: gslb/v1\nkind: ${kind}\nmetadata: { name: one }\n`

const members = 'members: [{ name: a, ipAddress: 192.0.2.1, port: 80 }]'

describe('a file with a field of wrong form', () => {
  test('is told at once what its rules say of the other fields', () => {
    const pool =
      `${head('Pool')}spec:\n` +
      '  minHealthy: -1\n' +
      '  healthCheck: { type: http, timeout: x, httpHeaders: { Authorization: "Bearer abc" } }\n' +
      '  members:\n' +
      '    - { name: a, ipAddress: 192.0.2.1, port: 80, weight: ten }\n' +
      '    - { name: b, ipAddress: 300.1.1.1, port: 80 }\n'
    expect(found(pool).toSorted()).toEqual([
      'address-invalid 300.1.1.1',
      'field-range -1',
      'field-type ten',
      'field-unknown timeout',
      'health-check-header-secret Authorization',
    ])
  })

  test.each([
    // The path has no meaning for a check over TCP, which the type would default to.
    [`healthCheck: { type: htpp, httpPath: /healthz }, ${members}`, 'field-value htpp'],
    // Without weights all would be in service.
    ['minHealthy: 1, members: none', 'field-shape none'],
    ['minHealthy: 2, membres: []', 'field-unknown membres'],
  ])('is not told the echo of that in another: %s', (spec, fault) => {
    expect(found(`${head('Pool')}spec: { ${spec} }\n`)).toEqual([fault])
  })
})

type Tree = Record<string, unknown>

/** Paths of all fields of all mappings and lists. */
function pathsIn(value: unknown, path: readonly string[] = []): (readonly string[])[] {
  if (typeof value !== 'object' || value === null) return []
  return Object.entries(value).flatMap(([key, below]) => {
    const here = [...path, key]
    return [here, ...pathsIn(below, here)]
  })
}

function withAt(value: unknown, [key = '', ...rest]: readonly string[], made: unknown): unknown {
  const copy = (Array.isArray(value) ? [...(value as unknown[])] : { ...(value as Tree) }) as Tree
  copy[key] = rest.length === 0 ? made : withAt(copy[key], rest, made)
  return copy
}

describe('in each example, a value of wrong form', () => {
  const files = globSync('examples/*/{gslb.yaml,tenants/**/*.yaml,rpz/*.yaml}')
  test.each(files)('is the only mistake that is found: %s', (file) => {
    const object: unknown = parse(readFileSync(file, 'utf8'))
    const before = new Set(found(JSON.stringify(object)))
    const paths = pathsIn(object).filter(([first]) => first === 'spec')
    for (const path of laneRows(paths, (_, i) => i < 12 || i % 16 === 0)) {
      for (const wrong of [[[]], -1, true]) {
        const text = JSON.stringify(withAt(object, path, wrong))
        const { object: whole, findings } = read(text)
        if (whole !== undefined) continue
        const echoes = findings
          .filter(({ code }) => !/^(field|not-available)-/.test(code))
          .map(({ code, spans: [{ start, end }] }) => `${code} ${text.slice(start, end)}`)
        expect(new Set(echoes).difference(before), `${path.join('.')} in ${file}`).toEqual(
          new Set(),
        )
      }
    }
  })
})
