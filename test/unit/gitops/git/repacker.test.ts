// Git packs a repository by itself, while it is written, and whatever happens to git meanwhile.
import {
  chmodSync,
  closeSync,
  cpSync,
  existsSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  statSync,
  utimesSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, describe, expect, onTestFinished, test } from 'vitest'
import { createDiskDriver } from '#gitops/git/disk-driver.ts'
import { gitLimits } from '#gitops/limits.ts'
import { originPath } from '#gitops/thread/options.ts'
import { Repacker } from '#gitops/git/repacker.ts'
import type { Operation } from '#config/operation.ts'
import { FakeTime } from '../../../support/fake-time.ts'
import { gitSandbox } from '../../../support/git-sandbox.ts'
import { laneCount } from '../../../support/lane.ts'
import { makeTempDir, removeTempDir } from '../../../support/temp-dir.ts'
import { waitUntil } from '../../../support/wait-until.ts'
import { newPem, seedOrigin, settingsYaml, startWriteScene } from '../../../support/write-scene.ts'

const path = process.env['PATH'] ?? ''
const none = { done: 0, failed: 0, 'no-git': 0 }

interface Settings {
  readonly afterObjects?: number
  readonly searchPath?: string
}

const templates = makeTempDir('repacker')
afterAll(() => removeTempDir(templates))
const pem = newPem()

/** Each object is flushed when it is written: each number of files is made once, and copied. */
async function placeOrigin(dataDir: string, files: number): Promise<void> {
  const template = join(templates, String(files))
  if (!existsSync(template)) {
    const contents = Array.from({ length: files }, (_, i): [string, string] => [
      `docs/${i % 7}/${i}`,
      `file ${i}\n`,
    ])
    const options = { dataDir: template, pem }
    await seedOrigin(options, { 'gslb.yaml': settingsYaml, ...Object.fromEntries(contents) })
  }
  cpSync(template, dataDir, { recursive: true, preserveTimestamps: true })
}

/** An origin with as many loose objects as files, and what packs it. */
async function scene({ afterObjects = 100, searchPath = path }: Settings, files = 200) {
  const box = gitSandbox()
  const options = { dataDir: box.at('data'), pem }
  await placeOrigin(options.dataDir, files)
  const gitdir = originPath(options.dataDir)
  const lines: string[] = []
  const note = (level: string) => (_fields: object, message: string) =>
    void lines.push(`${level}: ${message}`)
  const time = new FakeTime(Date.UTC(2026, 0, 2))
  const log = { info: note('info'), warn: note('warn'), error: note('error') }
  const parts = { gitdir, afterObjects, searchPath, clock: time.clock, after: time.after, log }
  const repacker = new Repacker(parts)
  onTestFinished(() => repacker.stop())
  const counts = (): { loose: number; packs: number } => {
    const said = box.git(gitdir, 'count-objects', '-v')
    const of = (name: string): number => Number(new RegExp(`^${name}: (\\d+)`, 'm').exec(said)?.[1])
    return { loose: of('count'), packs: of('packs') }
  }
  const pack = async (): Promise<void> => {
    await repacker.look()
    await repacker.idle()
  }
  return { box, options, gitdir, parts, repacker, lines, time, counts, pack }
}

const createPool = (name: string): Operation => ({
  verb: 'create',
  kind: 'Pool',
  tenant: 'default',
  name,
  spec: { members: [{ ipAddress: '192.0.2.99', port: 80 }] },
})

/** A `git` that does something else; `$GIT` is the real one. */
function fakeGit(box: ReturnType<typeof gitSandbox>, script: string): string {
  const real = box.run('sh', ['-c', 'command -v git'])
  mkdirSync(box.at('bin'), { recursive: true })
  box.write('bin/git', `#!/bin/sh\nGIT=${real}\n${script}\n`)
  chmodSync(box.at('bin/git'), 0o755)
  return `${box.at('bin')}:${path}`
}

