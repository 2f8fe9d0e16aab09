// Each rule of the house refuses its offence and accepts the right form beside it.
import { describe, expect, test } from 'vitest'
import type { Layer } from './layers.ts'
import { idleDependencies } from './tidy/dependency-rules.ts'
import {
  assertionViolations,
  nameViolations,
  openingViolations,
  riddleViolations,
  sizeViolations,
} from './tidy/form-rules.ts'
import { idleExports } from './tidy/export-rules.ts'
import { hotPathViolations, isHot, missingHotFiles } from './tidy/hot-path-rules.ts'
import { importsOf } from './tidy/imports.ts'
import {
  cycleViolations,
  danglingViolations,
  deadFileViolations,
  layerViolations,
  purityViolations,
  reachViolations,
  unusedPackages,
} from './tidy/layer-rules.ts'
import { layerTable, withoutPadding } from './tidy/layer-table.ts'
import { crowdViolations, roomCycleViolations, unfoundTests } from './tidy/room-rules.ts'
import { parseSource } from './tidy/source.ts'
import type { Source } from './tidy/source.ts'
import { wayThrough } from './tidy/way-in.ts'

const low: Layer = { folder: 'low', says: 'x', mayImport: [], packages: [], node: ['crypto'] }
const top: Layer = {
  folder: 'top',
  says: 'y',
  mayImport: ['low/part.ts', 'mid/ports'],
  packages: ['@scope/known'],
  node: 'any',
}

function tree(files: Record<string, string>): Source[] {
  return Object.entries(files).map(([path, text]) => parseSource(path, text))
}

/** Violations without their place. */
const said = (messages: readonly string[]): string[] => messages.map((m) => m.replace(/^\S+: /, ''))

describe('imports are seen', () => {
  const forms: readonly [form: string, text: string][] = [
    ['static', `import { x } from './x.ts'`],
    ['for its effect', `import './x.ts'`],
    ['type', `import type { x } from './x.ts'`],
    ['re-exported', `export { x } from './x.ts'`],
    ['dynamic', `const x = await import('./x.ts')`],
    ['in a type', `type X = import('./x.ts').X`],
    ['required', `const x = require('./x.ts')`],
    ['resolved', `new Worker(import.meta.resolve('./x.ts'))`],
    ['as a worker', `new Worker(new URL('./x.ts', import.meta.url))`],
  ]
  test.each(forms)('%s', (_form, text) => {
    const targets = importsOf(parseSource('low/a.ts', text)).map(({ target }) => target)
    expect(targets).toEqual(['low/x.ts'])
  })

  test('and told apart from what is left at run time', () => {
    const text = `import type { a } from './a.ts'\nimport { b } from './b.ts'`
    const seen = importsOf(parseSource('low/c.ts', text)).map(({ typeOnly }) => typeOnly)
    expect(seen).toEqual([true, false])
  })
})

test('the way in is the shortest through each stop, and no type lies on it', () => {
  const sources = tree({
    'low/a.ts': `import './b.ts'\nimport type { d } from './d.ts'`,
    'low/b.ts': `await import('./c.ts')\nawait import('./stop.ts')`,
    'low/c.ts': `import './d.ts'`,
    'low/stop.ts': `new Worker(new URL('./c.ts', import.meta.url))`,
  })
  expect(wayThrough(sources, ['low/a.ts', 'low/d.ts'])).toEqual(
    ['a', 'b', 'c', 'd'].map((name) => `low/${name}.ts`),
  )
  expect(wayThrough(sources, ['low/a.ts', 'low/stop.ts', 'low/d.ts'])).toEqual(
    ['a', 'b', 'stop', 'c', 'd'].map((name) => `low/${name}.ts`),
  )
  expect(wayThrough(sources, ['low/c.ts', 'low/a.ts'])).toEqual([])
})

