// Types of the API for Python and Go, written by quicktype as docs/operations/clients.md says, and
// programs of that page which use them: compiled, and run at an API.
import { execFile, execFileSync } from 'node:child_process'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { delimiter, join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'
import { codeBlocks, runExample, startClientWorld } from '#test/support/client-world.ts'
import type { ClientWorld } from '#test/support/client-world.ts'
import { keyOf } from '#test/support/config-world.ts'
import { makeTempDir, removeTempDir } from '#test/support/temp-dir.ts'

const tools = join(import.meta.dirname, 'tools')
const programs = join(tools, 'node_modules/.bin')
const page = readFileSync(join(import.meta.dirname, '../../../docs/operations/clients.md'), 'utf8')
const blockOf = (language: string, mark: string): string =>
  codeBlocks(page, language).find((one) => one.includes(mark)) ?? expect.fail(`no ${mark}`)

let world: ClientWorld
const folder = makeTempDir('generated-clients')
const at = (name: string): string => join(folder, name)
const run = (program: string, ...args: readonly string[]) =>
  promisify(execFile)(program, args, {
    cwd: folder,
    env: {
      PATH: `${programs}${delimiter}${process.env['PATH']}`,
      ...{ HOME: folder, GOCACHE: at('cache'), GOFLAGS: '-mod=mod', GOPROXY: 'off' },
      ...{ GSLB_URL: world.baseUrl, GSLB_API_KEY: keyOf('acme') },
    },
  })

beforeAll(async () => {
  if (!existsSync(join(tools, 'node_modules/.package-lock.json'))) {
    const args = ['ci', '--no-audit', '--no-fund', '--ignore-scripts']
    execFileSync('npm', args, { cwd: tools, stdio: 'pipe' })
  }
  world = await startClientWorld()
  writeFileSync(at('schema.py'), blockOf('python', '# schema.py'))
  writeFileSync(at('types.sh'), blockOf('sh', '# types.sh'))
  await run('sh', '-e', 'types.sh')
}, 300_000)
afterEach(async () => {
  const client = world.clientOf()
  const { body } = await client.get('/api/v1/pools')
  for (const { id } of body) await client.delete('/api/v1/pools/{id}', { params: { id } })
})
afterAll(async () => {
  await world.close()
  removeTempDir(folder)
})

test('Python reads the answers of the API as the types that were written', async () => {
  const example = blockOf('python', 'def entries').split('\n\npool, _ =')[0] ?? ''
  const use = `
from gslb_types import Member, Pool

pool = Pool.from_dict(request("POST", "/pools", {"name": "web"})[0])
members = "/pools/" + pool.id + "/members"
request("POST", members, {"ipAddress": "192.0.2.10", "port": 443})
for one in entries(members):
    print(pool.name, pool.min_healthy, Member.from_dict(one).ip_address)
`
  writeFileSync(at('use.py'), example + use)
  expect(await runExample('python3', [at('use.py')], world)).toBe('web 0 192.0.2.10\n')
}, 120_000)

test('Go compiles the types with the program of the page, which runs', async () => {
  writeFileSync(at('main.go'), blockOf('go', 'func main'))
  writeFileSync(at('go.mod'), 'module example.com/gslb\n\ngo 1.19\n')
  const { stdout } = await run('gofmt', '-l', 'main.go')
  expect(stdout).toBe('')
  await run('go', 'vet', '.')
  expect((await run('go', 'run', '.')).stdout).toBe('web\n192.0.2.10 2\n')
}, 300_000)
