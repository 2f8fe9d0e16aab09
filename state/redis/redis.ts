// The Redis connections, one for commands and one for messages; both reconnect by themselves.
import { createHash } from 'node:crypto'
import { setTimeout as delay } from 'node:timers/promises'
import type { Clock } from '#lib/clock.ts'
import type { Log } from '#lib/log.ts'
import { err, ok } from '#lib/result.ts'
import type { Result } from '#lib/result.ts'
import type { StoreCall, StoreFailure } from '../ports/store-result.ts'
import { FollowedConnection } from './followed-client.ts'
import { redisLimits } from './limits.ts'
import type { RedisPlace, RedisTarget } from './target.ts'
import { isElsewhere, isRefusal, wordOf } from './fault-codes.ts'

interface RedisOptions {
  readonly target: RedisTarget
  /** Prefix of each key and channel; see `prefixFor`. */
  readonly prefix: string
  readonly clock: Clock
  readonly log: Log
  /** Tests on a busy machine allow more. */
  readonly commandTimeoutMs?: number
}

interface RedisStatus {
  readonly state: 'up' | 'away'
  /** Unix epoch. */
  readonly sinceMs: number
  /** A sentence without values, keys or the URL; null while it is up. */
  readonly fault: string | null
}

interface RedisScript {
  readonly text: string
  readonly sha1: string
}

export type RedisReply = string | number | null | readonly RedisReply[]

/** Runs atomically. */
export function redisScript(text: string): RedisScript {
  return { text, sha1: createHash('sha1').update(text).digest('hex') }
}

/**
 * A Cluster runs no script whose keys are on two nodes. The part in braces decides the node of a
 * key, so all of ours are together (docs/adr/0012).
 */
export function prefixFor({ kind }: RedisTarget, prefix: string): string {
  return kind === 'cluster' ? `{${prefix.replace(/:$/, '')}}:` : prefix
}

export class Redis {
  readonly #prefix: string
  readonly #clock: Clock
  readonly #log: Log
  readonly #client: FollowedConnection
  readonly #listener: FollowedConnection
  readonly #upHandlers = new Set<() => void>()
  /** By channel; Redis knows one subscription of ours for each. */
  readonly #channels = new Map<string, Channel>()
  readonly #commandTimeoutMs: number
  readonly #look: NodeJS.Timeout
  #listening: Promise<unknown> = Promise.resolve()
  #isAsking = false
  #isLooking = false
  #isOver = false
  #address = ''
  #status: RedisStatus