describe('layers', () => {
  const cases: readonly [title: string, path: string, text: string, expected: string[]][] = [
    ['accept the folder itself', 'low/a.ts', `import './b.ts'`, []],
    ['accept a listed part', 'top/a.ts', `import '#low/part.ts'`, []],
    ['accept a file of a listed part', 'top/a.ts', `import '#mid/ports/p.ts'`, []],
    ['accept a listed package', 'top/a.ts', `import '@scope/known/deep'`, []],
    ['leave tests alone', 'test/a.test.ts', `import '#top/a.ts'`, []],
    ['refuse upwards', 'low/a.ts', `import '#top/a.ts'`, ['low may not import #top/a.ts']],
    [
      'refuse a part that is not listed',
      'top/a.ts',
      `import '#low/other.ts'`,
      ['top may not import #low/other.ts'],
    ],
    [
      'refuse dynamic imports too',
      'low/a.ts',
      `await import('#top/a.ts')`,
      ['low may not import #top/a.ts'],
    ],
    [
      'refuse worker files too',
      'low/a.ts',
      `new URL('../top/w.ts', import.meta.url)`,
      ['../top/w.ts leaves the folder; write #top/w.ts', 'low may not import ../top/w.ts'],
    ],
    [
      'refuse a strange package',
      'low/a.ts',
      `import 'left-pad'`,
      ['low may not import package left-pad'],
    ],
    ['refuse a module of Node', 'low/a.ts', `import 'node:fs'`, ['low may not import node:fs']],
    ['want a suffix', 'low/a.ts', `import './b'`, ['./b has no suffix; write ./b.ts']],
  ]
  test.each(cases)('%s', (_title, path, text, expected) => {
    expect(said(layerViolations(tree({ [path]: text }), [low, top]))).toEqual(expected)
  })

  test('find packages that nothing of the product imports', () => {
    const sources = tree({ 'top/a.ts': `import 'used'`, 'test/b.ts': `import '@scope/known'` })
    expect(unusedPackages(sources, [low, top], ['used', '@scope/known'])).toEqual([
      'package.json: nothing of the product imports @scope/known',
      'top: its row names @scope/known in vain',
    ])
  })

  test('are shown as a table', () => {
    const row = '| `low/` | x | none | none | crypto |'
    expect(layerTable([low]).split('\n').at(-1)).toBe(row)
    const padded = '| --- |\n| `low/` | x    | none | none | crypto |'
    expect(withoutPadding(padded)).toBe(`| - |\n${row}`)
  })
})

describe('rooms', () => {
  const rows = [{ folder: 'low/rows', table: 'low/table' }]

  test('may import each other in one direction', () => {
    const oneWay = tree({ 'low/a/x.ts': `import '#low/b/y.ts'`, 'low/b/y.ts': '' })
    expect(roomCycleViolations(oneWay, ['low'], rows)).toEqual([])
    const both = tree({
      'low/a/x.ts': `import '#low/b/y.ts'`,
      'low/b/z.ts': `import '#low/c/u.ts'`,
      'low/c/u.ts': `import '#low/a/w.ts'`,
    })
    const circle = 'rooms import each other in a circle: low/a, low/b, low/c'
    expect(roomCycleViolations(both, ['low'], rows)).toEqual([circle])
  })

  test('have tests at their path, or a row that names them', () => {
    const paths = ['test/unit/low/a/x.test.ts', 'test/unit/low/b.test.ts', 'test/e2e/c.test.ts']
    const rooms = ['low/a', 'low/b', 'low/c']
    expect(unfoundTests(rooms, paths, { 'low/c': ['e2e/c.test.ts'] })).toEqual([])
    expect(unfoundTests(rooms, paths, { 'low/a': ['e2e/d.test.ts'] })).toEqual([
      'low/c: no tests below test/unit/low/c, and no row for it',
      'low/a: its row is not needed',
      'low/a: no test e2e/d.test.ts',
    ])
  })

  test('may not name types of each other', () => {
    const named = tree({
      'low/a/x.ts': `import '#low/b/y.ts'`,
      'low/b/y.ts': `import type { x } from '#low/a/x.ts'`,
    })
    const circle = 'rooms import each other in a circle: low/a, low/b'
    expect(roomCycleViolations(named, ['low'], rows)).toEqual([circle])
  })

  test('have their rows beside them', () => {
    const fine = tree({
      'low/table/table.ts': `import '#low/rows/row.ts'`,
      'low/rows/row.ts': `import '#low/table/row-form.ts'`,
    })
    expect(roomCycleViolations(fine, ['low'], rows)).toEqual([])
  })

  test('hold few files, unless they are rows', () => {
    const crowded = ['low/a/x.ts', 'low/a/y.ts', 'low/rows/a.ts', 'low/rows/b.ts', 'test/a.ts']
    const expected = ['low/a: 2 files, at most 1; make rooms']
    expect(crowdViolations(crowded, ['low'], rows, 1)).toEqual(expected)
  })
})

