import { execFileSync, fork, spawn } from 'node:child_process'
import type { ChildProcess } from 'node:child_process'
import { createHash } from 'node:crypto'
import { once } from 'node:events'
import {
  existsSync,
  mkdirSync,
  readFileSync,
  readdirSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { beforeEach, describe, expect, onTestFinished, test } from 'vitest'
import { openDataDir, openDataDirToServe, writeSecret } from '#process/data/data-dir.ts'
import type { Turn } from '#test/unit/process/data/lock-taker.ts'
import { laneCount } from '../../../support/lane.ts'
import { tempDir } from '../../../support/temp-dir.ts'
import { waitUntil } from '../../../support/wait-until.ts'

function open(path: string) {
  const opened = openDataDir(path)
  if (!opened.ok) throw new Error(opened.error)
  return opened.value
}

/** Lines of the log so far. */
let told: object[] = []
beforeEach(() => (told = []))
const tell = (fields: object, msg: string): void => void told.push({ ...fields, msg })
const log = { info: tell, warn: tell, error: tell }

/** Fields of /proc/PID/stat from the state on: the name before it may hold spaces. */
function statOf(pid: number): string[] {
  const stat = readFileSync(`/proc/${pid}/stat`, 'utf8')
  return stat.slice(stat.lastIndexOf(')') + 2).split(' ')
}

/** The start of a process in the kernel's ticks, as the lock names it. */
const startOf = (pid: number): string => statOf(pid)[19] ?? ''

describe('opening', () => {
  test('makes the directory and its folders, and leaves when released', () => {
    const path = join(tempDir(), 'a', 'data')
    const dataDir = open(path)
    expect(readdirSync(path).sort()).toEqual(['gitops', 'keys', 'lock', 'node'])
    expect(statSync(join(path, 'keys')).mode & 0o777).toBe(0o700)
    dataDir.release()
    expect(existsSync(join(path, 'lock'))).toBe(false)
  })

  test('is undone by abandoning it, but for what is in use', () => {
    const parent = tempDir()
    const path = join(parent, 'a', 'data')
    open(path).abandon()
    expect(readdirSync(parent)).toEqual([])
    const dataDir = open(path)
    writeFileSync(join(path, 'keys', 'node.pem'), 'mine')
    dataDir.abandon()
    expect([readdirSync(path), readdirSync(join(path, 'keys'))]).toEqual([['keys'], ['node.pem']])
    open(path).abandon()
    expect(readdirSync(path)).toEqual(['keys'])
  })

  test('sweeps what writes and starts that never ended have left, and nothing else', () => {
    const path = tempDir()
    const locks = ['lock.77', 'lock.heir-0123abcd']
    const left = [...locks, 'a.0123456789ab.tmp', 'node/bundles/b.0123456789ab.tmp']
    const kept = ['allowed_signers', 'notes.tmp', 'lock.txt', 'node/active.json']
    mkdirSync(join(path, 'node', 'bundles'), { recursive: true })
    mkdirSync(join(path, 'config.git.123.tmp', 'objects'), { recursive: true })
    mkdirSync(join(path, 'config.git'))
    for (const name of [...left, ...kept]) writeFileSync(join(path, name), 'x')
    open(path).release()
    expect([...left, 'config.git.123.tmp'].filter((name) => existsSync(join(path, name)))).toEqual(
      [],
    )
    for (const name of [...kept, 'config.git']) expect(existsSync(join(path, name))).toBe(true)
  })

  test('follows a symbolic link to a directory', () => {
    const path = tempDir()
    mkdirSync(join(path, 'real'))
    symlinkSync('real', join(path, 'link'))
    open(join(path, 'link')).release()
    expect(existsSync(join(path, 'real', 'node'))).toBe(true)
  })

  test('a file where a folder belongs is named', () => {
    const path = tempDir()
    writeFileSync(join(path, 'node'), '')
    const opened = openDataDir(path)
    expect(opened.ok ? '' : opened.error).toContain(`${path}/node`)
  })
})

describe('the lock', () => {
  const cases = [
    {
      whose: 'a living process',
      lock: () => `${process.ppid} ${startOf(process.ppid)}\n`,
      isFree: false,
    },
    {
      whose: 'a process whose number was given again',
      lock: () => `${process.ppid} 1\n`,
      isFree: true,
    },
    {
      whose: 'this process, as in a container that starts anew',
      lock: () => `${process.pid} 1\n`,
      isFree: true,
    },
    {
      whose: 'a process that ended',
      lock: () => `${execFileSync('sh', ['-c', 'echo $$']).toString().trim()} 5\n`,
      isFree: true,
    },
    { whose: 'nobody: it is empty', lock: () => '', isFree: true },
    { whose: 'nobody: it is no number', lock: () => 'x y\n', isFree: true },
  ]
  for (const { whose, lock, isFree } of cases) {
    test(`${isFree ? 'is taken over from' : 'keeps us out, with the number of'} ${whose}`, () => {
      const path = tempDir()
      writeFileSync(join(path, 'lock'), lock())
      const opened = openDataDir(path)
      expect(opened.ok).toBe(isFree)
      if (opened.ok) {
        expect(readFileSync(join(path, 'lock'), 'utf8')).toBe(
          `${process.pid} ${startOf(process.pid)}\n`,
        )
      } else {
        expect(opened.error).toContain(`in use by process ${process.ppid}; stop that one`)
        expect(readFileSync(join(path, 'lock'), 'utf8')).toBe(lock())
      }
      expect(readdirSync(path).filter((name) => name.startsWith('lock.'))).toEqual([])
    })
  }
})

test('the lock of a zombie, whose parent does not wait for it, is taken over', async () => {
  // The program that the shell becomes knows of no child.
  const parent = spawn('sh', ['-c', 'sleep 60 & echo $!; exec sleep 60'])
  onTestFinished(() => void parent.kill('SIGKILL'))
  const [line] = (await once(parent.stdout, 'data')) as [Buffer]
  const pid = Number(line.toString())
  const comm = `/proc/${parent.pid ?? 0}/comm`
  await waitUntil('the shell to be gone', () => readFileSync(comm, 'utf8') === 'sleep\n')
  const path = tempDir()
  writeFileSync(join(path, 'lock'), `${pid} ${startOf(pid)}\n`)
  expect(openDataDir(path).ok).toBe(false)
  process.kill(pid, 'SIGKILL')
  await waitUntil('the zombie', () => statOf(pid)[0] === 'Z')
  expect(openDataDir(path).ok).toBe(true)
  expect(statOf(pid)[0]).toBe('Z')
})

test('the log says which directory is served from, and whether it was made', () => {
  const path = join(tempDir(), 'data')
  for (const done of ['made', 'opened']) {
    told = []
    const opened = openDataDirToServe(path, log)
    if (opened.ok) opened.value.release()
    expect(told).toEqual([{ dataDir: path, msg: `the data directory was ${done}` }])
  }
})

const taker = fileURLToPath(new URL('./lock-taker.ts', import.meta.url))

const said = async (taker: ChildProcess): Promise<string> =>
  String((await once(taker, 'message'))[0])

for (const { lock, found, rounds } of [
  { lock: '', found: 'no lock', rounds: laneCount(100) },
  { lock: '999999999 5\n', found: 'the lock of a process that ended', rounds: laneCount(1_000) },
]) {
  test(`one of several processes that find ${found} gets the directory`, async () => {
    const takers = Array.from({ length: 6 }, () => fork(taker))
    onTestFinished(() => takers.forEach((one) => one.disconnect()))
    await Promise.all(takers.map(said))
    for (let round = 0; round < rounds; round++) {
      const path = tempDir()
      if (lock !== '') writeFileSync(join(path, 'lock'), lock)
      const words = takers.map(said)
      const turn: Turn = { path, atMs: Date.now() + 3 }
      for (const one of takers) one.send(turn)
      const isTaken = (word: string): boolean => word === 'taken'
      const all = await Promise.all(words)
      expect(all.filter(isTaken)).toHaveLength(1)
      const refused = all.filter((word) => !isTaken(word))
      for (const word of refused) expect(word).toContain('is in use by process')
      expect(readdirSync(path).filter((name) => name.startsWith('lock.'))).toEqual([])
    }
  })
}

describe('the heir of a dead holder', () => {
  const dead = (pid: number): string => `${pid} 5\n`
  const living = (): string => `${process.ppid} ${startOf(process.ppid)}\n`
  const nameFor = (text: string): string =>
    `lock.heir-${createHash('sha256').update(text).digest('hex').slice(0, 16)}`
  /** Each of them is the heir of the one before. */
  const chains: readonly (readonly [string, readonly string[], boolean])[] = [
    ['that lives gets the directory', [dead(999999991), living()], false],
    ['that died has one, too', [dead(999999991), dead(999999992)], true],
    ['of a dead heir that lives gets it', [dead(999999991), dead(999999992), living()], false],
    [
      'comes after any number of dead ones',
      Array.from({ length: 40 }, (_, i) => dead(999999900 + i)),
      true,
    ],
    ['may have the number and start of its holder', [dead(999999991), dead(999999991)], true],
  ]
  test.each(chains)('%s', (_what, [holder = '', ...heirs], isFree) => {
    const path = tempDir()
    writeFileSync(join(path, 'lock'), holder)
    const before = [holder, ...heirs]
    for (const [i, heir] of heirs.entries()) writeFileSync(join(path, nameFor(before[i]!)), heir)
    const opened = openDataDir(path)
    expect(opened.ok).toBe(isFree)
    const kept = readFileSync(join(path, 'lock'), 'utf8')
    expect(kept).toBe(isFree ? `${process.pid} ${startOf(process.pid)}\n` : holder)
    if (!opened.ok) expect(opened.error).toContain(`is in use by process ${process.ppid};`)
    if (isFree) expect(readdirSync(path).filter((name) => name.startsWith('lock.'))).toEqual([])
  })
})

test('a secret is readable for its owner only, also when it replaces a file', () => {
  const path = join(tempDir(), 'keys', 'k')
  writeSecret(path, 'one')
  writeSecret(path, 'two')
  expect(readFileSync(path, 'utf8')).toBe('two')
  expect(statSync(path).mode & 0o777).toBe(0o600)
  expect(readdirSync(join(path, '..'))).toEqual(['k'])
})

describe('a directory that cannot be written', () => {
  function withStoredBundle(): string {
    const path = tempDir()
    for (const folder of ['node/bundles', 'keys'])
      mkdirSync(join(path, folder), { recursive: true })
    for (const name of ['node/active.json', 'keys/node.pem']) writeFileSync(join(path, name), '')
    // A file where a folder belongs: also the superuser cannot write below it.
    writeFileSync(join(path, 'gitops'), '')
    return path
  }

  test('is opened to serve from, and taken as soon as it can be', () => {
    const path = withStoredBundle()
    const opened = openDataDirToServe(path, log)
    if (!opened.ok) throw new Error(opened.error)
    expect(opened.value.fault()).toContain('cannot be written')
    expect(opened.value.retry()).toContain('cannot be written')
    expect(existsSync(join(path, 'lock'))).toBe(false)
    rmSync(join(path, 'gitops'))
    expect(opened.value.retry()).toBeNull()
    expect(readFileSync(join(path, 'lock'), 'utf8')).toMatch(`${process.pid} `)
    opened.value.release()
    expect(existsSync(join(path, 'lock'))).toBe(false)
  })

  test('is not opened for a command that has to write', () => {
    expect(openDataDir(withStoredBundle()).ok).toBe(false)
  })

  test.each(['keys/node.pem', 'node/active.json'])('is not opened without %s', (name) => {
    const path = withStoredBundle()
    rmSync(join(path, name))
    expect(openDataDirToServe(path, log).ok).toBe(false)
  })

  test('keeps us out while somebody has it', () => {
    const path = withStoredBundle()
    writeFileSync(join(path, 'lock'), `${process.ppid} ${startOf(process.ppid)}\n`)
    const opened = openDataDirToServe(path, log)
    expect(opened.ok ? '' : opened.error).toContain(`in use by process ${process.ppid}`)
  })
})

test.each(['/proc/x', '/proc/x/y/z'])(
  'the directory %s, which no file system makes, is an error at once',
  (path) => {
    const opened = openDataDir(path)
    expect(opened.ok ? '' : opened.error).toMatch(
      /cannot be made: .*no directory can be made there/,
    )
  },
)
