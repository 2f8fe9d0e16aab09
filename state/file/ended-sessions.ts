// Ends of sessions that Redis has yet to learn, in memory and in a file for the next start.
import { appendFileSync, mkdirSync, readFileSync, rmSync, statSync } from 'node:fs'
import { dirname } from 'node:path'
import type { Clock } from '#lib/clock.ts'
import { writeDurably } from '#lib/durable-file.ts'
import type { Log } from '#lib/log.ts'

const endedSessionsLimits = {
  /** Sessions, and accounts whose sessions were all ended. */
  pendingMax: 100_000,
  /** Larger files are not read. */
  bytesMax: 67_108_864,
} as const

/** `session`: by the hash of its token; `user`: all sessions of that account. */
export type EndOf = 'session' | 'user'

export class EndedSessions {
  readonly #path: string | null
  readonly #clock: Clock
  readonly #log: Log
  /** Monotonic time of each end. */
  readonly #ends = { session: new Map<string, number>(), user: new Map<string, number>() }
  /** The file differs from memory. */
  #isBehind = false

  /** @param path null: memory only */
  constructor(path: string | null, clock: Clock, log: Log) {
    this.#path = path
    this.#clock = clock
    this.#log = log
    if (path !== null) this.#read(path)
  }

  get size(): number {
    return this.#ends.session.size + this.#ends.user.size
  }

  has(what: EndOf, id: string): boolean {
    return this.#ends[what].has(id)
  }

  /** @returns false: there is no room */
  add(what: EndOf, id: string): boolean {
    const ends = this.#ends[what]
    if (ends.size >= endedSessionsLimits.pendingMax && !ends.has(id)) return false
    ends.set(id, this.#clock.monotonicMs())
    this.#write((path) => {
      mkdirSync(dirname(path), { recursive: true })
      const line = lineOf(what, id, this.#clock.nowMs())
      appendFileSync(path, line, { mode: 0o600, flush: true })
    })
    return true
  }

  delete(what: EndOf, id: string): void {
    this.#isBehind = this.#ends[what].delete(id) || this.#isBehind
  }

  /** All ends with their age. */
  all(what: EndOf): (readonly [id: string, agoMs: number])[] {
    const nowMs = this.#clock.monotonicMs()
    return [...this.#ends[what]].map(([id, atMs]) => [id, nowMs - atMs])
  }

  /** Removes settled ends from the file. */
  settle(): void {
    if (!this.#isBehind) return
    this.#isBehind = false
    this.#write((path) => {
      if (this.size === 0) return rmSync(path, { force: true })
      const nowMs = this.#clock.nowMs()
      const lines = (['session', 'user'] as const).flatMap((what) =>
        this.all(what).map(([id, agoMs]) => lineOf(what, id, nowMs - agoMs)),
      )
      writeDurably(path, lines.join(''), 0o600)
    })
  }

  #write(write: (path: string) => void): void {
    if (this.#path === null) return
    try {
      write(this.#path)
    } catch (error) {
      const fields = { file: this.#path, err: error }
      this.#log.warn(fields, 'Ends of sessions cannot be kept for the next start of this node.')
    }
  }

  #read(path: string): void {
    try {
      const bytes = statSync(path, { throwIfNoEntry: false })?.size ?? 0
      if (bytes === 0) return
      if (bytes > endedSessionsLimits.bytesMax) throw new Error(`it has ${bytes} octets`)
      const [nowMs, nowMonotonicMs] = [this.#clock.nowMs(), this.#clock.monotonicMs()]
      for (const line of readFileSync(path, 'utf8').split('\n')) {
        const end = endIn(line)
        if (end === undefined) continue
        const ends = this.#ends[end.what]
        if (ends.size >= endedSessionsLimits.pendingMax) continue
        ends.set(end.id, nowMonotonicMs - Math.max(0, nowMs - end.atMs))
      }
    } catch (error) {
      const fields = { file: path, err: error }
      this.#log.warn(fields, 'Ends of sessions from before this start cannot be read.')
    }
  }
}

const lineOf = (what: EndOf, id: string, atMs: number): string =>
  `${JSON.stringify([what, id, Math.round(atMs)])}\n`

/** The last line may be truncated. */
function endIn(line: string): { what: EndOf; id: string; atMs: number } | undefined {
  try {
    const [what, id, atMs] = JSON.parse(line) as readonly unknown[]
    const isEnd = what === 'session' || what === 'user'
    if (!isEnd || typeof id !== 'string' || !Number.isFinite(atMs)) return undefined
    return { what, id: id.slice(0, 256), atMs: Number(atMs) }
  } catch {
    return undefined
  }
}
