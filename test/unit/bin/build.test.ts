// The built JavaScript runs by itself and says what the source says.
import { execFileSync } from 'node:child_process'
import { globSync, lstatSync, readFileSync, readdirSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join, relative } from 'node:path'
import type { ValidateFunction } from 'ajv'
import { load } from 'js-yaml'
import { beforeAll, expect, onTestFinished, test } from 'vitest'
import { noticeText } from '#bin/notice.ts'
import { installedBytesMax, ourOwn, productPackages } from '#bin/program-tree.ts'
import { checkOf } from '#schemas/checks.ts'
import { jsonSchemaOf } from '#schemas/json-schema.ts'
import { kindNames } from '#schemas/kinds.ts'
import { settingRows } from '#settings/schema.ts'
import { unpackTemplate } from '#state/sql/database/database-template.ts'
import { useDaemons } from '#test/support/daemon.ts'
import { makeTempDir, removeTempDir, tempDir } from '#test/support/temp-dir.ts'
import { expectCommitted } from '../schemas/committed-file.ts'

const root = join(import.meta.dirname, '../../..')
const node = (...args: string[]): string =>
  execFileSync(process.execPath, args, { cwd: root, encoding: 'utf8' })

beforeAll(() => {
  node('bin/build.ts')
})

test('gslbd help is the same from dist and from the source', () => {
  expect(node('dist/cli/main.js', 'help')).toBe(node('cli/main.ts', 'help'))
})

test('dist says what tells it from other builds', () => {
  const { contents } = JSON.parse(readFileSync(join(root, 'dist/package.json'), 'utf8')) as {
    readonly contents: unknown
  }
  expect(contents).toMatch(/^[0-9a-f]{64}$/)
})

const checksIn = (file: string) =>
  createRequire(import.meta.url)(join(root, `dist/schemas/checks/${file}.cjs`)) as Readonly<
    Record<string, ValidateFunction>
  >
const odd = [null, true, -1, 0, 1e10, NaN, '', 'a', '/x', '𝒳'.repeat(254), [], ['a'], {}, { a: {} }]

/** @returns `value` with `one` in the place of one of its parts, for each part */
function changed(value: unknown, one: unknown): unknown[] {
  if (typeof value !== 'object' || value === null) return [one]
  const within = Object.entries(value).flatMap(([key, part]) =>
    [...changed(part, one), undefined].map((other) => {
      const copy = Array.isArray(value) ? [...(value as unknown[])] : { ...value }
      return Object.assign(copy, { [key]: other })
    }),
  )
  return [one, { ...value, unknown: one }, ...within]
}

test.each(kindNames)('dist finds the faults and has the defaults of a %s', (kind) => {
  const examples = globSync('examples/**/*.yaml', { cwd: root })
    .map((path) => load(readFileSync(join(root, path), 'utf8')) as { readonly kind: string })
    .filter((example) => example.kind === kind)
  const least = { apiVersion: 'gslb/v1', kind, metadata: { name: 'x' }, spec: {} }
  const [ready, own] = [checksIn(kind)[kind]!, checkOf('kind', kind, () => jsonSchemaOf(kind))]
  for (const example of [least, ...examples.slice(0, 3)]) {
    for (const value of [example, ...odd.flatMap((one) => changed(example, one))]) {
      const [inDist, here] = [structuredClone(value), structuredClone(value)]
      expect(ready(inDist)).toBe(own(here))
      expect([ready.errors, inDist]).toEqual([own.errors, here])
    }
  }
})

test('dist takes the settings that the source takes', () => {
  const checks = checksIn('of-settings')
  expect(Object.keys(checks)).toEqual(settingRows.map(({ key }) => key))
  for (const { key, leaf } of settingRows) {
    const own = checkOf('setting', key, () => leaf)
    const values = [...odd, leaf.default, ...(leaf.enum ?? []), leaf.minimum, leaf.maximum]
    for (const value of values) expect([key, checks[key]!(value)]).toEqual([key, own(value)])
  }
})

