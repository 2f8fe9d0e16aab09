// The Redis connections, one for commands and one for messages; both reconnect by themselves.
import { createHash } from 'node:crypto'
import { createRequire } from 'node:module'
import { setTimeout as delay } from 'node:timers/promises'
import type * as RedisClient from '@redis/client'
import type { Clock } from '#lib/clock.ts'
import type { Log } from '#lib/log.ts'
import { err, ok } from '#lib/result.ts'
import type { Result } from '#lib/result.ts'
import type { StoreCall, StoreFailure } from '../ports/store-result.ts'
import { redisLimits } from './limits.ts'

export interface RedisOptions {
  /** `redis://user:password@host:port/0`, or `rediss://` with TLS. A secret. */
  readonly url: string
  /** In front of each key and channel. */
  readonly prefix: string
  readonly clock: Clock
  readonly log: Log
  /** Tests on a busy machine give more. */
  readonly commandTimeoutMs?: number
}

export interface RedisStatus {
  readonly state: 'up' | 'away'
  /** Unix epoch. */
  readonly sinceMs: number
  /** A sentence without values, keys or the URL; null while it is up. */
  readonly fault: string | null
}

export interface RedisScript {
  readonly text: string
  readonly sha1: string
}

export type RedisReply = string | number | null | readonly RedisReply[]

/** Runs whole, with nothing of others in between. */
export function redisScript(text: string): RedisScript {
  return { text, sha1: createHash('sha1').update(text).digest('hex') }
}

type Client = ReturnType<typeof clientOf>

export class Redis {
  readonly #prefix: string
  readonly #clock: Clock
  readonly #log: Log
  readonly #client: Client
  readonly #listener: Client
  readonly #upHandlers = new Set<() => void>()
  /** By channel; Redis knows one of ours for each. */
  readonly #channels = new Map<string, Channel>()
  readonly #commandTimeoutMs: number
  readonly #look: NodeJS.Timeout
  #listening: Promise<unknown> = Promise.resolve()
  #isAsking = false
  #status: RedisStatus

