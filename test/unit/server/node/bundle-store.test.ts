import fs, { mkdirSync, readdirSync, statSync, writeFileSync } from 'node:fs'
import { syncBuiltinESMExports } from 'node:module'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { BundleStore } from '#server/node/bundle-store.ts'
import type { SignedChannelRecord } from '#bundle/signature/channel.ts'
import { tempDir } from '../../../support/temp-dir.ts'
import { waitUntil } from '../../../support/wait-until.ts'

const digestOf = (number: number): string => number.toString(16).padStart(64, '0')
const signed = (number: number): SignedChannelRecord => ({
  record: {
    channel: 'main',
    seq: number,
    digest: digestOf(number),
    previous: '',
    commit: '',
    issuedAtMs: 0,
    expiresAtMs: 0,
  },
  keyId: '',
  signature: '',
})
const octets = (number: number): Uint8Array => new Uint8Array(100).fill(number)

function newStore() {
  const dataDir = tempDir('store')
  const store = new BundleStore(dataDir)
  const keep = (number: number, serving?: number): void =>
    store.keep(signed(number), octets(number), serving === undefined ? undefined : signed(serving))
  const files = (): string[] => readdirSync(join(dataDir, 'node', 'bundles')).sort()
  const inodeOf = (number: number): number =>
    statSync(join(dataDir, 'node', 'bundles', `${digestOf(number)}.bundle`)).ino
  return { dataDir, store, keep, files, inodeOf }
}

/** Runs `work` on a disk whose flush number `failing` fails, from 1 on. */
function withFailingFlush(failing: number, work: () => void): void {
  const { fsyncSync } = fs
  let flushes = 0
  fs.fsyncSync = (fd) => {
    if (++flushes === failing) throw new Error('EIO: i/o error, fsync')
    fsyncSync(fd)
  }
  syncBuiltinESMExports()
  try {
    work()
  } finally {
    fs.fsyncSync = fsyncSync
    syncBuiltinESMExports()
  }
}

describe('a store', () => {
  test('has nothing at first', () => {
    const { store } = newStore()
    expect([store.record('active'), store.record('previous')]).toEqual([undefined, undefined])
    expect(store.quarantine()).toEqual({})
    const missing = store.bundle(digestOf(1))
    expect(missing.ok ? '' : missing.error).toContain('cannot be read')
  })

  test('has the record that was active as previous, without writing it again', () => {
    const { dataDir, store, keep } = newStore()
    const inodeOf = (name: string): number => statSync(join(dataDir, 'node', name)).ino
    keep(1)
    const first = inodeOf('active.json')
    keep(2, 1)
    expect([inodeOf('previous.json'), inodeOf('active.json') === first]).toEqual([first, false])
    // The flush of the next record fails: both names are of one file.
    keep(3, 2)
    expect(() => withFailingFlush(3, () => keep(4, 3))).toThrow('EIO')
    expect([store.record('active'), store.record('previous')]).toEqual([signed(3), signed(3)])
    keep(4, 3)
    expect([store.record('active'), store.record('previous')]).toEqual([signed(4), signed(3)])
    const names = ['active.json', 'bundles', 'previous.json']
    expect(readdirSync(join(dataDir, 'node')).sort()).toEqual(names)
  })

  test('writes the previous record on a file system without links', () => {
    const { store, keep } = newStore()
    const { linkSync } = fs
    fs.linkSync = () => {
      throw new Error('EPERM: operation not permitted, link')
    }
    syncBuiltinESMExports()
    try {
      keep(1)
      keep(2, 1)
    } finally {
      fs.linkSync = linkSync
      syncBuiltinESMExports()
    }
    expect([store.record('active'), store.record('previous')]).toEqual([signed(2), signed(1)])
  })

  test('gives back octets in shared memory, and the records of both', () => {
    const { store, keep } = newStore()
    keep(1)
    keep(2, 1)
    const bundle = store.bundle(digestOf(2))
    expect(bundle.ok && bundle.value.buffer instanceof SharedArrayBuffer).toBe(true)
    expect(bundle.ok && Buffer.compare(bundle.value, octets(2))).toBe(0)
    expect([store.record('active'), store.record('previous')]).toEqual([signed(2), signed(1)])
  })

  test('leaves a bundle that was added before as it is', () => {
    const { store, keep, files, inodeOf } = newStore()
    store.add(digestOf(1), octets(1))
    expect(store.record('active')).toBeUndefined()
    const added = inodeOf(1)
    keep(1)
    expect(store.record('active')).toEqual(signed(1))
    expect(files()).toEqual([`${digestOf(1)}.bundle`])
    expect(inodeOf(1)).toBe(added)
  })

  test('writes a bundle again whose folder could not be flushed', () => {
    const { store, keep, inodeOf } = newStore()
    keep(1)
    // The file itself is flushed first, then the folder that it is in.
    withFailingFlush(2, () => {
      expect(() => store.add(digestOf(2), octets(2))).toThrow('EIO')
    })
    const doubtful = inodeOf(2)
    keep(2, 1)
    expect(inodeOf(2)).not.toBe(doubtful)
  })

  test('is found again by another process', () => {
    const { dataDir, keep } = newStore()
    keep(1)
    expect(new BundleStore(dataDir).record('active')).toEqual(signed(1))
  })

  test('does not make a bundle its own way back', () => {
    const { store, keep } = newStore()
    keep(1)
    keep(1, 1)
    expect(store.record('previous')).toBeUndefined()
  })

  test('does not name a way back whose octets it does not have', () => {
    const { store, keep } = newStore()
    keep(1)
    keep(2, 1)
    keep(4, 3)
    expect([store.record('active'), store.record('previous')]).toEqual([signed(4), signed(1)])
  })

  test('writes a damaged file anew', () => {
    const { dataDir, store, keep } = newStore()
    keep(1)
    writeFileSync(join(dataDir, 'node', 'bundles', `${digestOf(1)}.bundle`), 'rubbish')
    keep(1)
    const bundle = store.bundle(digestOf(1))
    expect(bundle.ok && Buffer.compare(bundle.value, octets(1))).toBe(0)
  })

  test('tells a record that is not there from one that cannot be read', () => {
    const { dataDir, store } = newStore()
    writeFileSync(join(dataDir, 'node', 'active.json'), '{"rec')
    mkdirSync(join(dataDir, 'node', 'previous.json'))
    expect([store.record('active'), store.record('previous')]).toEqual([null, null])
  })
})