describe('graph rules', () => {
  const chain = tree({
    'top/a.ts': `import type { b } from '#mid/b.ts'`,
    'mid/b.ts': `import '#low/c.ts'`,
    'low/c.ts': `import 'node:fs'`,
  })

  test('find a way of any length to a folder that must stay unknown', () => {
    const rules = [{ from: 'top', never: ['low'] }]
    const expected = ['top reaches low: top/a.ts → mid/b.ts → low/c.ts']
    expect(reachViolations(chain, rules)).toEqual(expected)
    expect(reachViolations(chain, [{ from: 'low', never: ['top'] }])).toEqual([])
  })

  test('find modules of Node that come in through others, but not over types', () => {
    const found = purityViolations(chain, [{ from: 'mid', node: [] }])
    expect(found).toEqual(['mid loads node:fs: mid/b.ts → low/c.ts'])
    expect(purityViolations(chain, [{ from: 'top', node: [] }])).toEqual([])
    expect(purityViolations(chain, [{ from: 'mid', node: ['fs'] }])).toEqual([])
    const file = purityViolations(chain, [{ from: 'mid/b.ts', node: [] }])
    expect(file).toEqual(['mid/b.ts loads node:fs: mid/b.ts → low/c.ts'])
    const heavy = tree({ 'low/a.ts': `import 'heavy/part'` })
    const loaded = purityViolations(heavy, [{ from: 'low', node: [], packages: [] }])
    expect(loaded).toEqual(['low loads heavy/part: low/a.ts'])
    expect(purityViolations(heavy, [{ from: 'low', node: [] }])).toEqual([])
  })

  test('find circles', () => {
    const circle = tree({ 'low/a.ts': `import './b.ts'`, 'low/b.ts': `import './a.ts'` })
    expect(cycleViolations(circle)).toEqual(['cycle: low/a.ts → low/b.ts → low/a.ts'])
    expect(cycleViolations(chain)).toEqual([])
  })

  test('find imports of files that are not there', () => {
    const found = danglingViolations(chain, (path) => path !== 'low/c.ts')
    expect(found).toEqual(['mid/b.ts:1: #low/c.ts does not exist'])
  })

  test('find files that only tests import, and helpers that nobody imports', () => {
    const files = tree({
      'top/main.ts': `import './used.ts'`,
      'top/used.ts': '',
      'low/tested.ts': '',
      'test/a.test.ts': `import '#low/tested.ts'; import './support/near.ts'`,
      'test/support/near.ts': '',
      'test/b.test.ts': `spawn('node', [join(here, 'program.ts')])`,
      'test/program.ts': '',
      'test/support/far.ts': '',
    })
    const dead = deadFileViolations(files, [low, top], ['top/main.ts'])
    expect(dead.map((message) => message.split(':')[0])).toEqual([
      'low/tested.ts',
      'test/support/far.ts',
    ])
  })
})