  constructor({ target, prefix, clock, log, commandTimeoutMs }: RedisOptions) {
    this.#prefix = prefix
    this.#commandTimeoutMs = commandTimeoutMs ?? redisLimits.commandTimeoutMs
    this.#clock = clock
    this.#log = log
    this.#status = { state: 'away', sinceMs: clock.nowMs(), fault: 'Redis was not reached yet.' }
    this.#client = new FollowedConnection(target, prefix)
    this.#listener = new FollowedConnection(target, prefix)
    this.#client.open({
      onReady: () => void this.#tellUp(),
      onFault: (word, at) => {
        this.#isAway(word, at)
        // A connection that got a refusal is still open, and nothing else would check again.
        void this.#tellUp()
      },
    })
    this.#listener.open({ onReady: () => void this.#hearAll(), onFault: () => undefined })
    this.#look = setInterval(() => void this.#lookNow(), redisLimits.lookMs).unref()
  }

  readonly status = (): RedisStatus => this.#status

  key(...parts: readonly string[]): string {
    return this.#prefix + parts.join(':')
  }

  async command(...words: readonly string[]): StoreCall<RedisReply> {
    return await this.#send(words)
  }

  /** For a command whose reply says nothing. */
  async tell(...words: readonly string[]): StoreCall<undefined> {
    const done = await this.#send(words)
    return done.ok ? ok(undefined) : done
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

  /** `handler` receives every message from now on, but none sent while Redis was away. */
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

  /** Resolves when this node's subscribers will receive what it publishes next. */
  async listening(): Promise<void> {
    await this.#listening
  }

  /** `handler` is called whenever commands and messages work again. */
  onUp(handler: () => void): () => void {
    this.#upHandlers.add(handler)
    return () => this.#upHandlers.delete(handler)
  }

  close(): void {
    this.#isOver = true
    clearInterval(this.#look)
    this.#upHandlers.clear()
    this.#client.destroy()
    this.#listener.destroy()
  }

  async #send(words: readonly string[]): Promise<Result<RedisReply, StoreFailure>> {
    const { state, fault } = this.#status
    // While Redis is away, calls fail at once instead of each waiting for a timeout.
    if (state === 'away') return away(fault ?? messageOf('CONNECTING'))
    const asked = await this.#ask(words)
    if (asked.ok) return asked
    // A write of our own tells whether Redis refuses only this command.
    if (asked.error !== 'NOSCRIPT' && asked.error !== 'TIMEOUT') void this.#lookNow()
    return away(messageOf(asked.error))
  }

  /** Errors: the code of the fault. */
  async #ask(words: readonly string[]): Promise<Result<RedisReply, string>> {
    if (!this.#client.isReady) return err('CONNECTING')
    const { promise, resolve } = Promise.withResolvers<'late'>()
    // After a pause of this process, its sockets are read before Redis is called late.
    const onTime = (): void => void setImmediate(() => resolve('late'))
    const timer = setTimeout(onTime, this.#commandTimeoutMs)
    try {
      const reply = this.#client.send<RedisReply>(words)
      const first = await Promise.race([reply.then((value) => ({ value })), promise])
      if (first !== 'late') return ok(first.value)
      reply.catch(() => undefined)
      this.#isLate()
      return err('TIMEOUT')
    } catch (error) {
      const word = wordOf(error)
      // The client has left by itself; an address may lead to another Redis than before.
      if (isElsewhere(word)) this.#listener.leave()
      return err(word)
    } finally {
      clearTimeout(timer)
    }
  }

  /** The connection stays: on it, sent commands are carried out before later ones. */
  #isLate(): void {
    if (this.#status.state !== 'up') return
    this.#isAway('TIMEOUT', this.#client.place)
    setTimeout(() => void this.#tellUp(), redisLimits.awayPauseMs).unref()
  }

  async #hearAll(): Promise<void> {
    try {
      for (const [name, { tell }] of this.#channels) await this.#listener.subscribe(name, tell)
      await this.#tellUp()
    } catch {
      // It broke again and will be ready again.
    }
  }

  /**
   * A write, since a Redis that is loading refuses every command, while one that lacks replicas,
   * memory, disk or our write permission still answers PING.
   */
  async #askToWrite(): Promise<Result<RedisReply, string>> {
    return await this.#ask(['SET', this.key('write-check'), '1', 'PX', `${redisLimits.silenceMs}`])
  }

  #isRefused(word: string): boolean {
    if (['TIMEOUT', 'CONNECTING'].includes(word)) return false
    this.#isAway(word, this.#client.place)
    return true
  }

  async #lookNow(): Promise<void> {
    if (this.#status.state !== 'up' || this.#isLooking) return
    this.#isLooking = true
    try {
      const asked = await this.#askToWrite()
      // A late command, or one without a connection, has reported that itself.
      if (asked.ok || !this.#isRefused(asked.error)) return
      void this.#tellUp()
    } finally {
      this.#isLooking = false
    }
  }

  async #tellUp(): Promise<void> {
    if (this.#isAsking) return
    this.#isAsking = true
    try {
      this.#follow()
      let pauseMs: number = redisLimits.loadingPauseMs
      while (!this.#isOver && this.#client.isReady && this.#listener.isReady) {
        const asked = await this.#askToWrite()
        if (asked.ok) return this.#isUp()
        this.#isRefused(asked.error)
        await delay(pauseMs, undefined, { ref: false })
        pauseMs = Math.min(2 * pauseMs, redisLimits.lookMs)
      }
    } finally {
      this.#isAsking = false
    }
  }

  /** Moves the listener to the Redis that takes writes now. */
  #follow(): void {
    const [{ place: one }, { place: other }] = [this.#client, this.#listener]
    const isSame = one.host === other.host && one.port === other.port
    if (!isSame && this.#client.isReady && this.#listener.isReady) this.#listener.leave()
  }

  #isUp(): void {
    const address = addressOf(this.#client.place)
    const wasAway = this.#status.state !== 'up'
    if (wasAway) this.#status = { state: 'up', sinceMs: this.#clock.nowMs(), fault: null }
    // Another Redis may have taken over without a gap.
    if (wasAway || address !== this.#address) this.#log.info({ address }, 'Redis is reached.')
    this.#address = address
    for (const handler of this.#upHandlers) handler()
  }

  #isAway(word: string, at: RedisPlace): void {
    if (this.#isOver) return
    const what = isRefusal(word) ? 'Redis takes no writes' : 'Redis is not reached'
    const fault = `${what} (${word}).`
    const wasUp = this.#status.state === 'up'
    if (wasUp || this.#status.fault !== fault) {
      const fields = { code: word, address: addressOf(at) }
      this.#log.warn(fields, `${what}. This node goes on with its memory.`)
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

const away = (message: string) => err({ code: 'store-away', message } as const)

const messageOf = (word: string): string => `Redis did not do it (${word}).`

const addressOf = ({ host, port }: RedisPlace): string =>
  host.includes(':') ? `[${host}]:${port}` : `${host}:${port}`