test('loose objects become a pack when there are enough, and all is where it was', async () => {
  const { box, gitdir, repacker, lines, counts, pack } = await scene({})
  const before = box.git(gitdir, 'rev-parse', 'main')
  await pack()
  expect(counts()).toEqual({ loose: 0, packs: 1 })
  expect(repacker.status()).toEqual({ looseObjects: 0, packings: { ...none, done: 1 } })
  expect(lines).toEqual(['info: the repository was packed'])
  box.git(gitdir, 'fsck', '--strict')
  expect(readFileSync(join(gitdir, 'refs/heads/main'), 'utf8').trim()).toBe(before)
  await pack()
  expect(repacker.status().packings.done).toBe(1)
})

test.each([
  ['below the number', { afterObjects: 100_000 }],
  ['with the number 0', { afterObjects: 0 }],
])('%s nothing is packed, and all is counted', async (_name, settings) => {
  const { counts, lines, pack, repacker } = await scene(settings, 60)
  const before = counts()
  await pack()
  expect(counts()).toEqual(before)
  expect(lines).toEqual([])
  expect(repacker.status().packings).toEqual(none)
  expect(repacker.status().looseObjects).toBeGreaterThan(0)
})

test('packs stay few, however often it packs', async () => {
  const { box, gitdir, counts, pack, repacker } = await scene({ afterObjects: 16 })
  const driver = createDiskDriver(gitdir)
  // git has the lowest priority: on a busy machine each round takes seconds.
  const rounds = laneCount(16, 12)
  for (let round = 0; round < rounds; round++) {
    const files = Array.from(
      { length: 60 },
      (_, i) => [`x/${i}`, Buffer.from(`${round} ${i}`)] as const,
    )
    const tree = await driver.writeFiles(null, new Map(files))
    if (!tree.ok) throw new Error(tree.error.reason)
    const parent = box.git(gitdir, 'rev-parse', 'main')
    const commit = box.git(gitdir, 'commit-tree', '-p', parent, '-m', `${round}`, tree.value)
    box.git(gitdir, 'update-ref', 'refs/heads/main', commit)
    await pack()
  }
  const { done, failed } = repacker.status().packings
  expect(failed).toBe(0)
  // How many are loose is an estimate.
  expect(done).toBeGreaterThan((rounds * 2) / 3)
  expect(counts().loose).toBeLessThan(250)
  // Without merging there would be one for each.
  expect(counts().packs).toBeLessThanOrEqual(7)
  box.git(gitdir, 'fsck', '--strict')
})

test('writes go on while it packs, each can be read, and a restart serves them', async () => {
  const { box, options, gitdir, repacker, time, counts } = await scene({ afterObjects: 16 })
  const first = await startWriteScene(options)
  let isWriting = true
  const packing = (async () => {
    while (isWriting) {
      await repacker.look()
      await repacker.idle()
      // Where as much was written as it packed it pauses.
      time.pass(gitLimits.repackPauseMs)
      await sleep(20)
    }
  })()
  const revisions: string[] = []
  const writes = laneCount(30, 20)
  // The writer's own objects are packed, not only those from before.
  for (let i = 0; i < writes || repacker.status().packings.done < 3; i++) {
    // git has the lowest priority: on a busy machine writes alone would be many.
    if (i >= writes) await sleep(200)
    const written = await first.write(createPool(`p${i}`))
    if (!written.ok) throw new Error(written.error.message)
    revisions.push(written.value.revision)
  }
  isWriting = false
  await packing
  await first.stop()
  expect(repacker.status().packings.failed).toBe(0)
  expect(counts().packs).toBeGreaterThan(0)
  box.git(gitdir, 'fsck', '--strict')
  const driver = createDiskDriver(gitdir)
  for (const revision of revisions) expect((await driver.readCommit(revision)).ok).toBe(true)
  expect(box.git(gitdir, 'rev-parse', 'main')).toBe(revisions.at(-1))

  const last = `p${writes - 1}`
  const second = await startWriteScene(options)
  onTestFinished(() => second.stop())
  expect(second.view.snapshot().find('Pool', 'default', last)?.object.metadata.name).toBe(last)
  const written = await second.write(createPool('after'))
  expect(written.ok).toBe(true)
})