describe('sizes', () => {
  const sizes = { fileLinesMax: 5, functionLinesMax: 3, columnsMax: 40 }
  const cases: readonly [title: string, text: string, expected: string[]][] = [
    ['accept what fits', 'const a = () => {\n  return 1\n}\n', []],
    ['refuse a long file', '\n'.repeat(6), ['6 lines, at most 5; split it']],
    ['refuse a wide line', `// ${'x'.repeat(40)}`, ['over 40 columns']],
    ['let a link be wide', `// https://example.org/${'x'.repeat(60)}`, []],
    ['refuse a long function', 'function a() {\n\n\n}', ['function of 4 lines, at most 3']],
    ['refuse a long method', 'class A {\nb() {\n\n\n} }', ['function of 4 lines, at most 3']],
    ['let a suite be long', `describe('x', () => {\n\n\n})`, []],
  ]
  test.each(cases)('%s', (_title, text, expected) => {
    expect(said(sizeViolations(parseSource('low/a.ts', text), sizes))).toEqual(expected)
  })
})

test.each([
  ['dns/name-table.ts', 0],
  ['test/unit/dns/name-table.test.ts', 0],
  ['dns/nameTable.ts', 1],
  ['dns/name_table.ts', 1],
  ['dns/utils.ts', 1],
  ['dns/helpers.ts', 1],
  ['dns/name-utils.ts', 1],
  ['dns/index.ts', 1],
  ['dns/common.ts', 1],
])('the name of %s breaks %i rules', (path, count) => {
  expect(nameViolations(path)).toHaveLength(count)
})

test.each([
  ['// What it knows, in one sentence.\nconst a = 1', 0],
  ['#!/usr/bin/env node\n// What it knows.\n', 0],
  ['// A sentence that needs\n// two lines.\n', 0],
  [`import './a.ts'`, 1],
  ['// eslint-disable', 1],
  ['// lower case and no end', 1],
])('the opening of %j breaks %i rules', (text, count) => {
  expect(openingViolations(parseSource('low/a.ts', text))).toHaveLength(count)
})

test('a name that says only that something was said', () => {
  const judge = (path: string, text: string) => riddleViolations(parseSource(path, text))
  const named = 'const told = 1\nfunction planWords() {}\ntype Told = 1'
  expect(judge('low/plan-words.ts', named)).toHaveLength(4)
  expect(judge('low/a.ts', 'const toldoni = 2\nlet { steps } = a')).toEqual([])
  const inner = [
    'let { told } = a',
    'b((told) => 1)',
    'class A { #untold = 1 }',
    'a({ isTold: 1 })',
  ]
  for (const text of inner) expect(judge('low/a.ts', `function c() { ${text} }`)).toHaveLength(1)
  expect(judge('bundle/a.ts', 'const rowWords = 4')).toEqual([])
})

test('an export that no other file imports', () => {
  const judge = (use: string) =>
    idleExports(
      tree({
        'low/a.ts': 'export const a = 1\nexport function b() {}\nexport interface C {}\nlet d',
        'low/package.ts': 'export class E {}',
        'top/use.ts': use,
      }),
      (path) => path === 'low/package.ts',
    )
  expect(judge(`import { a } from '#low/a.ts'\nimport type { C } from '#low/a.ts'`)).toEqual([
    'low/a.ts:2: no other file imports b',
  ])
  expect(judge(`export { a, b as c } from '../low/a.ts'`)).toEqual([
    'low/a.ts:3: no other file imports C',
  ])
  expect(judge(`import '#low/a.ts'`)).toHaveLength(3)
  const wholes = [`import * as all from '#low/a.ts'`, `const { a } = await import('#low/a.ts')`]
  const both = `import type { C } from '#low/a.ts'\n${wholes[1]}`
  for (const whole of [...wholes, both]) expect(judge(whole)).toEqual([])
})

test('a layer that keeps state has assertions, each with a sentence', () => {
  const told = "assert(a, 'a number never falls')\n"
  const judge = (text: string) => assertionViolations(tree({ 'low/a.ts': text }), ['low'], 500)
  expect(judge(`${told}b\n`)).toEqual([])
  expect(judge(`${told}b\nc\n`)).toEqual(['low: 1 assertions in 3 lines; add 1'])
  expect(judge("assert(a, 'fall')\nb\n")).toEqual(['low/a.ts:1: say what holds'])
})

