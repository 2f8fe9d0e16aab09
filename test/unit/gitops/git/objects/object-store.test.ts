// Objects as git leaves them: loose, in packs, as deltas, moved from one to the other meanwhile.
import fs, {
  chmodSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  truncateSync,
  writeFileSync,
} from 'node:fs'
import { syncBuiltinESMExports } from 'node:module'
import { join } from 'node:path'
import fc from 'fast-check'
import { expect, test, vi } from 'vitest'
import { createDiskDriver } from '#gitops/git/disk-driver.ts'
import { ObjectStore } from '#gitops/git/objects/object-store.ts'
import { applyDelta, PackFile } from '#gitops/git/objects/pack-file.ts'
import { packCount } from '#gitops/git/objects/pack-set.ts'
import { gitSandbox } from '../../../../support/git-sandbox.ts'
import type { GitSandbox } from '../../../../support/git-sandbox.ts'

/** A repository with a history in which every object is a little different from others. */
function history(commits = 30): { box: GitSandbox; gitdir: string } {
  const box = gitSandbox()
  const gitdir = box.at('repository.git')
  box.git(box.at('.'), 'init', '--quiet', '--bare', '-b', 'main', gitdir)
  addCommits({ box, gitdir, from: 0, commits })
  return { box, gitdir }
}

interface Addition {
  readonly box: GitSandbox
  readonly gitdir: string
  readonly from: number
  readonly commits: number
}

function addCommits({ box, gitdir, from, commits }: Addition): void {
  const lines: string[] = []
  for (let i = from; i < from + commits; i++) {
    const file = Array.from({ length: 40 }, (_, row) => `row ${row === i % 40 ? i : row}\n`).join(
      '',
    )
    lines.push(`commit refs/heads/main\ncommitter a <a@example.com> ${1e9 + i} +0000`)
    lines.push(`data 2\n${i % 10}\n`)
    if (i === from && from > 0) lines.push('from refs/heads/main^0')
    for (const name of ['a/b/one', `a/${i}`]) {
      lines.push(`M 100644 inline ${name}\ndata ${file.length}\n${file}`)
    }
  }
  const isLoose = ['-c', 'fastimport.unpackLimit=10000']
  box.run('git', ['-C', gitdir, ...isLoose, 'fast-import', '--quiet'], `${lines.join('\n')}\n`)
}

/** The id, the type and the size of every object, by git. */
function byGit(box: GitSandbox, gitdir: string): [oid: string, type: string, bytes: number][] {
  const format = '%(objectname) %(objecttype) %(objectsize)'
  const listed = box.git(gitdir, 'cat-file', '--batch-all-objects', `--batch-check=${format}`)
  return listed.split('\n').map((line) => {
    const [oid = '', type = '', bytes = ''] = line.split(' ')
    return [oid, type, Number(bytes)]
  })
}

/** The same by our reader, which checks each against its id. */
async function byDriver(
  gitdir: string,
  wanted: readonly [oid: string, type: string, bytes: number][],
  driver = createDiskDriver(gitdir),
): Promise<[oid: string, type: string, bytes: number][]> {
  const found: [string, string, number][] = []
  const store = new ObjectStore(gitdir)
  for (const [oid, type] of wanted) {
    const object = store.read(oid)
    const isRight = type !== 'blob' || (await driver.readBlob(oid)).ok
    if (object !== undefined && isRight) found.push([oid, object.type, object.content.length])
  }
  return found
}

const layouts: readonly [name: string, ...commands: string[][]][] = [
  ['loose'],
  ['one pack', ['repack', '-a', '-d', '-q', '-f', '--depth=50']],
  ['deltas that name their base', ['-c', 'repack.useDeltaBaseOffset=false', 'repack', '-adfq']],
  ['an uncompressed pack', ['-c', 'pack.compression=0', 'repack', '-a', '-d', '-q', '-f', '-F']],
  ['offsets of eight octets', ['-c', 'pack.indexVersion=2', 'repack', '-a', '-d', '-q', '-f']],
  ['an index of many packs', ['repack', '-a', '-d', '-q', '-f', '--write-midx']],
  ['a pack of git maintenance', ['maintenance', 'run', '--task=loose-objects'], ['prune-packed']],
]
for (const [name, ...commands] of layouts) {
  test(`${name}: every object is what git says`, async () => {
    const { box, gitdir } = history()
    for (const command of commands) box.git(gitdir, ...command)
    if (name.startsWith('offsets')) {
      const folder = join(gitdir, 'objects/pack')
      const pack = readdirSync(folder).find((file) => file.endsWith('.pack')) ?? ''
      box.git(gitdir, 'index-pack', '--index-version=2,0x40', join(folder, pack))
    }
    const wanted = byGit(box, gitdir)
    expect(wanted.length).toBeGreaterThan(80)
    expect(await byDriver(gitdir, wanted)).toEqual(wanted)
  })
}

