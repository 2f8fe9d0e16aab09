// Directories that hold no configuration, or things that are no files; by the commands that read
// them.
import { execFileSync } from 'node:child_process'
import {
  cpSync,
  existsSync,
  globSync,
  mkdirSync,
  readFileSync,
  readdirSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { bundleLimits } from '#bundle/format/limits.ts'
import { createCompiler } from '#compiler/compile.ts'
import { readConfigDirectory } from '#gitops/checkout/config-directory.ts'
import { runCli } from '../../../support/run-cli.ts'
import { tempDir } from '../../../support/temp-dir.ts'

function example(): string {
  const path = tempDir('config')
  cpSync('examples/quickstart', path, { recursive: true })
  return path
}

const servicePath = 'tenants/default/services/x.yaml'

async function listenAt(path: string): Promise<void> {
  const server = createServer().listen(path)
  onTestFinished(() => void server.close())
  await new Promise((resolve) => server.once('listening', resolve))
}

const specials = [
  { kind: 'a named pipe', make: (path: string) => void execFileSync('mkfifo', [path]) },
  { kind: 'a socket', make: listenAt },
]

for (const { kind, make } of specials) {
  test(`${kind} where a file belongs is named`, async () => {
    const path = example()
    await make(join(path, servicePath))
    const { exit, out, err } = await runCli('check', path)
    expect({ exit, out }).toEqual({ exit: 2, out: '' })
    expect(err).toBe(`gslbd check: ${join(path, servicePath)} is ${kind}, not a file; remove it\n`)
  })

  test(`${kind} elsewhere is passed over, as Git does`, async () => {
    const path = example()
    await make(join(path, 'editor.pipe'))
    expect((await runCli('check', path)).exit).toBe(0)
  })
}

test.each([
  ['a device', '/dev'],
  ['processes that come and go', '/proc'],
])('a directory of %s is one clear message', async (_what, path) => {
  const { exit, out } = await runCli('check', path)
  expect(exit).toBe(1)
  expect(out.match(/ error /g)).toHaveLength(1)
  expect(out).toContain('there is no configuration')
})

test('many files are told of while they are read', () => {
  const path = tempDir('many')
  for (let i = 0; i < 600; i++) writeFileSync(join(path, `${i}.txt`), '')
  writeFileSync(join(path, 'gslb.yaml'), '')
  const told: unknown[] = []
  readConfigDirectory(path, (...words) => void told.push(words))
  expect(told).toEqual([256, 512].map((count) => [`reading ${path}: file`, count]))
})

test('without configuration, what lies below is listed, and links are not followed', () => {
  const path = tempDir('above')
  mkdirSync(join(path, 'site'))
  writeFileSync(join(path, 'site', 'gslb.yaml'), 'x')
  symlinkSync('/', join(path, 'root'))
  const files = readConfigDirectory(path)
  expect(files.ok && files.value.map((file) => file.path)).toEqual(['site/gslb.yaml'])
})

test('a directory of more files than the limit is refused in a sentence', () => {
  const path = example()
  const entries = readdirSync(path, { recursive: true, withFileTypes: true })
  const count = entries.filter((entry) => entry.isFile()).length
  const read = (filesMax: number) =>
    readConfigDirectory(path, undefined, { filesMax, bytesMax: 1_000_000 })
  expect(read(count)).toMatchObject({ ok: true, value: { length: count } })
  const words = `has more than ${count - 1} files; give a directory of configuration only`
  expect(read(count - 1)).toEqual({ ok: false, error: `${path} ${words}` })
})

test('files beyond the total size are listed unread, and the compiler refuses them', () => {
  const path = example()
  const read = (bytesMax: number) => {
    const files = readConfigDirectory(path, undefined, { filesMax: 1_000, bytesMax })
    if (!files.ok) throw new Error(files.error)
    const limits = { ...bundleLimits, configurationBytesMax: bytesMax }
    const { diagnostics } = createCompiler({ limits }).compile(files.value, { commit: '' })
    const held = files.value.reduce((sum, { bytes }) => sum + (bytes?.length ?? 0), 0)
    return { held, codes: diagnostics.map(({ code }) => code) }
  }
  // A file that nothing reads counts for nothing.
  writeFileSync(join(path, 'data.bin'), Buffer.alloc(100_000))
  const { held } = read(50_000)
  expect(read(held)).toEqual({ held, codes: [] })
  const above = read(held - 1)
  expect(above.codes).toEqual(['configuration-too-large'])
  expect(above.held).toBe(0)
})

test('simulate without configuration says so', async () => {
  const path = tempDir('empty')
  const { exit, out, err } = await runCli('simulate', 'www.example.com', '--config', path)
  expect({ exit, out }).toEqual({ exit: 1, out: '' })
  expect(err).toContain(`${path} holds neither gslb.yaml nor tenants/`)
  expect(err).toContain('--config')
})

test('compile makes no directories', async () => {
  const folder = join(tempDir('out'), 'nowhere')
  const { exit, err } = await runCli('compile', example(), '-o', join(folder, 'a.bundle'))
  expect(exit).toBe(2)
  expect(err).toContain(`the directory ${folder} does not exist`)
  expect(existsSync(folder)).toBe(false)
})

test('trust reset without its data directory says so, and changes nothing', async () => {
  const dataDir = join(tempDir('trust'), 'data')
  const reset = () => runCli('trust', 'reset', '--data-dir', dataDir)
  const refused = await reset()
  expect({ exit: refused.exit, out: refused.out }).toEqual({ exit: 4, out: '' })
  expect(refused.err).toMatch(`the directory ${dataDir} does not exist; name the node's`)
  expect(existsSync(dataDir)).toBe(false)
  // As somebody else's ./data, which is the default.
  mkdirSync(join(dataDir, 'gitops'), { recursive: true })
  const remedy = "name the node's data directory with --data-dir"
  const err = `gslbd trust: the directory ${dataDir} is no data directory; ${remedy}\n`
  expect(await reset()).toEqual({ exit: 4, out: '', err })
  expect(readdirSync(dataDir)).toEqual(['gitops'])
  writeFileSync(join(dataDir, 'allowed_signers'), '')
  expect(await reset()).toMatchObject({ exit: 0, err: '' })
})

test('trust add invents no data directory, and writes into one that is there', async () => {
  const dataDir = join(tempDir('trust'), 'data')
  const key = join(tempDir('key'), 'k')
  expect((await runCli('keygen', '-o', key)).exit).toBe(0)
  const add = () => runCli('trust', 'add', 'a@example.com', `${key}.pub`, '--data-dir', dataDir)
  const refused = await add()
  expect(refused.exit).toBe(4)
  expect(refused.err).toContain(`the directory ${dataDir} does not exist`)
  expect(refused.err).toMatch(/--data-dir.*--file/)
  expect(existsSync(dataDir)).toBe(false)
  mkdirSync(dataDir)
  expect((await add()).exit).toBe(0)
  rmSync(dataDir, { recursive: true })
})

test('no command compiles a directory without what its scripts need', () => {
  const root = join(import.meta.dirname, '../../../..')
  const readers = globSync(['cli/**/*.ts', 'gitops/**/*.ts', 'node/**/*.ts'], { cwd: root }).filter(
    (path) => readFileSync(join(root, path), 'utf8').includes('readConfigDirectory('),
  )
  // Commands read with `readConfiguration`, which waits for the script engine.
  expect(readers).toEqual(['gitops/checkout/config-directory.ts'])
})

test.each([
  ['plan', '--base', 'HEAD'],
  ['review', '--base', 'HEAD'],
  ['verify', '--base', 'HEAD', '--allowed-signers', 'signers'],
])('%s says that a directory is not there', async (name, ...more) => {
  const path = join(tempDir('config'), 'nodir')
  const said = await runCli(name, path, ...more)
  expect([said.exit, said.out]).toEqual([2, ''])
  expect(said.err).toContain(`${path} does not exist`)
  expect(said.err.split('\n')).toHaveLength(2)
})