describe('hot-path law', () => {
  const refused: readonly [text: string, offence: string][] = [
    ['new Uint8Array(2)', '`new`'],
    ['const b = [1]', 'an array literal'],
    ['const b = { c: 1 }', 'an object literal'],
    ['const b = () => 1', 'a closure'],
    ['const b = `c`', 'a template string'],
    ['const b = /c/', 'a regular expression'],
    ['b(...c)', 'spread'],
    ['for (const b of c) d(b)', 'an iterator'],
    ['for (const b in c) d(b)', 'an iterator'],
    ['const [b] = c', 'destructuring of an array'],
    ['try { b() } finally { c() }', 'try'],
    ['class B {}', 'a class'],
    ['b.subarray(1)', 'a method that allocates'],
  ]
  test.each(refused)('refuses %j', (body, offence) => {
    const found = hotPathViolations(parseSource('hot.ts', `export function a() { ${body} }`))
    expect(said(found)).toEqual([`${offence} on the hot path`])
  })

  test.each([
    'async function a() { }',
    'function* a() { }',
    'const s = { select: async () => 1 }',
    'class A { async b() { } }',
  ])('refuses %j', (text) => {
    expect(said(hotPathViolations(parseSource('hot.ts', text)))).toEqual([
      'async or generator on the hot path',
    ])
  })

  test.each([
    'const table = [1, 2]; export const s = Object.freeze({ select: (a) => table[a] })',
    'class A { b = new Uint8Array(2); constructor() { this.c = [] } d() { this.b[0] = 1 } }',
    'export const s = { bind(config) { const t = new Map(); return (a) => a + 1 } }',
    'export function createAnswer() { return { x: [] } }',
    'class A { adopt(b) { this.view = new Uint8Array(b) } }',
    'function a() { return [1] } const b = a(); export function c(i) { return b[i] }',
    'const texts = [1].map((n) => Buffer.from([n])); export const t = (i) => texts[i]',
    'export function a(b) { for (let i = 0; i < b.length; i++) b[i] = 0; return -1 }',
  ])('accepts %j', (text) => {
    expect(hotPathViolations(parseSource('hot.ts', text))).toEqual([])
  })

  test.each([
    'function a() { return [1] } export function b() { return a() }',
    'export function a() { return [1] } const b = a()',
    'function a() { return [1] }',
  ])('refuses %j: it may run for a query', (text) => {
    expect(said(hotPathViolations(parseSource('hot.ts', text)))).toEqual([
      'an array literal on the hot path',
    ])
  })

  test('judges what preparation returns', () => {
    const text = 'export const s = { bind() { return (a) => [a] } }'
    expect(said(hotPathViolations(parseSource('hot.ts', text)))).toEqual([
      'an array literal on the hot path',
    ])
  })

  test('knows its files and misses none', () => {
    expect(isHot('routing/ways/a.ts', ['routing/ways/'])).toBe(true)
    expect(isHot('routing/choose/ways.ts', ['routing/ways/'])).toBe(false)
    expect(missingHotFiles(['a/b.ts', 'c/'], ['a/b.ts'])).toHaveLength(1)
  })
})

test('an idle dependency, and a row of what is no program, are found', () => {
  const manifest = JSON.stringify({
    dependencies: { used: '1', '@scope/found': '1', idle: '1' },
    devDependencies: { '@types/used': '1', '@types/idle': '1', runs: '1', '@types/runs': '1' },
  })
  const files = tree({
    'low/a.ts': `import a from 'used/part.js'`,
    'test/b.ts': `require.resolve('@scope/found/package.json')`,
  })
  const programs = { runs: 'npm start', used: 'npm run used', gone: 'npm run gone' }
  expect(idleDependencies(manifest, files, programs)).toEqual([
    'idle is imported nowhere; remove it by npm uninstall',
    '@types/idle is imported nowhere; remove it by npm uninstall',
    'used is no program that only runs; remove its row',
    'gone is no program that only runs; remove its row',
  ])
})
