// Stores activated bundles on disk, so that the node can start without a network.
import {
  closeSync,
  existsSync,
  fstatSync,
  mkdirSync,
  openSync,
  readFileSync,
  readSync,
  readdirSync,
  renameSync,
  rmSync,
} from 'node:fs'
import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { bundleLimits } from '#bundle/format/limits.ts'
import type { SignedChannelRecord } from '#bundle/signature/channel.ts'
import { assert } from '#lib/assert.ts'
import { linkOver, writeDurably } from '#lib/durable-file.ts'
import { err, ok } from '#lib/result.ts'
import type { Result } from '#lib/result.ts'

/**
 * `active` is the bundle that serves; `previous` is the one that served before it, for going back.
 */
export type StoredName = 'active' | 'previous'

/** Digests refused on this node, with the reason for each. */
type Quarantine = Readonly<Record<string, string>>
/**
 * Above this count the oldest entries are dropped: no publisher repeats the same bad bundle for
 * ever.
 */
const quarantineMax = 64

export class BundleStore {
  readonly #directory: string
  /** A process before this one has stored what it answered. */
  readonly hadRecord: boolean
  /** Digest of a bundle that `add` wrote and no record names yet. */
  #added = ''
  /**
   * Digest of a bundle whose write has failed: a file of it that can be read may be lost with the
   * power.
   */
  #doubtful = ''

  /**
   * @param name of its directory in the data directory
   * @throws the file system's error when the directory cannot be made
   */
  constructor(dataDir: string, name = 'node') {
    this.#directory = join(dataDir, name)
    mkdirSync(join(this.#directory, 'bundles'), { recursive: true })
    this.hadRecord = this.record('active') !== undefined
  }

  /**
   * Reads a record as it was stored, without verifying it.
   *
   * @returns undefined when there is none, null when it cannot be read
   */
  record(name: StoredName): unknown {
    return this.#readJson(`${name}.json`)
  }

  /** The signed octets, in shared memory. They are as untrusted as any file. */
  bundle(digest: string): Result<Uint8Array, string> {
    const path = this.bundlePath(digest)
    try {
      return readShared(path)
    } catch (error) {
      return err(
        `${path} cannot be read: ${error instanceof Error ? error.message : String(error)}`,
      )
    }
  }

  /**
   * Stores a bundle that a record may name soon, so that `keep` need not write it.
   *
   * @throws the file system's error
   */
  add(digest: string, bytes: Uint8Array): void {
    this.#write(digest, bytes)
    this.#added = digest
  }

  /**
   * Stores bundle, then records, each whole or not at all: whatever moment the machine stops at, a
   * record names a bundle that is there.
   *
   * @param serving what served until now, and becomes `previous`
   * @throws the file system's error
   */
  keep(
    signed: SignedChannelRecord,
    bytes: Uint8Array,
    serving: SignedChannelRecord | undefined,
  ): void {
    const { digest } = signed.record
    const isStored = this.#added === digest || this.#holds(digest, bytes)
    if (!isStored) this.#write(digest, bytes)
    this.#added = ''
    // When the disk failed while `serving` was activated, its bundle is missing and cannot be gone
    // back to.
    const hasServing = serving !== undefined && existsSync(this.bundlePath(serving.record.digest))
    if (hasServing && serving.record.digest !== digest) this.#keepPrevious(serving)
    writeDurably(this.#path('active.json'), JSON.stringify(signed))
    setImmediate(() => this.#collectQuietly())
  }

  /** Mostly the record in `active` is that of `serving`, and need not be flushed again. */
  #keepPrevious(serving: SignedChannelRecord): void {
    const [active, previous] = [this.#path('active.json'), this.#path('previous.json')]
    const text = JSON.stringify(serving)
    const isActive = existsSync(active) && readFileSync(active, 'utf8') === text
    if (!isActive || !linkOver(active, previous)) writeDurably(previous, text)
  }

  #write(digest: string, bytes: Uint8Array): void {
    this.#doubtful = digest
    writeDurably(this.bundlePath(digest), bytes)
    this.#doubtful = ''
  }

  /** A file of that name may exist that is damaged, or that was not flushed. */
  #holds(digest: string, bytes: Uint8Array): boolean {
    if (digest === this.#doubtful) return false
    const stored = this.bundle(digest)
    return stored.ok && Buffer.compare(stored.value, bytes) === 0
  }

  quarantine(): Quarantine {
    return (this.#readJson('quarantine.json') as Quarantine | null | undefined) ?? {}
  }

  /** @throws the file system's error */
  addToQuarantine(digest: string, reason: string): void {
    const entries = Object.entries({ ...this.quarantine(), [digest]: reason }).slice(-quarantineMax)
    writeDurably(this.#path('quarantine.json'), JSON.stringify(Object.fromEntries(entries)))
  }

  /** Removes the bundles that neither record names, nor will name soon. @returns how many */
  collect(): number {
    const garbage = this.#garbage()
    for (const path of garbage) rmSync(path, { force: true })
    return garbage.length
  }

  #garbage(): readonly string[] {
    const records = (['active', 'previous'] as const).map(
      (name) => this.record(name) as SignedChannelRecord | null | undefined,
    )
    // A record that cannot be read now may be readable later, and name one of the bundles.
    if (records.includes(null)) return []
    const kept = new Set([...records.map((signed) => signed?.record?.digest), this.#added])
    const files = readdirSync(join(this.#directory, 'bundles'))
    const garbage = files.filter((file) => !kept.has(file.replace(/\.bundle$/, '')))
    return garbage.map((file) => join(this.#directory, 'bundles', file))
  }

  /**
   * Collects without failing: a disk that cannot remove has still stored the bundle, and a job
   * collects later. To remove megabytes takes milliseconds, in which this thread has a write to
   * answer, so the files are renamed here (the same bundle may come again) and removed in the
   * background.
   */
  #collectQuietly(): void {
    try {
      for (const path of this.#garbage()) {
        const old = path.replace(/\.bundle$/, '.old')
        if (old !== path) renameSync(path, old)
        rm(old, { force: true }).catch(ignore)
      }
    } catch {
      return
    }
  }

  /** Returns the path at which the file of a bundle is, or would be. */
  bundlePath(digest: string): string {
    assert(/^[0-9a-f]{64}$/.test(digest), 'the name of a stored bundle is its SHA-256')
    return join(this.#directory, 'bundles', `${digest}.bundle`)
  }

  #path(name: string): string {
    return join(this.#directory, name)
  }

  #readJson(name: string): unknown {
    try {
      return JSON.parse(readFileSync(this.#path(name), 'utf8'))
    } catch (error) {
      return (error as NodeJS.ErrnoException).code === 'ENOENT' ? undefined : null
    }
  }
}

const ignore = (): void => undefined

/** Reads a file into shared memory without a second copy. */
function readShared(path: string): Result<Uint8Array, string> {
  const fd = openSync(path, 'r')
  try {
    const { size } = fstatSync(fd)
    if (size > bundleLimits.bytesMax)
      return err(`${path} has ${size} octets, too many for a bundle`)
    const bytes = new Uint8Array(new SharedArrayBuffer(size))
    let at = 0
    while (at < size) {
      const read = readSync(fd, bytes, at, size - at, at)
      if (read === 0) return err(`${path} became shorter while it was read`)
      at += read
    }
    return ok(bytes)
  } finally {
    closeSync(fd)
  }
}