test('objects that lie in one pack are read together, and no file is looked for', () => {
  const { box, gitdir } = history()
  box.git(gitdir, 'repack', '-a', '-d', '-q')
  const wanted = byGit(box, gitdir)
  const store = new ObjectStore(gitdir)
  const spies = (['openSync', 'readSync', 'readdirSync'] as const).map((name) => vi.spyOn(fs, name))
  syncBuiltinESMExports()
  try {
    for (const [oid] of wanted) expect(store.read(oid)).toBeDefined()
    const calls = spies.reduce((sum, { mock }) => sum + mock.calls.length, 0)
    expect(calls).toBeGreaterThan(2)
    expect(calls).toBeLessThan(wanted.length / 4)
  } finally {
    for (const spy of spies) spy.mockRestore()
    syncBuiltinESMExports()
  }
})

test('a reader finds what is packed, packed anew and let out again meanwhile', async () => {
  const { box, gitdir } = history()
  const driver = createDiskDriver(gitdir)
  let from = 30
  const all = async (): Promise<void> => {
    const wanted = byGit(box, gitdir)
    expect(await byDriver(gitdir, wanted, driver)).toEqual(wanted)
  }
  await all()
  for (const command of [
    ['repack', '-d', '-q'],
    ['repack', '--geometric=2', '-d', '-q'],
    ['gc', '-q', '--prune=now'],
  ]) {
    addCommits({ box, gitdir, from, commits: 10 })
    from += 10
    await all()
    box.git(gitdir, ...command)
    await all()
  }
  // No ref reaches them any more: git takes them out of the pack.
  const [[oid = ''] = []] = byGit(box, gitdir).filter(([, type]) => type === 'blob')
  expect((await driver.readBlob(oid)).ok).toBe(true)
  box.git(gitdir, 'update-ref', '-d', 'refs/heads/main')
  box.git(gitdir, '-c', 'gc.cruftPacks=false', 'gc', '-q')
  expect((await driver.readBlob(oid)).ok).toBe(true)
})

test('a pack that git replaced is let go of', async () => {
  const { box, gitdir } = history()
  box.git(gitdir, 'repack', '-a', '-d', '-q')
  const store = new ObjectStore(gitdir)
  const [[oid] = ['']] = byGit(box, gitdir)
  expect(store.read(oid)).toBeDefined()
  addCommits({ box, gitdir, from: 30, commits: 5 })
  box.git(gitdir, 'repack', '-a', '-d', '-q')
  for (const [each] of byGit(box, gitdir)) store.read(each)
  const open = readdirSync('/proc/self/fd').map((fd) => {
    try {
      return readlinkSync(`/proc/self/fd/${fd}`)
    } catch {
      return ''
    }
  })
  expect(open.filter((path) => path.startsWith(gitdir) && path.endsWith('(deleted)'))).toEqual([])
})

test('the empty tree is there without anybody having stored it', async () => {
  const { gitdir } = history(1)
  const empty = await createDiskDriver(gitdir).readTree('4b825dc642cb6eb9a060e54bf8d69288fbee4904')
  expect(empty).toEqual({ ok: true, value: [] })
})

/** Blobs by their ids. */
async function contents(
  gitdir: string,
  blobs: readonly [oid: string, type: string, bytes: number][],
): Promise<Map<string, Buffer>> {
  const driver = createDiskDriver(gitdir)
  const found = new Map<string, Buffer>()
  for (const [oid] of blobs) {
    const read = await driver.readBlob(oid)
    if (read.ok) found.set(oid, Buffer.from(read.value))
  }
  expect(found.size).toBe(blobs.length)
  return found
}

test('a pack with changed octets gives what was stored, or an error', async () => {
  const { box, gitdir } = history(12)
  box.git(gitdir, 'repack', '-a', '-d', '-q', '-f')
  const blobs = byGit(box, gitdir).filter(([, type]) => type === 'blob')
  const folder = join(gitdir, 'objects/pack')
  const paths = readdirSync(folder)
    .filter((file) => /\.(idx|pack)$/.test(file))
    .map((file) => join(folder, file))
  const good = paths.map((path) => readFileSync(path))
  for (const path of paths) chmodSync(path, 0o644)
  const stored = await contents(gitdir, blobs)
  await fc.assert(
    fc.asyncProperty(
      fc.integer({ min: 0, max: paths.length - 1 }),
      fc.array(fc.tuple(fc.nat(), fc.integer({ min: 1, max: 255 })), {
        minLength: 1,
        maxLength: 9,
      }),
      async (which, changes) => {
        const bytes = Buffer.from(good[which]!)
        for (const [at, by] of changes) bytes[at % bytes.length]! ^= by
        writeFileSync(paths[which]!, bytes)
        const driver = createDiskDriver(gitdir)
        for (const [oid] of blobs) {
          const read = await driver.readBlob(oid)
          if (read.ok) expect(stored.get(oid)!.equals(read.value)).toBe(true)
          // Only an index can say that it is not there.
          else if (paths[which]!.endsWith('.pack')) expect(read.error.kind).toBe('damaged')
          else expect(['damaged', 'missing']).toContain(read.error.kind)
        }
        writeFileSync(paths[which]!, good[which]!)
      },
    ),
    { numRuns: 200 },
  )
  expect(await byDriver(gitdir, blobs)).toEqual(blobs)
})

