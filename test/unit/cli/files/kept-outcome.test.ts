// Tests the kept outcome of a check of many files: it is reported again while nothing that it
// depends on has changed, and any other content of the file is dropped with one line.
import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { hash } from 'node:crypto'
import {
  chmodSync,
  chownSync,
  cpSync,
  existsSync,
  mkdirSync,
  readFileSync,
  readdirSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { test } from 'vitest'
import { KeptOutcome, outcomeLimits } from '#cli/files/kept-outcome.ts'
import { Random } from '#lib/random.ts'
import { laneCount, laneRows, onlyLong } from '#test/support/lane.ts'
import { testSeed } from '#test/support/random.ts'
import { runCliWith } from '#test/support/run-cli.ts'
import { runProgram } from '#test/support/run-program.ts'
import { tempDir } from '#test/support/temp-dir.ts'

const quickstart = join(import.meta.dirname, '../../../../examples/quickstart')
const { configurationBytesMin, filesMax } = outcomeLimits
const padding = `${'# large\n'.repeat(configurationBytesMin / 8)}`

/** A configuration that is large enough, and a cache. */
function place() {
  const folder = tempDir('checked')
  const cache = tempDir('cache')
  const tree = join(folder, 'tree')
  cpSync(quickstart, tree, { recursive: true })
  const settings = join(tree, 'gslb.yaml')
  writeFileSync(settings, padding + readFileSync(settings, 'utf8'))
  const checks = join(cache, 'gslbd/checks')
  const check = (...more: string[]) => runCliWith({ XDG_CACHE_HOME: cache }, 'check', tree, ...more)
  const kept = (): string[] => readdirSync(checks).map((name) => join(checks, name))
  const write = (path: string, text: string): void => writeFileSync(join(tree, path), text)
  return { cache, tree, checks, check, kept, write }
}

/** A file that is written anew is another one. */
const inode = (path: string): number => statSync(path).ino

test('a second check says the same, of what was right and of what was wrong', async () => {
  const { check, kept, write } = place()
  const first = await check()
  assert.deepEqual(first, { exit: 0, out: 'ok: 3 services, 1 pool, 1 zone\n', err: '' })
  const [path] = kept()
  const before = inode(path!)
  assert.deepEqual(await check(), first)
  assert.equal(inode(path!), before)
  assert.equal(statSync(path!).mode & 0o777, 0o600)
  write('tenants/default/services/x.yaml', 'kind: Servise\n')
  const wrong = await check('--format', 'json')
  assert.equal(wrong.exit, 1)
  assert.match(wrong.out, /Servise/)
  assert.equal(kept().length, 2)
  assert.deepEqual(await check('--format', 'json'), wrong)
})

test('a kept outcome is printed without compiling', async () => {
  const { check, kept } = place()
  await check()
  const [path] = kept()
  const [, , json = ''] = readFileSync(path!, 'utf8').split('\n')
  const other = JSON.stringify({ ...(JSON.parse(json) as object), out: 'from the file\n' })
  writeFileSync(path!, `gslbd outcome 1\n${hash('sha256', other)}\n${other}`)
  assert.deepEqual(await check(), { exit: 0, out: 'from the file\n', err: '' })
})

test('each thing that an outcome depends on makes another one', async () => {
  const { tree, check, kept, write } = place()
  const pool = join(tree, 'tenants/default/pools/web.yaml')
  const changes: Readonly<Record<string, () => Promise<unknown>>> = {
    'the first': () => check(),
    'a format': () => check('--format', 'json'),
    'notes about pools': () => check('--pools'),
    'a setting of nodes': () => check('--allow-script-checks'),
    'a host': () => check('--webhook-allowed-host', '10.0.0.0/8'),
    'a certificate': () => check('--client-certificate', 'a'),
    'a character': () => {
      writeFileSync(pool, '#', { flag: 'a' })
      return check()
    },
    'a name': () => {
      renameSync(pool, pool.replace('web', 'wet'))
      return check()
    },
    'a file that is not read': () => (write('other.yaml', ''), check()),
    'a link': () => (symlinkSync('.', join(tree, 'tenants/link')), check()),
    'where an octet belongs': () => {
      write('tenants/default/services/a.yaml', '#\n#')
      write('tenants/default/services/b.yaml', '#')
      return check()
    },
    'and where it does not': () => {
      write('tenants/default/services/a.yaml', '#\n')
      write('tenants/default/services/b.yaml', '##')
      return check()
    },
  }
  for (const [index, [name, change]] of Object.entries(changes).entries()) {
    await change()
    assert.equal(kept().length, index + 1, name)
  }
})

test('an outcome that depends on more than the files is not kept', async () => {
  const { tree, check, checks, write } = place()
  write(
    'tenants/default/windows.yaml',
    'apiVersion: gslb/v1\nkind: MaintenanceWindow\nmetadata: { name: w }\nspec:\n' +
      '  { resourceType: pool, resource: web, startAt: 2020-01-01T00:00:00Z,\n' +
      '    endAt: 2020-01-02T00:00:00Z }\n',
  )
  const options = [[], ['--base', 'HEAD'], ['--geoip', '/nowhere']]
  for (const more of laneRows(options, ({ length }) => length === 0)) {
    const { out } = await check(...more)
    assert.deepEqual(existsSync(checks) ? readdirSync(checks) : [], [], out)
  }
  // Without the window the others would be kept.
  rmSync(join(tree, 'tenants/default/windows.yaml'))
  for (const more of laneRows(options.slice(1), () => false)) {
    await check(...more)
    assert.deepEqual(readdirSync(checks), [])
  }
})

test('an outcome that a clock may end is not kept: a script in a policy test', async () => {
  const { tree, check, checks, write } = place()
  mkdirSync(join(tree, 'tests'))
  const head = (kind: string): string =>
    `apiVersion: gslb/v1\nkind: ${kind}\nmetadata: { name: s }\n`
  const chain = '["script:result = candidates", failover]'
  write(
    'tenants/default/services/s.yaml',
    `${head('Service')}spec: { domain: s.example.com., pool: web, ttl: 60, filterChain: ${chain} }\n`,
  )
  write(
    'tests/s.yaml',
    `${head('Test')}spec: { given: { name: s.example.com }, cases: [{ expect: { ttl: 60 } }] }\n`,
  )
  const { exit, out } = await check()
  assert.equal(exit, 0, out)
  assert.deepEqual(existsSync(checks) ? readdirSync(checks) : [], [])
})

test('a cache that cannot be looked at gets nothing, and says nothing', async () => {
  const { cache, tree } = place()
  symlinkSync('loop', join(cache, 'loop'))
  const { exit, err } = await runCliWith({ XDG_CACHE_HOME: join(cache, 'loop/x') }, 'check', tree)
  assert.deepEqual({ exit, err }, { exit: 0, err: '' })
})

test('the outcome of a small configuration is not kept, and no folder is made', async () => {
  const { cache } = place()
  const env = { XDG_CACHE_HOME: cache }
  assert.equal((await runCliWith(env, 'check', quickstart)).exit, 0)
  assert.deepEqual(readdirSync(cache), [])
})

const withStamp = (stamp: string): string => {
  const json = JSON.stringify({ stamp, out: 'another\n', exit: 0 })
  return `gslbd outcome 1\n${hash('sha256', json)}\n${json}`
}
const isRoot = process.getuid?.() === 0

const bad: Readonly<Record<string, (path: string) => void>> = {
  empty: (path) => writeFileSync(path, ''),
  cut: (path) => writeFileSync(path, readFileSync(path).subarray(0, -1)),
  longer: (path) => writeFileSync(path, '\n', { flag: 'a' }),
  'of another form': (path) => writeFileSync(path, 'gslbd outcome 2\n'),
  'of another version': (path) => writeFileSync(path, withStamp('another')),
  'no text': (path) => writeFileSync(path, Uint8Array.of(0xff, 0, 0xfe)),
  'too large': (path) => writeFileSync(path, Buffer.alloc(outcomeLimits.bytesMax + 1)),
  'written by others': (path) => chmodSync(path, 0o666),
  'a link': (path) => {
    renameSync(path, `${path}.aside`)
    symlinkSync(`${path}.aside`, path)
  },
  'a pipe': (path) => {
    rmSync(path)
    execFileSync('mkfifo', [path])
  },
  'a folder': (path) => {
    rmSync(path)
    mkdirSync(join(path, 'in'), { recursive: true })
  },
  ...(isRoot && { "another person's": (path: string) => chownSync(path, 65_534, 65_534) }),
}

const shown = ['cut', 'of another version', 'a pipe', "another person's"]
for (const [name, spoil] of laneRows(Object.entries(bad), ([name]) => shown.includes(name))) {
  test(`a file that is ${name} is thrown away with one line`, async () => {
    const { check, kept } = place()
    const first = await check()
    const [path] = kept()
    spoil(path!)
    const { err, ...said } = await check()
    assert.deepEqual({ ...said, err: '' }, first)
    assert.match(
      err,
      /^gslbd check: info: \S+ (is|cannot) .*thrown away, and everything checked\n$/,
    )
    assert.deepEqual(await check(), first)
  })
}

test('no bit that flips, and no cut, says something else', async () => {
  const { tree, cache, check, kept } = place()
  const { out } = await check()
  const [path] = kept()
  const whole = readFileSync(path!)
  const random = new Random(testSeed)
  const lines: string[] = []
  const asked = {
    format: 'text',
    pools: false,
    checkPolicy: { allowScriptChecks: false, webhookAllowedHosts: [], clientCertificates: [] },
  }
  const { readConfigDirectory } = await import('#gitops/checkout/config-directory.ts')
  const files = readConfigDirectory(tree)
  assert(files.ok)
  const find = () =>
    new KeptOutcome({ XDG_CACHE_HOME: cache }, (line) => lines.push(line)).find(files.value, asked)
  assert.equal(find()?.out, out)
  for (let run = 0; run < laneCount(whole.length); run++) {
    const damaged = Buffer.from(whole)
    const at = random.next() % whole.length
    damaged[at]! ^= 1 << (random.next() % 8)
    for (const bytes of [damaged, whole.subarray(0, at)]) {
      writeFileSync(path!, bytes)
      assert.equal(find(), undefined)
    }
  }
  assert.equal(lines.length, 2 * laneCount(whole.length))
})

const untrusted: Readonly<Record<string, (cache: string) => void>> = {
  'a link': (cache) => {
    mkdirSync(join(cache, 'elsewhere'))
    symlinkSync('elsewhere', join(cache, 'gslbd'))
  },
  'a link below': (cache) => {
    mkdirSync(join(cache, 'gslbd/elsewhere'), { recursive: true, mode: 0o700 })
    symlinkSync('elsewhere', join(cache, 'gslbd/checks'))
  },
  'written by others': (cache) => {
    mkdirSync(join(cache, 'gslbd/checks'), { recursive: true })
    chmodSync(join(cache, 'gslbd/checks'), 0o777)
  },
  'a file': (cache) => writeFileSync(join(cache, 'gslbd'), ''),
  ...(isRoot && {
    "another person's": (cache: string) => {
      mkdirSync(join(cache, 'gslbd'))
      chownSync(join(cache, 'gslbd'), 65_534, 65_534)
    },
    'in the home of another person': (cache: string) => chownSync(cache, 65_534, 65_534),
  }),
}

for (const [name, make] of Object.entries(untrusted)) {
  test(`a cache that is ${name} gets nothing, and says nothing`, async () => {
    const { cache, check } = place()
    make(cache)
    assert.deepEqual(await check(), {
      ...{ exit: 0, out: 'ok: 3 services, 1 pool, 1 zone\n', err: '' },
    })
    const below = readdirSync(cache, { recursive: true, withFileTypes: true })
    assert.deepEqual(
      below.filter((entry) => entry.isFile()).map((entry) => entry.name),
      name === 'a file' ? ['gslbd'] : [],
    )
  })
}

test('without a home nothing is kept', async () => {
  const { tree } = place()
  for (const env of [{}, { HOME: '' }, { HOME: 'relative' }, { HOME: '/nowhere' }]) {
    assert.equal((await runCliWith(env, 'check', tree)).err, '')
  }
})

test('old outcomes go, whatever the clock said, and the newest stays', async () => {
  const { check, checks, kept } = place()
  mkdirSync(checks, { recursive: true, mode: 0o700 })
  for (let i = 0; i < filesMax + 9; i++) {
    const path = join(checks, `${i}`)
    writeFileSync(path, '')
    // In the future: the clock has gone back.
    utimesSync(path, 4e9 + i, 4e9 + i)
  }
  await check()
  assert.equal(kept().length, filesMax)
  const names = readdirSync(checks)
  assert(names.includes(`${filesMax + 8}`) && !names.includes('9'))
  const own = kept().find((path) => statSync(path).size > 0)!
  const before = inode(own)
  assert.equal((await check()).err, '')
  assert.equal(inode(own), before)
})

// A process: the limit is that of all that it writes.
onlyLong(() =>
  test('a disk that takes nothing leaves the check as it is, with one line', async () => {
    const { cache, tree, checks, check, kept } = place()
    const first = await check()
    const [path] = kept()
    rmSync(path!)
    // As a full disk: no file may have an octet.
    const script = 'ulimit -f 0; exec "$0" "$@" 2>&1'
    const main = join(import.meta.dirname, '../../../../cli/main.ts')
    const env = { XDG_CACHE_HOME: cache, NODE_COMPILE_CACHE: '', PATH: process.env['PATH'] }
    const args = ['-c', script, process.execPath, main, 'check', tree]
    const said = runProgram('sh', args, { env }).toString()
    const line = `gslbd check: info: ${path} cannot be written, and the next check takes as long: E`
    assert(said.includes(`${first.out}${line}`), said)
    assert.deepEqual(readdirSync(checks), [])
  }),
)

test('checks at the same time each say all, and leave one whole file', async () => {
  const { check, kept } = place()
  const all = await Promise.all(Array.from({ length: 4 }, () => check()))
  for (const said of all) assert.deepEqual(said, all[0])
  assert.equal(kept().length, 1)
  assert.deepEqual(await check(), all[0])
})
