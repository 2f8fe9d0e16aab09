// The boards under deploy/grafana, checked by the types that Grafana publishes of its dashboards: a
// field that it does not know, or of another type, is an error of the compiler.
import { execFileSync, spawnSync } from 'node:child_process'
import { existsSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'

const root = join(import.meta.dirname, '../../..')
const boards = join(root, 'deploy/grafana')
const tools = join(import.meta.dirname, 'tools')
const file = join(tools, 'node_modules/boards.ts')
const types = '@grafana/schema/dist/esm/raw/dashboard/x/Dashboard_types.gen'

beforeAll(() => {
  if (existsSync(join(tools, 'node_modules/.package-lock.json'))) return
  const args = ['ci', '--no-audit', '--no-fund', '--ignore-scripts']
  execFileSync('npm', args, { cwd: tools, stdio: 'pipe' })
}, 120_000)
afterAll(() => rmSync(file, { force: true }))

/** @param texts boards in JSON, which are literals of the language: no field may be unknown. */
function faultsOf(texts: readonly string[]): string {
  const lines = texts.map((text, i) => `export const board${i}: Dashboard = ${text}`)
  writeFileSync(file, [`import type { Dashboard } from '${types}'`, ...lines, ''].join('\n'))
  const options = ['--noEmit', '--strict', '--skipLibCheck', '--ignoreConfig']
  const place = ['--module', 'nodenext', '--target', 'esnext', file]
  const tsc = join(root, 'node_modules/.bin/tsc')
  const { stdout, stderr } = spawnSync(tsc, [...options, ...place], {
    ...{ cwd: tools, encoding: 'utf8' },
  })
  return stdout + stderr
}

const texts = readdirSync(boards).map((name) => readFileSync(join(boards, name), 'utf8'))

test('Grafana takes each board as it is', () => {
  expect(texts.length).toBeGreaterThan(2)
  expect(faultsOf(texts)).toBe('')
}, 120_000)

test('a field that it does not know, and one of another type, are found', () => {
  const [text = ''] = texts
  const wrong = [text.replace('"uid"', '"uuid"'), text.replace(/"x": 0/, '"x": "0"')]
  const found = faultsOf(wrong)
  expect(found).toContain(`'"uuid"' does not exist in type 'Dashboard'`)
  expect(found).toContain("Type 'string' is not assignable to type 'number'")
}, 120_000)
