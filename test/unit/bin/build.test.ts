// The built JavaScript runs by itself and says what the source says.
import { execFileSync } from 'node:child_process'
import { readFileSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { beforeAll, expect, test } from 'vitest'

const root = join(import.meta.dirname, '../../..')
const node = (...args: string[]): string =>
  execFileSync(process.execPath, args, { cwd: root, encoding: 'utf8' })

beforeAll(() => {
  node('bin/build.ts')
})

test('gslbd help is the same from dist and from the source', () => {
  expect(node('dist/cli/main.js', 'help')).toBe(node('cli/main.ts', 'help'))
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
  const program = `import('#api/reference/assets.ts')
    .then(({ assetOf }) => assetOf('swagger-ui.css'))
    .then(({ bytes }) => console.log(bytes.length))`
  const bytes = execFileSync(process.execPath, ['-e', program], { cwd: join(root, 'dist') })
  expect(Number(bytes)).toBeGreaterThan(100_000)
})

test('dist has the dashboard, and its files as browsers take them', () => {
  const files = readdirSync(join(root, 'dist/ui'), { recursive: true, encoding: 'utf8' })
  expect(files).toEqual(expect.arrayContaining(['index.html', 'index.html.br', 'index.html.gz']))
  const program = `import('#api/server/web-dashboard.ts')
    .then(({ shippedDashboard }) => console.log(shippedDashboard()))`
  const found = execFileSync(process.execPath, ['-e', program], { cwd: join(root, 'dist') })
  expect(found.toString().trim()).toBe(join(root, 'dist/ui'))
})

test('dist holds no TypeScript and names none by a relative path', () => {
  const files = readdirSync(join(root, 'dist'), { recursive: true, encoding: 'utf8' })
  expect(files.filter((path) => /(?<!\.d)\.ts$/.test(path))).toEqual([])
  const scripts = files.filter((path) => path.endsWith('.js'))
  expect(scripts).toContain('lib/result.js')
  const left = scripts.filter((path) =>
    /(?:from|import|import\(|URL\()\s*['"]\.[^'"]*\.ts['"]/.test(
      readFileSync(join(root, 'dist', path), 'utf8'),
    ),
  )
  expect(left).toEqual([])
})
