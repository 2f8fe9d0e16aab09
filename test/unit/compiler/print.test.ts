// Diagnostics in the forms that people and tools read.
import { expect, test } from 'vitest'
import { createCompiler } from '#compiler/compile.ts'
import type { DiagnosticReport } from '#diagnostics/diagnostic.ts'
import { printGithub } from '#diagnostics/print/github.ts'
import { printJson } from '#diagnostics/print/json.ts'
import { LineTable } from '#diagnostics/print/position.ts'
import { printSarif } from '#diagnostics/print/sarif.ts'
import { printText } from '#diagnostics/print/text.ts'
import { sourceFile } from './fixture.ts'

function reportOf(path: string, text: string): DiagnosticReport {
  return createCompiler().compile([sourceFile(path, text)], { commit: '' })
}

const twice = reportOf(
  'tenants/default/a, b%.yaml',
  `apiVersion: gslb/v1
kind: Pool
metadata: { name: web }
spec:
  members:
    - { ipAddress: 192.0.2.1, port: 1 }
    - { ipAddress: 192.0.2.1, port: 1 }
`,
)

test('a position is a line and a column, counted from 1', () => {
  const table = new LineTable('ab\n\ncd\r\ne')
  const at = (offset: number) => [table.positionOf(offset).line, table.positionOf(offset).column]
  expect([0, 2, 3, 4, 8].map(at)).toEqual([
    [1, 1],
    [1, 3],
    [2, 1],
    [3, 1],
    [4, 1],
  ])
  expect([1, 2, 3, 4, 5].map((line) => table.lineText(line))).toEqual([
    'ab',
    '',
    'cd',
    'e',
    undefined,
  ])
})

test('text shows the line, a mark under the fault, and the other place', () => {
  const errors = twice.diagnostics.filter(({ severity }) => severity === 'error')
  expect(
    printText({ ...twice, diagnostics: errors })
      .split('\n')
      .slice(0, 6),
  ).toEqual([
    'tenants/default/a, b%.yaml:7:20: error member-duplicate: the member 192.0.2.1 port 1 is ' +
      'listed twice',
    '    7 |     - { ipAddress: 192.0.2.1, port: 1 }',
    '      |                    ^^^^^^^^^',
    '  see tenants/default/a, b%.yaml:6:20',
    '    6 |     - { ipAddress: 192.0.2.1, port: 1 }',
    '      |                    ^^^^^^^^^',
  ])
})

test('text cannot move the cursor of a terminal, and long lines are cut', () => {
  const text = printText(
    reportOf('tenants/default/x.yaml', `kind: "\u001b[2J\u202e${'x'.repeat(5_000)}"\n`),
  )
  expect(text).not.toMatch(/[\u001b\u202e]/)
  expect(
    Math.max(
      ...text
        .split('\n')
        .slice(1, 3)
        .map((line) => line.length),
    ),
  ).toBeLessThan(140)
})

test('text says how many findings it leaves out', () => {
  expect(printText({ ...twice, total: twice.diagnostics.length + 7 })).toMatch(
    /and 7 more that are not shown/,
  )
})

test('JSON has the total and a place with its end for each span', () => {
  const parsed = JSON.parse(printJson(twice)) as {
    total: number
    diagnostics: { code: string; places: unknown }[]
  }
  const found = parsed.diagnostics.find(({ code }) => code === 'member-duplicate')
  expect(parsed.total).toBe(2)
  expect(found?.places).toEqual([
    { path: 'tenants/default/a, b%.yaml', line: 7, column: 20, endLine: 7, endColumn: 29 },
    { path: 'tenants/default/a, b%.yaml', line: 6, column: 20, endLine: 6, endColumn: 29 },
  ])
})

test('SARIF has the rules, a region in UTF-16 units and an encoded path', () => {
  const log = JSON.parse(printSarif(twice)) as {
    version: string
    runs: {
      columnKind: string
      tool: { driver: { rules: { id: string }[] } }
      results: Record<string, unknown>[]
    }[]
  }
  const run = log.runs[0]!
  const result = run.results.find(({ ruleId }) => ruleId === 'member-duplicate')!
  expect([log.version, run.columnKind]).toEqual(['2.1.0', 'utf16CodeUnits'])
  expect(run.tool.driver.rules[result['ruleIndex'] as number]?.id).toBe('member-duplicate')
  expect(result['locations']).toEqual([
    {
      physicalLocation: {
        artifactLocation: { uri: 'tenants/default/a%2C%20b%25.yaml' },
        region: { startLine: 7, startColumn: 20, endLine: 7, endColumn: 29 },
      },
    },
  ])
  expect(result['level']).toBe('error')
})

test('a GitHub annotation is one line with everything escaped', () => {
  const lines = printGithub(twice).trimEnd().split('\n')
  expect(lines).toHaveLength(2)
  expect(lines[1]).toBe(
    '::error file=tenants/default/a%2C ' +
      'b%25.yaml,line=7,col=20,endColumn=29,title=member-duplicate::the member 192.0.2.1 ' +
      'port 1 is listed twice%0Asee tenants/default/a, b%25.yaml:6:20%0Ahelp: remove one of ' +
      'the two; use weight to give it a larger share',
  )
})