/** What follows a call is done: the system removes files while the thread goes on. */
const becomes = (files: () => string[], numbers: readonly number[]): Promise<unknown> =>
  waitUntil(
    'two bundles',
    () => files().join() === numbers.map((one) => `${digestOf(one)}.bundle`).join(),
  )

describe('collecting', () => {
  test('leaves the two that are named, and nothing else', () => {
    const { dataDir, store, keep, files } = newStore()
    keep(1)
    keep(2, 1)
    for (const file of ['left-behind.tmp', `${digestOf(9)}.bundle`]) {
      writeFileSync(join(dataDir, 'node', 'bundles', file), '')
    }
    expect(store.collect()).toBe(2)
    expect(files()).toEqual([`${digestOf(1)}.bundle`, `${digestOf(2)}.bundle`])
    expect(store.collect()).toBe(0)
  })

  test('follows keeping: thousands of changes leave two bundles', async () => {
    const { keep, files } = newStore()
    keep(1)
    for (let number = 2; number <= 5; number++) {
      keep(number, number - 1)
      await becomes(files, [number - 1, number])
    }
  })

  test('leaves a bundle that comes again while its old file is removed', async () => {
    const { store, keep, files } = newStore()
    keep(1)
    keep(2, 1)
    keep(3, 2)
    setImmediate(() => store.add(digestOf(1), octets(1)))
    await becomes(files, [1, 2, 3])
    const again = store.bundle(digestOf(1))
    expect(again.ok && Buffer.compare(again.value, octets(1))).toBe(0)
  })

  test('leaves a bundle that was added, until another one is kept', async () => {
    const { store, keep, files } = newStore()
    keep(1)
    store.add(digestOf(2), octets(2))
    expect(store.collect()).toBe(0)
    keep(3, 1)
    await becomes(files, [1, 3])
  })

  test('waits while a record cannot be read: it may name a bundle', () => {
    const { dataDir, store, keep, files } = newStore()
    keep(1)
    writeFileSync(join(dataDir, 'node', 'active.json'), '{"rec')
    expect(store.collect()).toBe(0)
    expect(files()).toEqual([`${digestOf(1)}.bundle`])
  })
})

describe('the quarantine', () => {
  test('lasts, and forgets the oldest when it is full', () => {
    const { dataDir, store } = newStore()
    for (let number = 1; number <= 70; number++)
      store.addToQuarantine(`a${digestOf(number)}`, `${number}`)
    const reasons = Object.values(new BundleStore(dataDir).quarantine())
    expect(reasons).toEqual(Array.from({ length: 64 }, (_, i) => `${i + 7}`))
  })

  test('that is damaged holds nothing', () => {
    const { dataDir, store } = newStore()
    writeFileSync(join(dataDir, 'node', 'quarantine.json'), '{')
    expect(store.quarantine()).toEqual({})
    store.addToQuarantine(digestOf(1), 'why')
    expect(store.quarantine()).toEqual({ [digestOf(1)]: 'why' })
  })
})
