// A connection to the Redis that takes writes: it is located again whenever the connection breaks
// or refuses writes.
import { setTimeout as delay } from 'node:timers/promises'
import { libraryClient, reconnectPauseMs } from './client.ts'
import type { LibraryClient } from './client.ts'
import { findMaster } from './find-master.ts'
import type { RedisPlace, RedisTarget } from './target.ts'
import { isElsewhere, wordOf } from './fault-codes.ts'

/** The interface of both kinds of connection. */
export interface RedisConnection {
  readonly isReady: boolean
  /** The place that it is or was last connected to. */
  readonly place: RedisPlace
  readonly open: (handlers: ConnectionHandlers) => void
  readonly send: <T>(words: readonly string[]) => Promise<T>
  readonly subscribe: (channel: string, hear: (message: string) => void) => Promise<void>
  /** Makes it locate the Redis again. */
  readonly leave: () => void
  readonly destroy: () => void
}

interface ConnectionHandlers {
  readonly onReady: () => void
  readonly onFault: (word: string, at: RedisPlace) => void
}

/** A connection to the only Redis: the library reconnects. */
export function plainConnection(target: RedisTarget): RedisConnection {
  const [place] = target.hosts
  const making = libraryClient({ target, place: place!, reconnects: true })
  let client: LibraryClient | undefined
  let isClosed = false
  const open = async ({ onReady, onFault }: ConnectionHandlers): Promise<void> => {
    client = await making
    if (isClosed) return
    client.on('ready', onReady).on('error', (error: unknown) => onFault(wordOf(error), place!))
    // Rejects only when the client is closed before its first connection.
    await client.connect().catch(() => undefined)
  }
  return {
    get isReady() {
      return client?.isReady ?? false
    },
    place: place!,
    open: (handlers) => void open(handlers),
    send: async (words) => (await making).sendCommand([...words]),
    subscribe: async (channel, hear) => (await making).subscribe(channel, hear),
    leave: () => undefined,
    destroy: () => {
      isClosed = true
      if (client !== undefined) destroyQuietly(client)
    },
  }
}

export class FollowedConnection implements RedisConnection {
  readonly #target: RedisTarget
  readonly #key: string
  #client: LibraryClient | undefined
  /** Ends the use of the current connection. */
  #isOver = (): void => undefined
  #isClosed = false
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

  /** @returns at the end of the connection: whether it was ever ready */
  async #use({ onReady, onFault }: ConnectionHandlers): Promise<boolean> {
    const { place } = this
    const client = await libraryClient({ target: this.#target, place, reconnects: false })
    if (this.#isClosed) return false
    const over = Promise.withResolvers<undefined>()
    let wasReady = false
    // It does not reconnect, so an error is final.
    const fail = (error: unknown): void => {
      if (this.#client === client) onFault(wordOf(error), place)
      over.resolve(undefined)
    }
    client
      .on('ready', () => {
        wasReady = true
        onReady()
      })
      .on('error', fail)
      .on('end', () => over.resolve(undefined))
    this.#client = client
    this.#isOver = () => over.resolve(undefined)
    client.connect().catch(fail)
    await over.promise
    this.#client = undefined
    destroyQuietly(client)
    return wasReady
  }
}

function destroyQuietly(client: LibraryClient): void {
  try {
    client.destroy()
  } catch {
    // It was not open.
  }
}