test('git may be killed at any moment: the repository is whole and is packed later', async () => {
  const { box, gitdir, parts, counts, pack, time, repacker } = await scene({}, laneCount(600, 400))
  // The group is killed after so many milliseconds: at the start, within, at the end, or not.
  const killing = fakeGit(
    box,
    'cut=$(cat "$(dirname "$0")/cut"); "$GIT" "$@" & p=$!\n' +
      'sleep "$cut"; [ "$cut" = 60 ] || kill -9 -$$; wait $p',
  )
  const cut = new Repacker({ ...parts, searchPath: killing })
  const before = box.git(gitdir, 'rev-list', '--objects', '--all')
  for (const seconds of ['0', '0.005', '0.01', '0.02', '0.04', '0.08', '0.16']) {
    box.write('bin/cut', seconds)
    await cut.look()
    await cut.idle()
    box.git(gitdir, 'fsck', '--strict')
    expect(box.git(gitdir, 'rev-list', '--objects', '--all')).toBe(before)
    time.pass(gitLimits.repackPauseMs)
  }
  expect(cut.status().packings.failed).toBeGreaterThan(0)
  await pack()
  expect(repacker.status().packings.failed).toBe(0)
  expect(counts().loose).toBeLessThan(100)
})

describe('a repository that cannot be packed is logged once, and tried again later', () => {
  type Box = ReturnType<typeof gitSandbox>
  const rows: readonly [name: string, searchPath: (box: Box) => string, message: string][] = [
    [
      'without git',
      (box) => box.at('nothing'),
      'there is no git on this machine (PATH); install git 2.33 or newer',
    ],
    [
      'with an old git',
      (box) => fakeGit(box, 'echo "error: unknown option geometric" >&2; exit 129'),
      'git says 129: error: unknown option',
    ],
    ['where git dies', (box) => fakeGit(box, 'kill -9 $$'), 'git was killed by SIGKILL'],
    ['where git is being written', openGit, 'git cannot be started (ETXTBSY)'],
    [
      'where no program can be named so',
      (box) => `${box.at('bin')}\0`,
      'git cannot be started (ERR_INVALID_ARG_VALUE)',
    ],
  ]
  test.each(rows)('%s', async (name, searchPath, message) => {
    const { box, gitdir, parts, time, lines } = await scene({})
    const repacker = new Repacker({ ...parts, searchPath: searchPath(box) })
    const look = async (): Promise<void> => {
      await repacker.look()
      await repacker.idle()
    }
    const isWithout = name === 'without git'
    await look()
    await look()
    expect(repacker.status().packings).toEqual({ ...none, [isWithout ? 'no-git' : 'failed']: 1 })
    time.pass(gitLimits.repackPauseMs)
    await look()
    const later = isWithout ? { 'no-git': 1 } : { failed: 2 }
    expect(repacker.status().packings).toEqual({ ...none, ...later })
    expect(lines).toEqual([
      expect.stringContaining(`warn: the repository is not packed: ${message}`),
    ])
    expect(lines[0]).toContain('docs/operations/backups.md')
    // Somebody else does it; that is seen also in the pause.
    expect(repacker.status().looseObjects).toBeGreaterThan(0)
    box.git(gitdir, 'repack', '-a', '-d', '-q')
    await look()
    expect(repacker.status().looseObjects).toBe(0)
    await repacker.stop()
  })

  /** Linux starts no program that somebody has open for writing. */
  function openGit(box: Box): string {
    const searchPath = fakeGit(box, 'exit 0')
    const fd = openSync(box.at('bin/git'), 'r+')
    onTestFinished(() => closeSync(fd))
    return searchPath
  }
})

