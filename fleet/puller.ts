// Follows a channel: asks sources for its record, fetches the bundle that it names, and hands both
// over.
import type { ChannelRecord, SignedChannelRecord } from '#bundle/signature/channel.ts'
import type { Publication } from '#bundle/signature/publication.ts'
import type { Clock } from '#lib/clock.ts'
import type { Log } from '#lib/log.ts'
import type { Random } from '#lib/random.ts'
import { err, ok } from '#lib/result.ts'
import type { Result } from '#lib/result.ts'
import type { After } from '#lib/timer.ts'
import { fetchFile } from './fetch.ts'
import type { Fetched } from './fetch.ts'
import { fleetLimits } from './limits.ts'
import { Sources } from './sources.ts'
import type { Source, SourceFault } from './sources.ts'
import { bundlePath, channelPath } from './tree.ts'

export interface PullerParts {
  /** In the order in which they are asked. */
  readonly urls: readonly string[]
  readonly channel: string
  /** Sent to each source; null: none. A secret. */
  readonly token: string | null
  /** From one question to the next, where a source does not wait for a change itself. */
  readonly pollMs: number
  /** Verifies a record, and compares it with what serves. Nothing is changed. */
  readonly judge: (signed: unknown) => Result<ChannelRecord, SourceFault>
  /** The record that serves is this one, to the letter. */
  readonly isServing: (record: ChannelRecord) => boolean
  /** The octets of a bundle that this node has; they are verified like any others. */
  readonly stored: (digest: string) => Uint8Array | undefined
  readonly activate: (publication: Publication) => Promise<Result<unknown, SourceFault>>
  readonly clock: Clock
  readonly after: After
  readonly random: Random
  readonly log: Log
  readonly limits?: Partial<PullLimits>
}

/** Tests on a machine of their own are less patient. */
export interface PullLimits {
  readonly waitSeconds: number
  readonly headPatienceMs: number
  readonly bundleBytesMax: number
  readonly rate: { readonly windowMs: number; readonly bytesMin: number }
  readonly rest: { readonly firstMs: number; readonly maxMs: number }
}

export interface PullStatus {
  readonly sources: readonly { readonly name: string; readonly fault: SourceFault | null }[]
  /** Since a source last gave a record that holds; null: none did since the start. */
  readonly contactSecondsAgo: number | null
  /** Questions, by how they ended: `unchanged`, `activated`, or the code of a fault. */
  readonly pulls: Readonly<Record<string, number>>
  /** Of bundles and records, as they came. */
  readonly wireBytes: number
}

const standard: PullLimits = {
  waitSeconds: fleetLimits.waitSecondsMax,
  headPatienceMs: fleetLimits.headPatienceMs,
  bundleBytesMax: fleetLimits.bundleBytesMax,
  rate: fleetLimits.rate,
  rest: fleetLimits.rest,
}

type Outcome = 'unchanged' | 'activated'

export class Puller {
  readonly #parts: PullerParts
  readonly #limits: PullLimits
  readonly #sources: Sources
  readonly #stop = new AbortController()
  #loop: Promise<void> = Promise.resolve()
  #wake = (): void => undefined
  #contactAtMs: number | undefined
  readonly #pulls: Record<string, number> = {}
  #wireBytes = 0

  constructor(parts: PullerParts) {
    this.#parts = parts
    this.#limits = { ...standard, ...parts.limits }
    this.#sources = new Sources(parts.urls, this.#limits.rest, parts.random)
  }

  start(): void {
    this.#loop = this.#run()
  }

  async stop(): Promise<void> {
    this.#stop.abort()
    this.#wake()
    await this.#loop
  }

  status(): PullStatus {
    const { clock } = this.#parts
    const at = this.#contactAtMs
    return {
      sources: this.#sources.all.map(({ name, fault }) => ({ name, fault })),
      contactSecondsAgo: at === undefined ? null : (clock.monotonicMs() - at) / 1000,
      pulls: { ...this.#pulls },
      wireBytes: this.#wireBytes,
    }
  }

  async #run(): Promise<void> {
    while (!this.#stop.signal.aborted) {
      const nowMs = this.#parts.clock.monotonicMs()
      const source = this.#sources.next(nowMs)
      const restMs = source === undefined ? this.#sources.restMs(nowMs) : await this.#ask(source)
      if (restMs > 0) await this.#rest(restMs)
    }
  }