test('behind the end of a pack that is cut nothing is read', () => {
  const { box, gitdir } = history()
  box.git(gitdir, 'repack', '-a', '-d', '-q', '-f')
  const folder = join(gitdir, 'objects/pack')
  const [index = ''] = readdirSync(folder).filter((file) => file.endsWith('.idx'))
  const path = join(folder, index.slice(0, -'.idx'.length))
  const { length } = readFileSync(`${path}.pack`)
  chmodSync(`${path}.pack`, 0o644)
  truncateSync(`${path}.pack`, length - 400)
  const pack = new PackFile(path)
  // The window is filled from the start.
  pack.entry(12)
  for (let at = length - 400; at < length; at++) {
    expect(() => pack.entry(at)).toThrow('in its pack it is cut short')
  }
  pack.close()
})

const badIndexes: readonly [name: string, change: (good: Buffer) => Buffer | 'version 1'][] = [
  ['is empty', () => Buffer.alloc(0)],
  ['ends within its head', (good) => good.subarray(0, 500)],
  ['ends within its ids', (good) => good.subarray(0, 8 + 1_024 + 30)],
  ['is of another version', () => 'version 1'],
]
test.each(badIndexes)('an index that %s hides no object of other packs', async (_name, change) => {
  const { box, gitdir } = history(12)
  box.git(gitdir, 'repack', '-d', '-q')
  const first = byGit(box, gitdir)
  const folder = join(gitdir, 'objects/pack')
  const [firstIndex = ''] = readdirSync(folder).filter((file) => file.endsWith('.idx'))
  addCommits({ box, gitdir, from: 12, commits: 12 })
  box.git(gitdir, 'repack', '-d', '-q')
  const isFirst = new Set(first.map(([oid]) => oid))
  const blobs = byGit(box, gitdir).filter(([, type]) => type === 'blob')
  const indexes = readdirSync(folder).filter((file) => file.endsWith('.idx'))
  expect(indexes).toHaveLength(2)
  for (const index of indexes) {
    const path = join(folder, index)
    const good = readFileSync(path)
    const bad = change(good)
    rmSync(path)
    if (bad !== 'version 1') writeFileSync(path, bad)
    else box.git(gitdir, 'index-pack', '--index-version=1', path.replace(/idx$/, 'pack'))
    const driver = createDiskDriver(gitdir)
    for (const [oid] of blobs) {
      const read = await driver.readBlob(oid)
      const isHidden = isFirst.has(oid) === (index === firstIndex)
      expect(read.ok ? 'found' : read.error.kind).toBe(isHidden ? 'damaged' : 'found')
    }
    rmSync(path)
    writeFileSync(path, good)
    expect(await byDriver(gitdir, blobs, driver)).toEqual(blobs)
  }
})

test('an unfinished pack of git is ignored', async () => {
  const { box, gitdir } = history(3)
  box.git(gitdir, 'repack', '-d', '-q')
  const wanted = byGit(box, gitdir)
  const hash = 'a'.repeat(40)
  for (const name of [`.tmp-7-pack-${hash}`, 'tmp_pack_x', `pack-${hash}.idx`, 'pack-abc']) {
    for (const ending of ['.idx', '.pack']) {
      writeFileSync(join(gitdir, 'objects/pack', `${name}${ending}`), 'half')
    }
  }
  const driver = createDiskDriver(gitdir)
  expect(packCount(gitdir)).toBe(1)
  expect(await byDriver(gitdir, wanted, driver)).toEqual(wanted)
  const read = await driver.readBlob('b'.repeat(40))
  expect(read.ok ? 'found' : read.error.kind).toBe('missing')
})

const base = Buffer.from('0123456789')
const deltas: readonly [name: string, delta: number[], result: string][] = [
  ['a copy', [10, 4, 0x91, 3, 4], '3456'],
  ['a copy from the beginning', [10, 2, 0x90, 2], '01'],
  ['octets of its own', [10, 3, 3, 0x61, 0x62, 0x63], 'abc'],
  ['both', [10, 3, 0x91, 9, 1, 2, 0x61, 0x62], '9ab'],
  ['nothing', [10, 0], ''],
  ['another base', [9, 1, 0x90, 1], 'error'],
  ['beyond the base', [10, 4, 0x91, 8, 4], 'error'],
  ['more than it says', [10, 1, 0x90, 2], 'error'],
  ['less than it says', [10, 3, 0x90, 2], 'error'],
  ['an end in a command', [10, 4, 0x91, 3], 'error'],
  ['an end in its own octets', [10, 3, 3, 0x61], 'error'],
  ['the command 0', [10, 1, 0, 1], 'error'],
  ['a result of terabytes', [10, 255, 255, 255, 255, 255, 127, 0x90, 2], 'error'],
  ['no end of a size', [10, 255, 255], 'error'],
  ['nothing at all', [], 'error'],
]
test.each(deltas)('a delta of %s', (_name, delta, result) => {
  const apply = () => applyDelta(base, Buffer.from(delta)).toString()
  if (result === 'error') expect(apply).toThrow(/in its pack|it has \d+ octets/)
  else expect(apply()).toBe(result)
})