test('a fault outside of git is a failure, too, and does not end the node', async () => {
  const { parts, lines } = await scene({})
  const info = (): never => {
    throw new Error('no log')
  }
  const repacker = new Repacker({ ...parts, log: { ...parts.log, info } })
  await repacker.look()
  await repacker.idle()
  expect(repacker.status().packings.failed).toBe(1)
  expect(lines).toEqual([expect.stringContaining('the repository is not packed: no log')])
})

test.each([
  ['is asked to end', ''],
  ['is killed where it does not end when asked', "trap '' TERM"],
])('a git that is not ready in time %s', async (_name, trap) => {
  const { box, parts, time, lines } = await scene({})
  const searchPath = fakeGit(box, `${trap}\ntouch ${box.at('began')}\nsleep 600`)
  const repacker = new Repacker({ ...parts, searchPath })
  await repacker.look()
  await waitUntil('git', () => existsSync(box.at('began')), { timeoutMs: 180_000 })
  time.pass(gitLimits.repackMs - 1)
  expect(repacker.status().packings).toEqual(none)
  time.pass(1)
  if (trap !== '') time.pass(gitLimits.repackEndMs)
  await repacker.idle()
  expect(repacker.status().packings).toEqual({ ...none, failed: 1 })
  expect(lines).toEqual([expect.stringContaining('git was not ready after 30 minutes; writes go')])
  expect(time.waiting).toBe(0)
})

test('a node that stops takes git with it, and all that git has started', async () => {
  const { box, parts } = await scene({})
  const searchPath = fakeGit(
    box,
    `sleep 600 & echo $! > ${box.at('child')}.new
    mv ${box.at('child')}.new ${box.at('child')}; wait`,
  )
  const repacker = new Repacker({ ...parts, searchPath })
  await repacker.look()
  await waitUntil('git', () => existsSync(box.at('child')), { timeoutMs: 180_000 })
  const pid = Number(readFileSync(box.at('child'), 'utf8'))
  await repacker.stop()
  const isGone = (): boolean => {
    const status = `/proc/${pid}/status`
    return !existsSync(status) || /^State:\s+Z/m.test(readFileSync(status, 'utf8'))
  }
  await waitUntil('its end', isGone, { timeoutMs: 180_000 })
  expect(repacker.status().packings).toEqual(none)
})

test('unfinished packs of a git that was killed go after a day', async () => {
  const { gitdir, time, pack } = await scene({})
  const folder = join(gitdir, 'objects/pack')
  const ages = { tmp_pack_old: 25, '.tmp-1-pack-old.pack': 25, tmp_pack_new: 23 }
  for (const [name, hours] of Object.entries(ages)) {
    writeFileSync(join(folder, name), 'half')
    const seconds = time.clock.nowMs() / 1000 - hours * 3_600
    utimesSync(join(folder, name), seconds, seconds)
  }
  await pack()
  expect(readdirSync(folder).filter((name) => /tmp/.test(name))).toEqual(['tmp_pack_new'])
})

test('an object that is written again is as young as a new one: git gc leaves it', async () => {
  const { box, gitdir } = await scene({}, 1)
  const driver = createDiskDriver(gitdir)
  const content = Buffer.from('in no commit yet')
  const oid = driver.writeObject('blob', content)
  const file = join(gitdir, 'objects', oid.slice(0, 2), oid.slice(2))
  for (const write of [
    async () => void driver.writeObject('blob', content),
    () => driver.writeObjects(new Map([[oid, { type: 'blob', content }]])),
  ]) {
    utimesSync(file, 1_000_000_000, 1_000_000_000)
    await write()
    expect(statSync(file).mtimeMs).toBeGreaterThan(1_700_000_000_000)
    box.git(gitdir, 'gc', '-q')
    expect((await driver.readBlob(oid)).ok).toBe(true)
  }
})
