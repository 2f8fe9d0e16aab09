// Each rule for words refuses its offence and accepts the right form beside it.
import { describe, expect, test } from 'vitest'
import { parseSource } from './source.ts'
import {
  banViolations,
  lockFileViolations,
  openerViolations,
  tagViolations,
  wordViolations,
} from './word-rules.ts'

describe('sentences of comments', () => {
  test.each([
    ['// Of the whole node.', 1],
    ['/** Who asks. */', 1],
    ['const a = 1 // Those that are left.', 1],
    ['class A {\n  #a = 1\n  /** Of a. */\n  b = 2\n}', 3],
    ['/** Kept for a while. Whoever asks gets it. */', 1],
    ['/** Kept (for a while.) Of two, the first one. */', 1],
    ['// Kept for a\n// while. Of two,\n// the first one.', 2],
    ['/**\n * Kept for a while.\n *\n * Those of others go first.\n */', 4],
    ['/**\n * Kept:\n * - Of a node.\n */', 3],
    ['/**\n * @param a Of a node.\n * @returns a\n */', 2],
    ['/** @returns Those of a node. */', 1],
  ])('%j is refused', (text, line) => {
    const found = openerViolations(parseSource('low/a.ts', text))
    expect(found).toEqual([expect.stringMatching(`^low/a.ts:${line}: a sentence opens with "`)])
  })

  test.each([
    '// The sum of all. Whose it is, nobody knows: those who ask are told.',
    '// What is left\n// Of two words in a line.',
    'const a = "// Of a text"',
    'const a = `/** Of a ${b} text */ // Of it`',
    'const a = /\\/\\/ Of a pattern/',
    '// `Of` opens nothing. "Who" neither.',
    '// e.g. the first.\nconst Of = 1',
  ])('%j is right', (text) => {
    expect(openerViolations(parseSource('low/a.ts', text))).toEqual([])
  })
})

describe('tags of a comment', () => {
  test.each([
    ['/** @param a the first @returns both */', 1],
    ['/**\n * @param a the first @param b the second\n */', 2],
  ])('%j is refused', (text, line) => {
    expect(tagViolations(parseSource('low/a.ts', text))).toEqual([
      `low/a.ts:${line}: give each @param, @returns and @throws a line of its own`,
    ])
  })

  test.each(['/** Adds. @returns both */', '/**\n * @param a the first\n * @returns both\n */'])(
    '%j is right',
    (text) => {
      expect(tagViolations(parseSource('low/a.ts', text))).toEqual([])
    },
  )
})

describe('banned constructs', () => {
  const refused: readonly [path: string, text: string, name: string][] = [
    ['lib/a.ts', 'enum A { B }', 'enum'],
    ['lib/a.ts', 'namespace A { export const b = 1 }', 'namespace'],
    ['lib/a.ts', 'export default function a() {}', 'default export'],
    ['lib/a.ts', 'export default 1', 'default export'],
    ['lib/a.ts', `export * from './b.ts'`, 'barrel (`export *`)'],
    ['lib/a.ts', `import { type B } from './b.ts'`, 'inline `{ type X }`'],
    ['test/a.test.ts', `test.only('x', () => {})`, 'skipped or focused test'],
    ['test/a.test.ts', `describe.skip('x', () => {})`, 'skipped or focused test'],
    ['test/a.test.ts', `test.skipIf(true)('x', () => {})`, 'skipped or focused test'],
    ['test/a.test.ts', `vi.mock('#lib/b.ts')`, 'mock of a module or class of ours'],
    ['test/a.test.ts', `vi.mock(import('#lib/b.ts'))`, 'mock of a module or class of ours'],
    ['test/a.test.ts', `vi.doMock('#lib/b.ts')`, 'mock of a module or class of ours'],
    ['test/a.test.ts', `vi.spyOn(B.prototype, 'c')`, 'mock of a module or class of ours'],
    ['test/a.test.ts', 'const a = {} as never', '`as never`'],
    ['lib/a.ts', 'b(c as never)', '`as never`'],
    ['api/a.ts', `console.log('x')`, 'console'],
    ['runtime/a.ts', 'process.env', 'process.env'],
    ['routing/a.ts', 'Math.random()', 'Math.random'],
    ['compiler/a.ts', 'Date.now()', 'a clock'],
    ['compiler/a.ts', 'new Date()', 'a clock'],
    ['compiler/a.ts', 'performance.now()', 'a clock'],
  ]
  test.each(refused)('%s may not say %j', (path, text, name) => {
    const found = banViolations(parseSource(path, text)).map((m) => m.replace(/^\S+: /, ''))
    expect(found).toEqual([expect.stringContaining(`${name} is banned; use `)])
  })

  const accepted: readonly [path: string, text: string][] = [
    ['lib/clock.ts', 'Date.now()'],
    ['cli/a.ts', 'process.env; console.log(1)'],
    ['test/a.test.ts', 'Math.random(); process.env'],
    ['vitest.config.ts', 'export default {}'],
    ['api/a.ts', 'new Date(0)'],
    ['test/a.test.ts', `vi.spyOn(JSON, 'parse'); const a: never[] = []`],
    ['lib/a.ts', `declare module 'x' {}`],
  ]
  test.each(accepted)('%s may say %j', (path, text) => {
    expect(banViolations(parseSource(path, text))).toEqual([])
  })
})

describe('words', () => {
  test.each([
    `TO${'DO'}: later`,
    `see ../${'shared'}/x`,
    `at /${'work'}/main`,
    `see ${'design'}.md`,
    `${'design'} section 5`,
    `as ${'document'} A says`,
    `(${'document'} B, "Blend")`,
    `(${'design'}: one folder)`,
    `https://x.${'nexus'}.example/npm`,
  ])('refuse %j', (line) => {
    expect(wordViolations('a.md', `fine\n${line}`)).toEqual([expect.stringMatching(/^a\.md:2: /)])
  })

  test('accept prose', () => {
    expect(wordViolations('a.md', 'RFC 1035 section 4.1 · docs/adr · ../test/layers.ts')).toEqual(
      [],
    )
  })

  test('find a lock file that names another registry', () => {
    const lock = (host: string): string =>
      JSON.stringify({ packages: { 'node_modules/a': { resolved: `https://${host}/a.tgz` } } })
    expect(lockFileViolations(lock('registry.npmjs.org'))).toEqual([])
    expect(lockFileViolations(lock('mirror.example'))).toHaveLength(1)
  })
})
