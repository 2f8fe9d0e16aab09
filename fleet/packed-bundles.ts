// Compresses each bundle once, into a file beside it, for all requests.
import { createReadStream, createWriteStream, existsSync, mkdirSync, readdirSync } from 'node:fs'
import { rename, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { pipeline } from 'node:stream/promises'
import { createZstdCompress } from 'node:zlib'
import { assert } from '#lib/assert.ts'

export class PackedBundles {
  readonly #directory: string
  readonly #pathOf: (digest: string) => string
  readonly #running = new Map<string, Promise<string | undefined>>()

  constructor(directory: string, pathOf: (digest: string) => string) {
    this.#directory = directory
    this.#pathOf = pathOf
  }

  /** Path of the file. undefined: it cannot be made, as on a full disk. */
  async path(digest: string): Promise<string | undefined> {
    const path = join(this.#directory, `${digest}.zst`)
    if (existsSync(path)) return path
    let running = this.#running.get(digest)
    if (running === undefined) {
      running = this.#pack(digest, path).finally(() => this.#running.delete(digest))
      this.#running.set(digest, running)
    }
    return running
  }

  async #pack(digest: string, path: string): Promise<string | undefined> {
    assert(!this.#running.has(digest), 'a bundle is packed once at a time')
    const part = `${path}.part`
    try {
      mkdirSync(this.#directory, { recursive: true })
      await pipeline(
        createReadStream(this.#pathOf(digest)),
        createZstdCompress(),
        createWriteStream(part),
      )
      await rename(part, path)
      await this.#forgetOthers()
      return path
    } catch {
      await rm(part, { force: true }).catch(() => undefined)
      return undefined
    }
  }

  /** Removes files whose bundles are gone. A reader that has one open can finish. */
  async #forgetOthers(): Promise<void> {
    for (const file of readdirSync(this.#directory)) {
      const digest = /^([0-9a-f]{64})\.zst$/.exec(file)?.[1]
      if (digest === undefined || existsSync(this.#pathOf(digest))) continue
      await rm(join(this.#directory, file), { force: true })
    }
  }
}