  /** @returns how long to wait before the next question */
  async #ask(source: Source): Promise<number> {
    const { clock, log, pollMs } = this.#parts
    const beganMs = clock.monotonicMs()
    const waited = source.tag === undefined ? 0 : this.#limits.waitSeconds
    const pulled = await this.#pull(source, waited).catch((error: unknown) => {
      log.error({ err: error }, 'gslbd failed on a bundle source, which is a mistake of gslbd')
      return err({ code: 'internal', message: 'gslbd failed on it; see the log' })
    })
    if (this.#stop.signal.aborted) return 0
    const nowMs = clock.monotonicMs()
    this.#count(pulled.ok ? pulled.value : pulled.error.code)
    if (!pulled.ok) {
      const isNews = source.fault?.code !== pulled.error.code
      const { code, message } = pulled.error
      if (isNews) log.warn({ source: source.name, code }, `a bundle source is no use: ${message}`)
      this.#sources.failed(source, pulled.error, nowMs)
      return 0
    }
    if (source.fault !== null) log.info({ source: source.name }, 'the bundle source works again')
    this.#sources.worked(source)
    this.#contactAtMs = nowMs
    // One that has waited itself is asked again at once; a plain file server answers at once.
    const hasWaited = pulled.value === 'unchanged' && nowMs - beganMs >= (waited * 1000) / 2
    if (pulled.value === 'activated' || (waited > 0 && hasWaited)) return 0
    // Now it can be asked for changes of what it has just sent.
    if (waited === 0 && source.tag !== undefined) return 0
    return pollMs / 2 + this.#parts.random.below(Math.ceil(pollMs) + 1)
  }

  async #pull(source: Source, waitSeconds: number): Promise<Result<Outcome, SourceFault>> {
    const answer = await this.#recordOf(source, waitSeconds)
    if (!answer.ok) return answer
    if (answer.value.status === 304) return ok('unchanged')
    const signed = parsed(answer.value.bytes)
    const record = this.#parts.judge(signed)
    if (!record.ok) return record
    const { channel, digest, expiresAtMs } = record.value
    if (channel !== this.#parts.channel) {
      return refusal('other-channel', `its record is of the channel "${channel.slice(0, 63)}"`)
    }
    const { tag } = answer.value
    if (this.#parts.isServing(record.value)) {
      source.tag = tag
      return ok('unchanged')
    }
    if (expiresAtMs < this.#parts.clock.nowMs()) {
      return refusal('expired', 'its channel record has expired: it is old, or a clock is wrong')
    }
    const signedRecord = signed as SignedChannelRecord
    const activated = await this.#activate(source, signedRecord, digest)
    if (!activated.ok) return activated
    source.tag = tag
    return ok('activated')
  }

  /** From what is on disk, where that holds; otherwise from the source. */
  async #activate(
    source: Source,
    signedRecord: SignedChannelRecord,
    digest: string,
  ): Promise<Result<unknown, SourceFault>> {
    const { stored, activate } = this.#parts
    const kept = stored(digest)
    if (kept !== undefined) {
      const activated = await activate({ signedRecord, bundle: kept })
      const isDamaged = !activated.ok && damaged.includes(activated.error.code)
      if (!isDamaged) return activated
    }
    const bundle = await this.#fetch(source, bundlePath(digest), {
      bytesMax: this.#limits.bundleBytesMax,
    })
    return bundle.ok ? activate({ signedRecord, bundle: bundle.value.bytes }) : bundle
  }

  #recordOf(source: Source, waitSeconds: number): Promise<Result<Fetched, SourceFault>> {
    const wait = waitSeconds > 0 ? `?wait=${waitSeconds}` : ''
    return this.#fetch(source, channelPath(this.#parts.channel) + wait, {
      bytesMax: fleetLimits.recordBytesMax,
      headers: source.tag === undefined ? {} : { 'if-none-match': source.tag },
      waitMs: waitSeconds * 1000,
    })
  }

  async #fetch(
    source: Source,
    path: string,
    { bytesMax, headers = {}, waitMs = 0 }: FetchSpec,
  ): Promise<Result<Fetched, SourceFault>> {
    const { token } = this.#parts
    const fetched = await fetchFile(new URL(path, source.url), {
      headers: { ...headers, ...(token === null ? {} : { authorization: `Bearer ${token}` }) },
      bytesMax,
      headPatienceMs: this.#limits.headPatienceMs + waitMs,
      rate: this.#limits.rate,
      signal: this.#stop.signal,
    })
    if (fetched.ok) this.#wireBytes += fetched.value.wireBytes
    return fetched
  }

  #count(outcome: string): void {
    this.#pulls[outcome] = (this.#pulls[outcome] ?? 0) + 1
  }

  #rest(restMs: number): Promise<void> {
    if (this.#stop.signal.aborted) return Promise.resolve()
    return new Promise((resolve) => {
      const callOff = this.#parts.after(restMs, resolve)
      this.#wake = () => {
        callOff()
        resolve()
      }
    })
  }
}

interface FetchSpec {
  readonly bytesMax: number
  readonly headers?: Readonly<Record<string, string>>
  readonly waitMs?: number
}

/** What another copy of the same bundle may not have. */
const damaged: readonly string[] = ['bad-bundle', 'digest-mismatch']

const refusal = (code: string, message: string): Result<never, SourceFault> =>
  err({ code, message })

/** Anything that is no JSON is malformed, as `judge` says. */
function parsed(bytes: Uint8Array): unknown {
  try {
    return JSON.parse(Buffer.from(bytes).toString('utf8'))
  } catch {
    return undefined
  }
}
