// Connects TXT records written at run time and generations: the second bundle that goes with the
// main one, encoded anew when either changes.
import type { Bundle } from '#bundle/format/bundle.ts'
import type { Log } from '#lib/log.ts'
import type { HandedBundle } from '#runtime/answer/serving-view.ts'
import type { DynamicDns } from '#runtime/dynamic/dynamic-dns.ts'
import { encodeTxtBundle } from '#runtime/dynamic/txt-bundle.ts'
import type { TxtBundle } from '#runtime/dynamic/txt-bundle.ts'
import type { TxtSnapshot } from '#runtime/dynamic/txt-snapshot.ts'
import { DoubleBuffer } from './generation-memory.ts'

export type DynamicFeed = Pick<DynamicDns, 'snapshot' | 'onChange'>

/** Far above what the limits of TXT records come to: 200 MB of data with their names. */
const bytesMax = 500_000_000

interface LeftCounts extends Pick<TxtBundle, 'outside' | 'leftOut' | 'hidden'> {
  readonly revision: number
}

export class DynamicLink {
  readonly #memory = new DoubleBuffer(bytesMax)
  readonly #log: Log
  #snapshot: TxtSnapshot
  #encoded: TxtBundle | undefined
  #served: HandedBundle | null = null
  #left = ''

  /** @param onChange is told of each new snapshot; a write waits for it */
  constructor(feed: DynamicFeed | null, log: Log, onChange: () => Promise<void>) {
    this.#log = log
    this.#snapshot = feed?.snapshot() ?? { revision: 0, records: [] }
    feed?.onChange(async (snapshot) => {
      this.#snapshot = snapshot
      await onChange()
    })
  }

  /** Rises with each change, on all nodes. */
  get revision(): number {
    return this.#snapshot.revision
  }

  /**
   * What goes with `main`, in the memory that it will serve from: to be published at once.
   *
   * @param isFree no thread reads the one before the one that serves
   */
  bundleFor(main: Bundle, isFree: boolean): HandedBundle | null {
    const { records, revision } = this.#snapshot
    if (records.length === 0) {
      this.#encoded = undefined
      return (this.#served = null)
    }
    this.#encoded = this.#encode(records, main)
    if (this.#encoded === undefined) return (this.#served = null)
    const { handed, outside, leftOut, hidden } = this.#encoded
    this.#sayWhatIsLeft({ revision, outside, leftOut, hidden })
    if (handed === null) return (this.#served = null)
    if (handed.digest === this.#served?.digest) return this.#served
    const { length } = handed.bytes
    const bytes = new Uint8Array(this.#memory.next(length, isFree), 0, length)
    bytes.set(handed.bytes)
    this.#memory.publish(bytes.buffer)
    return (this.#served = { bytes, digest: handed.digest })
  }

  /** A mistake of ours about one record must not keep the node from answering everything else. */
  #encode(records: TxtSnapshot['records'], main: Bundle): TxtBundle | undefined {
    try {
      return encodeTxtBundle(records, main, this.#encoded)
    } catch (error) {
      this.#log.error({ err: error }, 'TXT records written at run time are not served')
      return undefined
    }
  }

  /** Once for each count: records stay for hours, and bundles come every minute. */
  #sayWhatIsLeft({ revision, ...counts }: LeftCounts): void {
    const { outside, leftOut, hidden } = counts
    const left = `${outside} ${leftOut} ${hidden}`
    if (outside + leftOut + hidden > 0 && left !== this.#left) {
      this.#log.warn(
        { revision, ...counts },
        'TXT records are not served: their names are in no zone of ours, hidden by an alias or a ' +
          'delegation, or too much is there',
      )
    }
    this.#left = left
  }
}
