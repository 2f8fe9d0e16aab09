// A backup of a whole node, taken from one that runs or not, and its way back into a directory.
import {
  existsSync,
  mkdirSync,
  readFileSync,
  readdirSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { gunzipSync, gzipSync } from 'node:zlib'
import { beforeEach, describe, expect, onTestFinished, test } from 'vitest'
import { askForBackup, openBackupSocket } from '#node/stores/backup-socket.ts'
import { leapSince } from '#node/stores/next-seq.ts'
import { rowTeller } from '#node/stores/restore-node.ts'
import { main } from '#cli/main.ts'
import { emptyState, loadState, saveState } from '#gitops/sync/stored-state.ts'
import { newNodeToken } from '#fleet/nodes/credentials.ts'
import { NodeList } from '#fleet/nodes/node-list.ts'
import { ok } from '#lib/result.ts'
import { BackupSum } from '#state/backup/format.ts'
import { silentLog } from '#test/support/api-ports.ts'
import { FakeTime } from '#test/support/fake-time.ts'
import { runCli } from '#test/support/run-cli.ts'
import { runProgram } from '#test/support/run-program.ts'
import { tempDir } from '#test/support/temp-dir.ts'
import { waitUntil } from '#test/support/wait-until.ts'
import { newPem } from '#test/support/write-scene.ts'

const head = 'ab'.repeat(20)
const digest = 'cd'.repeat(32)
let parent: string
let dataDir: string
let file: string
const fresh = (): string => join(parent, 'fresh')
const stateIn = (directory: string) => {
  const loaded = loadState(join(directory, 'gitops/state.json'))
  if (!loaded.ok) throw new Error(loaded.error)
  return loaded.value
}

/** A node without a database, which has accepted a commit under seq 41. */
beforeEach(async () => {
  parent = tempDir('restore-node')
  dataDir = join(parent, 'data')
  file = join(parent, 'gslbd.db')
  mkdirSync(join(dataDir, 'keys'), { recursive: true })
  writeFileSync(join(dataDir, 'keys', 'node.pem'), newPem(), { mode: 0o600 })
  writeFileSync(join(dataDir, 'allowed_signers'), 'the signers')
  saveState(join(dataDir, 'gitops/state.json'), { ...emptyState, commit: head, seq: 41, digest })
})

const take = async (): Promise<void> => {
  const taken = await runCli('backup', file, '--data-dir', dataDir)
  expect(taken).toMatchObject({ exit: 0, out: `${file}\n` })
}

const restore = (...args: string[]) => runCli('restore', file, '--data-dir', fresh(), ...args)

test('all comes back, for its owner alone, and counts on above the backup', async () => {
  await take()
  expect(statSync(file).mode & 0o777).toBe(0o600)
  const run = await restore('--seq-after', '5000')
  expect(run).toMatchObject({ exit: 0, err: '' })
  expect(run.out).toMatch(
    /^0 rows restored\nfiles restored: gitops\/state\.json, keys\/node\.pem, /,
  )
  for (const name of ['keys/node.pem', 'allowed_signers'])
    expect(readFileSync(join(fresh(), name))).toEqual(readFileSync(join(dataDir, name)))
  expect(statSync(join(fresh(), 'keys/node.pem')).mode & 0o777).toBe(0o600)
  const { seq, ...rest } = stateIn(fresh())
  expect(rest).toMatchObject({ commit: head, digest, previous: '' })
  expect(seq).toBeGreaterThan(1_000_041)
  expect(run.out).toContain(`nodes get seq ${seq} next`)
  expect(readdirSync(fresh()).toSorted()).toEqual(['allowed_signers', 'gitops', 'keys', 'node'])
})

describe('the list of nodes', () => {
  const line = `far-1 ${newNodeToken().listed} site=fra1\n`
  const restored = (): string => join(fresh(), 'nodes')
  const areAllCounted = (): boolean => {
    const { clock } = new FakeTime(0)
    return new NodeList(restored(), 'auto', clock, silentLog).countsUnlisted()
  }
  /** As versions wrote them whose backups had no list. */
  const makeOld = (): void => {
    const lines = gunzipSync(readFileSync(file)).toString().trim().split('\n').slice(0, -1)
    lines[0] = lines[0]!.replace('"version":3', '"version":2')
    const sum = new BackupSum()
    for (const one of lines) sum.add(one)
    const end = JSON.stringify({ rows: 0, sha256: sum.digest() })
    writeFileSync(file, gzipSync([...lines, end].join('\n')))
  }

  test('comes back, so that no other node counts or gets keys', async () => {
    writeFileSync(join(dataDir, 'nodes'), line)
    await take()
    expect((await restore()).out).toMatch(/^files restored: .*, nodes$/m)
    expect(readFileSync(restored(), 'utf8')).toBe(line)
    expect(areAllCounted()).toBe(false)
  })

  test('is missing where the database alone comes back, and the restore says so', async () => {
    writeFileSync(join(dataDir, 'nodes'), line)
    await take()
    const { exit, out } = await restore('--only-database')
    expect(exit).toBe(0)
    expect(out).toContain(`there is no list of nodes at ${restored()}: all nodes count`)
    expect(out).toContain('the backup has one, which --only-database leaves out')
    writeFileSync(restored(), line)
    const again = await runCli('restore', file, '--data-dir', fresh(), '--only-database')
    expect(again.out).not.toContain('no list of nodes')
  })

  test('is closed where the backup is too old to have it', async () => {
    await take()
    makeOld()
    const { exit, out } = await restore()
    expect(exit).toBe(0)
    expect(out).toContain(`none gets keys of zones, until it is listed in ${restored()}`)
    expect(areAllCounted()).toBe(false)
  })

  test('stays as it is where an old backup is restored beside one', async () => {
    await take()
    makeOld()
    mkdirSync(fresh())
    writeFileSync(restored(), line)
    expect((await restore()).out).toContain(`the list of nodes stays as it is: ${restored()}`)
    expect(readFileSync(restored(), 'utf8')).toBe(line)
  })

  test('is none where none was kept, and the restore says so', async () => {
    await take()
    expect((await restore()).out).toContain('no list of nodes was kept: all nodes count')
    expect(areAllCounted()).toBe(true)
  })
})

test('a restore says what it does, and which row of how many', async () => {
  await take()
  const said: string[] = []
  const io = { out: () => undefined, err: () => undefined, env: {}, isTerminal: false }
  const progress = (...words: unknown[]): void => void said.push(words.join(' '))
  expect(await main(['restore', file, '--data-dir', fresh()], { ...io, progress })).toBe(0)
  rowTeller({ rows: 3 }, progress)(2)
  expect(said).toEqual([
    ...[`reading ${file}`, 'restoring files', 'restoring the database'],
    'restoring the database: row 2 3',
  ])
})

test('the repository comes back with all its refs, and can be pushed to', async () => {
  const gitdir = join(dataDir, 'config.git')
  const git = (...args: string[]): unknown => runProgram('git', args)
  git('init', '-q', '--bare', '-b', 'main', gitdir)
  const clone = join(parent, 'clone')
  git('clone', '-q', gitdir, clone)
  writeFileSync(join(clone, 'gslb.yaml'), 'x')
  git('-C', clone, 'add', '.')
  const author = ['-c', 'user.name=a', '-c', 'user.email=a@example.com']
  git('-C', clone, ...author, 'commit', '-qm', 'first')
  git('-C', clone, 'push', '-q', 'origin', 'HEAD:refs/heads/main', 'HEAD:refs/attest/x')
  await take()
  expect((await restore()).out).toContain('config.git')
  git('-C', clone, ...author, 'commit', '-q', '--allow-empty', '-m', 'second')
  git('-C', clone, 'push', '-q', join(fresh(), 'config.git'), 'HEAD:refs/heads/main')
  expect(readFileSync(join(fresh(), 'config.git/HEAD'), 'utf8')).toBe('ref: refs/heads/main\n')
  git('--git-dir', join(fresh(), 'config.git'), 'rev-parse', '--verify', 'refs/attest/x')
})

describe('a directory that is not empty', () => {
  beforeEach(async () => {
    await take()
    mkdirSync(join(fresh(), 'keys'), { recursive: true })
    writeFileSync(join(fresh(), 'keys/node.pem'), 'of another node')
    writeFileSync(join(fresh(), 'notes'), 'mine')
  })

  test('is left as it is', async () => {
    const run = await restore()
    expect(run).toMatchObject({ exit: 1, out: '' })
    expect(run.err).toMatch(/fresh is that of a node already: .*node\.pem\. .*--force/)
    expect(readFileSync(join(fresh(), 'keys/node.pem'), 'utf8')).toBe('of another node')
    expect(readdirSync(fresh()).toSorted()).toEqual(['keys', 'notes'])
  })

  test('keeps what was in it in a folder with --force', async () => {
    const run = await restore('--force')
    expect(run.exit).toBe(0)
    const [, aside = ''] = /^what was there is in (.*)$/m.exec(run.out) ?? []
    expect(readFileSync(join(aside, 'keys/node.pem'), 'utf8')).toBe('of another node')
    expect(readFileSync(join(fresh(), 'notes'), 'utf8')).toBe('mine')
  })

  test('is as before where the restore fails in its midst', async () => {
    // In the way of a folder that the restore has to make.
    writeFileSync(join(fresh(), 'allowed'), '')
    const settings = join(parent, 'gslbd.yaml')
    const signers = join(fresh(), 'allowed', 'signers')
    writeFileSync(settings, JSON.stringify({ gitops: { allowedSigners: signers } }))
    const run = await restore('--force', '--settings', settings)
    expect(run).toMatchObject({ exit: 1, out: '' })
    expect(run.err).toContain('Nothing was restored')
    expect(readFileSync(join(fresh(), 'keys/node.pem'), 'utf8')).toBe('of another node')
    expect(readdirSync(fresh()).toSorted()).toEqual(['allowed', 'keys', 'notes'])
  })

  test('with a running node is refused with --force, too', async () => {
    const holder = process.ppid
    const stat = readFileSync(`/proc/${holder}/stat`, 'utf8')
    const startedAt = stat.slice(stat.lastIndexOf(')') + 2).split(' ')[19]
    writeFileSync(join(fresh(), 'lock'), `${holder} ${startedAt}\n`)
    const run = await restore('--force')
    expect(run).toMatchObject({ exit: 1, out: '' })
    expect(run.err).toContain('process')
    expect(readFileSync(join(fresh(), 'keys/node.pem'), 'utf8')).toBe('of another node')
  })
})

test('a file that is there is not written over', async () => {
  writeFileSync(file, 'mine')
  const run = await runCli('backup', file, '--data-dir', dataDir)
  expect(run).toMatchObject({ exit: 1, err: expect.stringContaining('is there already') as string })
  expect(readFileSync(file, 'utf8')).toBe('mine')
})

test('where there is no node, there is nothing to take', async () => {
  const run = await runCli('backup', file, '--data-dir', fresh())
  expect(run.err).toContain('holds no key of a node')
  expect(existsSync(fresh())).toBe(false)
})

test.each([
  [['x.db', '--only-database', '--force'], '--only-database goes with none of'],
  [['x.db', '--seq-after', '-1'], '--seq-after is "-1"'],
  [['x.db', '--seq-after', '9007199254740991'], 'from 0 to 2^52'],
  [[], 'name one backup'],
])('gslbd restore %j is a wrong call', async (args, sentence) => {
  const run = await runCli('restore', ...args)
  expect(run).toMatchObject({ exit: 2, err: expect.stringContaining(sentence) as string })
})

describe('nodes that are asked', () => {
  async function node(answer: string): Promise<string> {
    const server = createServer((_request, response) => void response.end(answer))
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    onTestFinished(() => void server.close())
    return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  }
  const renumber = (...urls: string[]) =>
    runCli('restore', '--data-dir', dataDir, ...urls.flatMap((url) => ['--ask', url]))

  test('say above what to count on, without a backup, too', async () => {
    const urls = [await node('{"newest":{"seq":77}}'), await node('{"newest":null}')]
    expect(await renumber(...urls)).toMatchObject({ exit: 0, out: 'nodes get seq 78 next\n' })
    expect(stateIn(dataDir)).toMatchObject({ commit: head, seq: 78 })
  })

  test.each(['{}', '{"newest":{"seq":9007199254740991}}', '{"newest":{"seq":-1}}', 'no JSON', '1'])(
    'and answer %s are of no use, and nothing changes',
    async (answer) => {
      const run = await renumber(await node('{"newest":{"seq":77}}'), await node(answer))
      expect(run).toMatchObject({ exit: 1, out: '' })
      expect(run.err).toMatch(/http:\/\/127\.0\.0\.1:\d+ (does not say|cannot be asked)/)
      expect(stateIn(dataDir).seq).toBe(41)
    },
  )
})

test('the leap is above what can have been published since, whatever the clock says', () => {
  const hourMs = 3_600_000
  expect(leapSince(0, hourMs)).toBe(1_000_000 + 3_600 * 100)
  expect(leapSince(hourMs, 0)).toBe(1_000_000)
})

test('a node that runs is asked by its socket, with a path or without', async () => {
  const asked: string[] = []
  const answer = { path: '/backups/x.db', rows: 3, missing: [] }
  const takeNow = async (path: string) => {
    asked.push(path)
    return ok(answer)
  }
  const socket = openBackupSocket(dataDir, takeNow, silentLog)
  onTestFinished(socket.close)
  const path = join(dataDir, 'backup.sock')
  await waitUntil('the socket', () => existsSync(path) && (statSync(path).mode & 0o777) === 0o600)
  expect(await askForBackup(dataDir, '')).toEqual(ok(answer))
  expect(await askForBackup(dataDir, '/tmp/x.db')).toEqual(ok(answer))
  expect(await askForBackup(dataDir, 'x.db')).toBeUndefined()
  expect(asked).toEqual(['', '/tmp/x.db'])
  socket.close()
  rmSync(path, { force: true })
  expect(await askForBackup(dataDir, '')).toBeUndefined()
})
