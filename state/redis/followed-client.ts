// A connection to the Redis that takes writes: it is located again whenever the connection breaks
// or refuses writes.
import { setTimeout as delay } from 'node:timers/promises'
import { libraryClient, reconnectPauseMs } from './client.ts'
import type { LibraryClient } from './client.ts'
import { findMaster } from './find-master.ts'
import type { RedisPlace, RedisTarget } from './target.ts'
import { isElsewhere, wordOf } from './fault-codes.ts'

interface ConnectionHandlers {
  readonly onReady: () => void
  readonly onFault: (word: string, at: RedisPlace) => void
}

export class FollowedConnection {
  readonly #target: RedisTarget
  readonly #key: string
  #client: LibraryClient | undefined
  /** Ends the use of the current connection. */
  #isOver = (): void => undefined
  #isClosed = false
  /** The place that it is or was last connected to. */
  place: RedisPlace

  /** @param key any key of ours */
  constructor(target: RedisTarget, key: string) {
    this.#target = target
    this.#key = key
    this.place = target.hosts[0]!
  }

  get isReady(): boolean {
    return this.#client?.isReady ?? false
  }

  open(handlers: ConnectionHandlers): void {
    void this.#follow(handlers)
  }

  async send<T>(words: readonly string[]): Promise<T> {
    const client = this.#client
    if (client === undefined) throw new Error('CONNECTING')
    try {
      return await client.sendCommand<T>([...words])
    } catch (error) {
      if (isElsewhere(wordOf(error))) this.leave()
      throw error
    }
  }

  async subscribe(channel: string, hear: (message: string) => void): Promise<void> {
    await this.#client?.subscribe(channel, hear)
  }

  /** Makes it locate the Redis again: also the only one, whose address may lead elsewhere now. */
  leave(): void {
    this.#isOver()
  }

  destroy(): void {
    this.#isClosed = true
    this.leave()
  }

  async #follow(handlers: ConnectionHandlers): Promise<void> {
    for (let tried = 0; !this.#isClosed; tried++) {
      if (tried > 0) await delay(reconnectPauseMs(tried - 1), undefined, { ref: false })
      if (this.#isClosed) return
      const found = await findMaster(this.#target, this.#key)
      if (this.#isClosed) return
      if (!found.ok) {
        handlers.onFault(found.error.word, found.error.at)
        continue
      }
      this.place = found.value
      if (await this.#use(handlers)) tried = 0
    }
  }

  /**
   * @returns at the end of the connection: whether the next one may follow at once. One that was
   * left may be found again.
   */
  async #use({ onReady, onFault }: ConnectionHandlers): Promise<boolean> {
    const { place } = this
    const client = await libraryClient({ target: this.#target, place })
    if (this.#isClosed) return false
    const over = Promise.withResolvers<undefined>()
    let wasGood = false
    // It does not reconnect, so an error is final.
    const fail = (error: unknown): void => {
      if (this.#client === client) onFault(wordOf(error), place)
      over.resolve(undefined)
    }
    client
      .on('ready', () => {
        wasGood = true
        onReady()
      })
      .on('error', fail)
      .on('end', () => over.resolve(undefined))
    this.#client = client
    this.#isOver = () => {
      wasGood = false
      over.resolve(undefined)
    }
    client.connect().catch(fail)
    await over.promise
    this.#client = undefined
    destroyQuietly(client)
    return wasGood
  }
}

function destroyQuietly(client: LibraryClient): void {
  try {
    client.destroy()
  } catch {
    // It was not open.
  }
}
