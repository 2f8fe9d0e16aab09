// Stores a delivery in the data directory of a control node: its state, the bundles that nodes are
// given, and the record of the one that passed all waves.
import { fileText } from '#lib/text/file-text.ts'
import { copyFileSync, existsSync, linkSync, mkdirSync, readdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { assert } from '#lib/assert.ts'
import type { SignedChannelRecord } from '#bundle/signature/channel.ts'
import type { DeliveryKeeper } from '#fleet/delivery/keeper.ts'
import type { DeliveryState } from '#fleet/delivery/state.ts'
import { writeDurably } from '#lib/durable-file.ts'
import type { BundleStore } from '#server/node/bundle-store.ts'
import { parseJson } from '#lib/text/json.ts'

/** The part that other parts use. */
export interface NodeDelivery {
  readonly keeper: DeliveryKeeper
  readonly files: DeliveryFiles
  readonly tick: () => Promise<void>
  /** The plan of the change under delivery; '': it is not known. */
  readonly promised: () => string
}

export class DeliveryFiles {
  readonly #directory: string
  readonly #store: Pick<BundleStore, 'bundlePath'>
  #passed: SignedChannelRecord | undefined

  constructor(dataDir: string, store: Pick<BundleStore, 'bundlePath'>) {
    this.#directory = join(dataDir, 'delivery')
    this.#store = store
  }

  /** @returns undefined: nothing was delivered in waves, or the state cannot be read */
  state(): string | undefined {
    return fileText(join(this.#directory, 'state.json'))
  }

  /**
   * Stores the bundles before the state, so that a state never names a missing one.
   *
   * @throws the file system's error
   */
  keep(text: string, { good, target }: DeliveryState): void {
    const digests = new Set([good.digest, ...(target === null ? [] : [target.digest])])
    mkdirSync(join(this.#directory, 'bundles'), { recursive: true })
    for (const digest of digests) this.#take(digest)
    writeDurably(join(this.#directory, 'state.json'), text)
    const names = new Set([...digests].map((digest) => `${digest}.bundle`))
    assert(names.has(`${good.digest}.bundle`), 'the last good bundle is kept')
    for (const name of readdirSync(join(this.#directory, 'bundles'))) {
      if (!names.has(name)) rmSync(join(this.#directory, 'bundles', name), { force: true })
    }
  }

  /**
   * Stores the record for `gslbd publish`: web servers get what has passed all waves.
   *
   * @throws as above
   */
  keepPassed(signed: SignedChannelRecord): void {
    if (signed === this.#passed) return
    writeDurably(join(this.#directory, 'passed.json'), JSON.stringify(signed))
    this.#passed = signed
  }

  /** The stored record, not verified; undefined: nothing was delivered in waves. */
  passed(): unknown {
    const text = fileText(join(this.#directory, 'passed.json'))
    return text === undefined ? undefined : (parseJson(text) ?? null)
  }

  /** Path of a bundle that this node serves or gives to others. */
  bundlePath(digest: string): string {
    const path = this.#store.bundlePath(digest)
    const own = join(this.#directory, 'bundles', `${digest}.bundle`)
    return !existsSync(path) && existsSync(own) ? own : path
  }

  /** Keeps a second name of the bundle. One made by another control node is absent here. */
  #take(digest: string): void {
    const from = this.#store.bundlePath(digest)
    const path = join(this.#directory, 'bundles', `${digest}.bundle`)
    if (existsSync(path) || !existsSync(from)) return
    try {
      linkSync(from, path)
    } catch {
      // Some file systems have no hard links.
      copyFileSync(from, path)
    }
  }
}