  constructor({ url, prefix, clock, log, commandTimeoutMs }: RedisOptions) {
    this.#prefix = prefix
    this.#commandTimeoutMs = commandTimeoutMs ?? redisLimits.commandTimeoutMs
    this.#clock = clock
    this.#log = log
    this.#status = { state: 'away', sinceMs: clock.nowMs(), fault: 'Redis was not reached yet.' }
    this.#client = clientOf(url)
    this.#listener = clientOf(url)
    this.#client.on('ready', () => void this.#tellUp())
    this.#client.on('error', (error: unknown) => this.#isAway(wordOf(error)))
    this.#listener.on('ready', () => void this.#hearAll())
    this.#listener.on('error', () => undefined)
    for (const client of [this.#client, this.#listener]) {
      // It rejects only when it is closed before it ever was connected.
      client.connect().catch(() => undefined)
    }
    const look = (): void => void (this.#status.state === 'up' && this.#send(['PING']))
    this.#look = setInterval(look, redisLimits.lookMs).unref()
  }

  readonly status = (): RedisStatus => this.#status

  key(...parts: readonly string[]): string {
    return this.#prefix + parts.join(':')
  }

  async command(...words: readonly string[]): StoreCall<RedisReply> {
    return await this.#send(words)
  }

  async run(
    script: RedisScript,
    keys: readonly string[],
    words: readonly string[],
  ): StoreCall<RedisReply> {
    const rest = [`${keys.length}`, ...keys, ...words]
    const known = await this.#send(['EVALSHA', script.sha1, ...rest])
    if (known.ok || known.error.message !== messageOf('NOSCRIPT')) return known
    return await this.#send(['EVAL', script.text, ...rest])
  }

  /** `handler` hears every message from now on, but not those sent while Redis was away. */
  subscribe(channel: string, handler: (message: string) => void): () => void {
    const name = this.key(channel)
    const known = this.#channels.get(name)
    const entry = known ?? channelOf()
    entry.handlers.add(handler)
    this.#channels.set(name, entry)
    if (known === undefined && this.#listener.isReady) {
      const subscribed = this.#listener.subscribe(name, entry.tell).catch(() => undefined)
      this.#listening = Promise.all([this.#listening, subscribed])
    }
    return () => entry.handlers.delete(handler)
  }

  /** Settles when what this node publishes next will be heard by its own subscribers. */
  async listening(): Promise<void> {
    await this.#listening
  }

  /** `handler` is called whenever commands and messages go through again. */
  onUp(handler: () => void): () => void {
    this.#upHandlers.add(handler)
    return () => this.#upHandlers.delete(handler)
  }

  close(): void {
    clearInterval(this.#look)
    this.#upHandlers.clear()
    for (const client of [this.#client, this.#listener]) {
      try {
        client.destroy()
      } catch {
        // It was not open.
      }
    }
  }

  async #send(words: readonly string[]): Promise<Result<RedisReply, StoreFailure>> {
    const { state, fault } = this.#status
    // While Redis is away, calls fail at once instead of waiting for a timeout each.
    if (state === 'away') return away(fault ?? messageOf('CONNECTING'))
    return await this.#ask(words)
  }

  async #ask(words: readonly string[]): Promise<Result<RedisReply, StoreFailure>> {
    if (!this.#client.isReady) return away(this.#status.fault ?? messageOf('CONNECTING'))
    const { promise, resolve } = Promise.withResolvers<'late'>()
    // After a pause of this process its own sockets are read before Redis is called late.
    const onTime = (): void => void setImmediate(() => resolve('late'))
    const timer = setTimeout(onTime, this.#commandTimeoutMs)
    try {
      const reply = this.#client.sendCommand<RedisReply>([...words])
      const first = await Promise.race([reply.then((value) => ({ value })), promise])
      if (first !== 'late') return ok(first.value)
      reply.catch(() => undefined)
      this.#isLate()
      return away(messageOf('TIMEOUT'))
    } catch (error) {
      return away(messageOf(wordOf(error)))
    } finally {
      clearTimeout(timer)
    }
  }

  /** The connection stays: on it, what was sent is done before whatever follows. */
  #isLate(): void {
    if (this.#status.state !== 'up') return
    this.#isAway('TIMEOUT')
    setTimeout(() => void this.#tellUp(), redisLimits.awayPauseMs).unref()
  }

  async #hearAll(): Promise<void> {
    try {
      for (const [name, { tell }] of this.#channels) await this.#listener.subscribe(name, tell)
      await this.#tellUp()
    } catch {
      // It broke again, and will be ready again.
    }
  }

  /** A Redis that still reads its files takes connections, and refuses every command. */
  async #tellUp(): Promise<void> {
    if (this.#isAsking) return
    this.#isAsking = true
    try {
      while (this.#client.isReady && this.#listener.isReady) {
        if ((await this.#ask(['PING'])).ok) return this.#isUp()
        await delay(redisLimits.loadingPauseMs)
      }
    } finally {
      this.#isAsking = false
    }
  }

  #isUp(): void {
    if (this.#status.state !== 'up') {
      this.#status = { state: 'up', sinceMs: this.#clock.nowMs(), fault: null }
      this.#log.info({}, 'Redis is reached.')
    }
    for (const handler of this.#upHandlers) handler()
  }

  #isAway(word: string): void {
    const fault = `Redis is not reached (${word}).`
    const wasUp = this.#status.state === 'up'
    if (wasUp || this.#status.fault !== fault) {
      this.#log.warn({ code: word }, 'Redis is not reached. This node goes on with its memory.')
    }
    const sinceMs = wasUp ? this.#clock.nowMs() : this.#status.sinceMs
    this.#status = { state: 'away', sinceMs, fault }
  }
}

interface Channel {
  readonly handlers: Set<(message: string) => void>
  readonly tell: (message: string) => void
}

function channelOf(): Channel {
  const handlers = new Set<(message: string) => void>()
  const tell = (message: string): void => {
    for (const handler of handlers) handler(message)
  }
  return { handlers, tell }
}

function clientOf(url: string) {
  // Here and not above: a node without Redis does not load its 478 files.
  const { createClient } = createRequire(import.meta.url)('@redis/client') as typeof RedisClient
  return createClient({
    url,
    RESP: 2,
    disableOfflineQueue: true,
    commandsQueueMaxLength: redisLimits.commandsMax,
    pingInterval: redisLimits.pingMs,
    socket: {
      connectTimeout: redisLimits.connectTimeoutMs,
      socketTimeout: redisLimits.silenceMs,
      reconnectStrategy: (tried) =>
        Math.min(
          redisLimits.reconnectFirstMs * 2 ** Math.min(tried, 16),
          redisLimits.reconnectMaxMs,
        ),
    },
  })
}

const away = (message: string) => err({ code: 'store-away', message } as const)

const messageOf = (word: string): string => `Redis did not do it (${word}).`

/** The first word of what Redis says, or the system's code; never a value. */
function wordOf(error: unknown): string {
  if (!(error instanceof Error)) return 'UNKNOWN'
  if (error instanceof AggregateError && error.errors.length > 0) return wordOf(error.errors[0])
  if ('code' in error && typeof error.code === 'string') return error.code
  return /^[A-Z]{3,20}\b/.exec(error.message)?.[0] ?? error.constructor.name
}
