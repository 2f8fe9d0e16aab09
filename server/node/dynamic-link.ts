// Connects TXT records written at run time and generations: the second bundle that goes with the
// main one, encoded anew when either changes.
import type { Bundle } from '#bundle/format/bundle.ts'
import type { Log } from '#lib/log.ts'
import type { HandedBundle } from '#answer/serving-view.ts'
import type { DynamicDns } from '#zones/dynamic/dynamic-dns.ts'
import { WrittenEncoder } from '#zones/dynamic/written-encoder.ts'
import type { EncodedTexts } from '#zones/dynamic/written-encoder.ts'
import { DoubleBuffer } from './generation-memory.ts'

export type DynamicFeed = Pick<DynamicDns, 'texts' | 'onChange'>

interface DynamicLinkParts {
  /** null: no TXT records are written at run time. */
  readonly dynamic?: DynamicFeed | null
  readonly log: Log
}

/** Far above what the limits of TXT records come to: 200 MB of data with their names. */
const bytesMax = 500_000_000

export class DynamicLink {
  readonly #memory = new DoubleBuffer(bytesMax)
  readonly #log: Log
  readonly #feed: DynamicFeed | null
  readonly #encoder: WrittenEncoder | undefined
  #encoded: EncodedTexts | undefined
  #served: HandedBundle | null = null
  #servedRevision = 0
  #servedSince = 0
  #left = ''
  #isStopped = false

  /** @param onChange called at each change; a write waits for it */
  constructor({ dynamic, log }: DynamicLinkParts, onChange: () => Promise<void>) {
    const feed = dynamic ?? null
    this.#log = log
    this.#feed = feed
    this.#encoder = feed === null ? undefined : new WrittenEncoder(feed.texts)
    feed?.onChange(async ({ names }) => {
      this.#encoder?.changed(names)
      await onChange()
    })
  }

  /** Revision of the bundle that `bundleFor` returns. Each change raises it, on all nodes. */
  get revision(): number {
    return this.#encoded?.revision ?? 0
  }

  /** Revision of the records that all threads answer with. */
  get servedRevision(): number {
    return this.#servedRevision
  }

  /**
   * Notes that all threads answer from this revision.
   *
   * @returns false when a later generation is known to be in force already
   */
  serves(revision: number, generation: number): boolean {
    if (generation < this.#servedSince) return false
    this.#servedRevision = revision
    this.#servedSince = generation
    return true
  }

  /** Whether what was encoded last goes with this main bundle. */
  isFor(main: Bundle): boolean {
    return this.#encoder === undefined || this.#encoded?.mainDigest === main.digest
  }

  /**
   * Encodes the current records for a main bundle that serves or will serve. The memory of that
   * bundle must not change until then.
   *
   * @returns undefined when the encoding is done
   */
  encodeFor(main: Bundle): Promise<void> | undefined {
    const encoder = this.#encoder
    if (encoder === undefined) return undefined
    try {
      const encoded = encoder.encode(main)
      if (!(encoded instanceof Promise)) return this.#take(encoded)
      return encoded.then(
        (found) => this.#take(found),
        (error: unknown) => this.#fail(error, main),
      )
    } catch (error) {
      return this.#fail(error, main)
    }
  }

  /**
   * Copies the bundle encoded last to the memory that it will serve from; it must be published at
   * once.
   *
   * @param isFree whether no thread reads the generation before the one that serves
   */
  bundleFor(isFree: boolean): HandedBundle | null {
    const handed = this.#encoded?.handed ?? null
    if (handed === null) return (this.#served = null)
    if (handed.digest === this.#served?.digest) return this.#served
    const { length } = handed.bytes
    const bytes = new Uint8Array(this.#memory.next(length, isFree), 0, length)
    bytes.set(handed.bytes)
    this.#memory.publish(bytes.buffer)
    return (this.#served = { bytes, digest: handed.digest })
  }

  async stop(): Promise<void> {
    this.#isStopped = true
    await this.#encoder?.stop()
  }

  #take(encoded: EncodedTexts): undefined {
    this.#encoded = encoded
    this.#logLeftOut(encoded)
  }

  /**
   * A mistake of our own about one record must not keep the node from answering everything else.
   */
  #fail(error: unknown, main: Bundle): undefined {
    if (!this.#isStopped)
      this.#log.error({ err: error }, 'records written at run time are not served')
    const revision = this.#feed?.texts.revision ?? 0
    const nothing = { handed: null, outside: 0, leftOut: 0, hidden: 0 }
    this.#encoded = { ...nothing, revision, mainDigest: main.digest }
  }

  /** Logs each count once: records stay for hours, and bundles come every minute. */
  #logLeftOut({ revision, outside, leftOut, hidden }: EncodedTexts): void {
    const left = `${outside} ${leftOut} ${hidden}`
    if (outside + leftOut + hidden > 0 && left !== this.#left) {
      this.#log.warn(
        { revision, outside, leftOut, hidden },
        'records written at run time are not served: their names are in no zone of ours, the ' +
          'configuration declares or hides what is there, or too much is there',
      )
    }
    this.#left = left
  }
}