test('gslbd check says the same from dist and from the source', () => {
  const check = ['check', 'examples/quickstart']
  expect(node('dist/cli/main.js', ...check)).toBe(node('cli/main.ts', ...check))
})

test('dist has two files of Swagger UI for the reference, and their licences', () => {
  const files = readdirSync(join(root, 'dist/api/reference/assets'))
  expect(files.toSorted()).toEqual([
    'LICENSE',
    'NOTICE',
    'swagger-ui-bundle.js',
    'swagger-ui-bundle.js.LICENSE.txt',
    'swagger-ui.css',
  ])
})

test('dist has the dashboard, and its files as browsers take them', () => {
  const files = readdirSync(join(root, 'dist/ui'), { recursive: true, encoding: 'utf8' })
  expect(files).toEqual(expect.arrayContaining(['index.html', 'index.html.br', 'index.html.gz']))
  expect(files).toContain('licences.txt')
})

test('dist has the empty database that a first start unpacks', async () => {
  const { signal } = new AbortController()
  const directory = join(tempDir('database'), 'database')
  expect(await unpackTemplate(join(root, 'dist/database.zst'), directory, signal)).toBe(true)
})

test('an installation has two packages beside the program, and takes at most 60 MB', () => {
  const machineCode = productPackages().map((folder) => relative(root, folder))
  expect(machineCode).toEqual(expect.arrayContaining(['node_modules/bcrypt', 'node_modules/koffi']))
  const bytesOf = (path: string): number => {
    const entry = lstatSync(path)
    if (!entry.isDirectory()) return entry.size
    return readdirSync(path).reduce((sum, name) => sum + bytesOf(join(path, name)), 0)
  }
  const paths = [...ourOwn, ...machineCode].map((path) => join(root, path))
  const bytes = paths.reduce((sum, path) => sum + bytesOf(path), 0)
  expect(bytes).toBeGreaterThan(20_000_000)
  expect(bytes).toBeLessThan(installedBytesMax)
})

test('NOTICE names what dist carries (npm run notice writes it)', () => {
  expectCommitted('NOTICE', noticeText())
})

test('the program is few files, without TypeScript, and none names a path of this machine', () => {
  const files = readdirSync(join(root, 'dist'), { recursive: true, encoding: 'utf8' })
  expect(files.filter((path) => /(?<!\.d)\.ts$/.test(path))).toEqual([])
  const scripts = files.filter((path) => /^(cli|program)\/.*\.js$/.test(path))
  expect(scripts).toContain('cli/main.js')
  expect(scripts.length).toBeLessThan(450)
  const left = scripts.filter((path) => {
    const text = readFileSync(join(root, 'dist', path), 'utf8')
    return text.includes(root) || /new URL\(\s*['"][^'"]*\.ts['"]/.test(text)
  })
  expect(left).toEqual([])
})

const { spawnProgram } = useDaemons()

test('dist finds its threads, and what it shows to browsers', async () => {
  const home = makeTempDir('dist')
  onTestFinished(() => removeTempDir(home))
  const file = join(home, 'gslbd.yaml')
  const settings = {
    dataDir: join(home, 'data'),
    dns: { listenAddr: '127.0.0.1', port: 0, threads: 1 },
    api: { enabled: true, port: 0 },
  }
  writeFileSync(file, JSON.stringify(settings))
  const main = join(root, 'dist/cli/main.js')
  const daemon = spawnProgram(main, 'serve', '--settings', file)
  await daemon.running()
  const statusOf = async (path: string): Promise<number> =>
    (await fetch(`http://127.0.0.1:${daemon.apiPort}${path}`)).status
  expect(await statusOf('/ui/')).toBe(200)
  expect(await statusOf('/api/v1/docs/swagger-ui.css')).toBe(200)
  expect(await daemon.stop()).toEqual({ code: 0, signal: null })
})
