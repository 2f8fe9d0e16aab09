// Follows a channel: asks sources for its record, fetches the bundle that it names, and passes both
// on.
import type { ChannelRecord, SignedChannelRecord } from '#bundle/signature/channel.ts'
import type { Publication } from '#bundle/signature/publication.ts'
import type { Backoff } from '#lib/backoff.ts'
import type { Clock } from '#lib/clock.ts'
import type { Log } from '#lib/log.ts'
import type { Random } from '#lib/random.ts'
import { parseJson } from '#lib/text/json.ts'
import type { Fields } from '#lib/text/json.ts'
import { err, ok } from '#lib/result.ts'
import type { Err, Result } from '#lib/result.ts'
import type { After } from '#lib/timer.ts'
import { fetchFile } from './fetch.ts'
import type { Fetched, FetchFailure } from './fetch.ts'
import { fleetLimits } from './limits.ts'
import { reportLimits } from '#fleet/nodes/node-report.ts'
import type { NodeRefusal, NodeReport } from '#fleet/nodes/node-report.ts'
import { Sources } from './sources.ts'
import type { Source, SourceFault } from './sources.ts'
import { withBundleFile } from './byte-ranges.ts'
import { applyDelta, deltaBytesMax } from './delta.ts'
import { bundlePath, channelPath, deltaPath } from './tree.ts'

export interface PullerParts {
  /** Addresses in the order in which they are asked. */
  readonly urls: readonly string[]
  readonly channel: string
  /** A secret that is sent to each source; null: none. */
  readonly token: string | null
  /** Pause between requests to a source that does not itself wait for changes. */
  readonly pollMs: number
  /** Verifies a record, and compares it with the active one. Changes nothing. */
  readonly judge: (signed: unknown) => Result<ChannelRecord, SourceFault>
  /** Whether this very record is the active one. */
  readonly isServing: (record: ChannelRecord) => boolean
  /** The octets of a stored bundle, to be verified like any others. */
  readonly stored: (digest: string) => Uint8Array | undefined
  /** Path of a stored bundle; left out: deltas are not used. */
  readonly storedPath?: (digest: string) => string
  /** Digest of the active bundle; '': there is none. */
  readonly servingDigest?: () => string
  /** Computes with another bundle beside the active one; left out: this node does not. */
  readonly shadow?: PulledShadow
  readonly activate: (publication: Publication) => Promise<Result<unknown, SourceFault>>
  /** True: a source without this channel is no fault. */
  readonly mayBeAbsent?: boolean
  /** The node's report to sources that take one; left out: none is sent. */
  readonly report?: (pulled: Pulled) => NodeReport
  /** Signs the report; left out: it is sent unsigned. */
  readonly sealed?: (report: NodeReport) => object
  readonly clock: Clock
  readonly after: After
  readonly random: Random
  readonly log: Log
  readonly limits?: Partial<PullLimits>
}

/** Computing with a bundle beside the active one. */
export interface PulledShadow {
  /** Digest of that bundle; '': none. */
  readonly digest: () => string
  readonly begin: (bundle: Uint8Array) => Result<unknown, SourceFault>
  readonly end: () => void
}

/** Fields of a report that come from here. */
export type Pulled = Pick<NodeReport, 'isRefusing' | 'refusals' | 'againMs'>

/** Limits, which tests make shorter. */
export interface PullLimits {
  readonly waitSeconds: number
  readonly headPatienceMs: number
  readonly bundleBytesMax: number
  readonly rate: { readonly windowMs: number; readonly bytesMin: number }
  /** Time for a whole body; left out: by its size. */
  readonly bodyMs?: number
  readonly rest: Backoff
  /** The longest pause that a busy source can ask for. */
  readonly retryAfterMsMax: number
  /** How long a source may have an older bundle than the active one. */
  readonly behindMsMax: number
}

export interface PullStatus {
  readonly sources: readonly { readonly name: string; readonly fault: SourceFault | null }[]
  /** Since a source last gave a valid record; null: none did since the start. */
  readonly contactSecondsAgo: number | null
  /** Requests by result: `unchanged`, `activated`, or the code of a fault. */
  readonly pulls: Readonly<Record<string, number>>
  /** Octets of bundles and records on the wire. */
  readonly wireBytes: number
  /** Deltas that became a bundle, and useless ones, after which the whole bundle was fetched. */
  readonly deltas: { readonly used: number; readonly useless: number }
}

const standard: PullLimits = {
  waitSeconds: fleetLimits.waitSecondsMax,
  headPatienceMs: fleetLimits.headPatienceMs,
  bundleBytesMax: fleetLimits.bundleBytesMax,
  rate: fleetLimits.rate,
  rest: fleetLimits.rest,
  retryAfterMsMax: fleetLimits.retryAfterMsMax,
  behindMsMax: fleetLimits.behindMsMax,
}

/** After this time a bundle to compute with that was refused is fetched again. */
const refusedAgainMs = 60_000

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
  readonly #deltas = { used: 0, useless: 0 }
  #refusals: readonly NodeRefusal[] = []

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
    await this.#leave()
  }

  /** Asks pausing sources at once, since their fault may have been mended here. */
  askAgain(): void {
    this.#sources.wake()
    this.#wake()
  }

  status(): PullStatus {
    const { clock } = this.#parts
    const at = this.#contactAtMs
    return {
      sources: this.#sources.all.map(({ name, fault }) => ({ name, fault })),
      contactSecondsAgo: at === undefined ? null : (clock.monotonicMs() - at) / 1000,
      pulls: { ...this.#pulls },
      wireBytes: this.#wireBytes,
      deltas: { ...this.#deltas },
    }
  }

  /** Recent refusals, oldest first. */
  pulled(): Pulled {
    const isRefusing = this.#sources.all.some(({ isRefused }) => isRefused)
    const { waitSeconds, headPatienceMs } = this.#limits
    const waits = { waitSeconds, headPatienceMs, pollMs: this.#parts.pollMs }
    return { isRefusing, refusals: this.#refusals, againMs: this.#sources.againMs(waits) }
  }

  async #run(): Promise<void> {
    while (!this.#stop.signal.aborted) {
      const nowMs = this.#parts.clock.monotonicMs()
      const source = this.#sources.next(nowMs)
      const restMs = source === undefined ? this.#sources.restMs(nowMs) : await this.#ask(source)
      if (restMs > 0) await this.#rest(restMs)
    }
  }

  /** @returns the pause before the next request */
  async #ask(source: Source): Promise<number> {
    const { clock, log, pollMs, channel } = this.#parts
    const beganMs = clock.monotonicMs()
    const isPlain = source.tag === undefined || source.plainAsks > 0
    const waited = isPlain ? 0 : this.#limits.waitSeconds
    const wasTagged = source.tag !== undefined
    const asked = this.#pull(source, waited)
    const pulled = await asked.catch((error: unknown): Err<PullFault> => {
      log.error({ err: error }, 'gslbd failed on a bundle source, which is a mistake of gslbd')
      return err({ code: 'internal', message: 'gslbd failed on it; see the log' })
    })
    if (this.#stop.signal.aborted) return 0
    const nowMs = clock.monotonicMs()
    this.#count(pulled.ok ? pulled.value : pulled.error.code)
    if (!pulled.ok && pulled.error.code === 'busy') {
      const restMs = Math.min(pulled.error.retryAfterMs ?? 0, this.#limits.retryAfterMsMax)
      this.#sources.busy(source, restMs, nowMs)
      return 0
    }
    if (!pulled.ok) {
      const { code, message } = pulled.error
      if (source.logged !== code && !this.#isBehind(source, code)) {
        source.logged = code
        log.warn({ source: source.name, channel, code }, `a bundle source is no use: ${message}`)
      }
      this.#sources.failed(source, pulled.error, nowMs)
      return 0
    }
    if (source.logged !== '')
      log.info({ source: source.name, channel }, 'the bundle source works again')
    this.#sources.worked(source)
    this.#contactAtMs = nowMs
    if (source.plainAsks > 0) source.plainAsks--
    // A source that waits for changes is asked again at once; a file server is not.
    const waitedMs = nowMs - beganMs
    // A source that takes reports answers sooner while it wants them often.
    const enoughMs = source.takesReports ? fleetLimits.reportMsMin : (waited * 1000) / 2
    const hasWaited = pulled.value === 'unchanged' && waitedMs >= enoughMs
    if (pulled.value === 'activated' || (waited > 0 && hasWaited)) return 0
    // The source can now be asked for the changes since its last bundle.
    if (!wasTagged && source.tag !== undefined && source.plainAsks === 0) return 0
    return pollMs / 2 + this.#parts.random.below(Math.ceil(pollMs) + 1)
  }

  async #pull(source: Source, waitSeconds: number): Promise<Result<Outcome, PullFault>> {
    const answer = await this.#recordOf(source, waitSeconds)
    if (!answer.ok) {
      const isAbsent = this.#parts.mayBeAbsent === true && answer.error.status === 404
      return isAbsent ? ok('unchanged') : answer
    }
    const isNews = answer.value.status === 200
    const verdict = isNews ? await this.#take(source, answer.value) : ok('unchanged' as const)
    const taken = verdict.ok ? await this.#shadow(source, answer.value.shadow) : verdict
    if (taken.ok) return verdict
    const { code, digest } = taken.error
    if (digest !== undefined && !this.#isBehind(source, code)) this.#remember(source, taken.error)
    return taken
  }

  /**
   * Tolerates a source that is behind for a moment: one of several control nodes is always first.
   */
  #isBehind(source: Source, code: string): boolean {
    if (code !== behind) return false
    const { behindMsMax } = this.#limits
    const nowMs = this.#parts.clock.monotonicMs()
    const { behind: known } = source
    // After a different fault in between, the time begins anew.
    const isAnother = known === undefined || nowMs - known.lastMs > 3 * behindMsMax
    source.behind = { fromMs: isAnother ? nowMs : known.fromMs, lastMs: nowMs }
    return nowMs - source.behind.fromMs < behindMsMax
  }

  /** @param digest of the bundle that the source wants computed as well */
  async #shadow(source: Source, digest: string): Promise<Result<unknown, RefusedFile>> {
    const { shadow, stored } = this.#parts
    if (shadow === undefined || shadow.digest() === digest) return ok(null)
    shadow.end()
    if (digest === '' || this.#hasJustRefused(digest)) return ok(null)
    const bundle = stored(digest) ?? (await this.#shadowOf(source, digest))
    if (!(bundle instanceof Uint8Array)) return bundle
    const begun = shadow.begin(bundle)
    if (!begun.ok) return err({ ...begun.error, digest })
    if (shadow.digest() === digest) return begun
    shadow.end()
    return err({ code: 'digest-mismatch', message: 'it sent another bundle', digest })
  }

  /** Not for good: its cause may be mended, and the delivery begun anew. */
  #hasJustRefused(of: string): boolean {
    const sinceMs = this.#parts.clock.nowMs() - refusedAgainMs
    return this.#refusals.some(({ digest, atMs }) => digest === of && atMs > sinceMs)
  }

  /** Fetches it, by a delta if there is one; it is not verified. */
  async #shadowOf(source: Source, digest: string): Promise<Uint8Array | Err<FetchFailure>> {
    const serving = await this.#servingBytes()
    const bytesMax = Math.min(
      this.#limits.bundleBytesMax,
      2 * serving + fleetLimits.shadowSlackBytes,
    )
    const made = await this.#byDelta(source, { digest, bytesMax })
    if (made !== undefined) return made
    const whole = await this.#fetch(source, bundlePath(digest), { bytesMax })
    return whole.ok ? whole.value.bytes : whole
  }

  async #servingBytes(): Promise<number> {
    const { storedPath, servingDigest } = this.#parts
    const digest = servingDigest?.() ?? ''
    if (storedPath === undefined || digest === '') return 0
    return withBundleFile(storedPath(digest), async ({ bytes }) => bytes).catch(() => 0)
  }

  /** Faults with a digest are refusals of what the source gave. */
  async #take(source: Source, { bytes, tag }: Fetched): Promise<Result<Outcome, RefusedFile>> {
    const signed = parsed(bytes)
    const record = this.#parts.judge(signed)
    if (!record.ok) return err({ ...record.error, digest: digestIn(signed) })
    const { channel, digest, bytes: sizeBytes, expiresAtMs } = record.value
    if (channel !== this.#parts.channel) {
      const message = `its record is of the channel "${channel.slice(0, 63)}"`
      return err({ code: 'other-channel', message, digest })
    }
    if (this.#parts.isServing(record.value)) {
      source.tag = tag
      return ok('unchanged')
    }
    if (expiresAtMs < this.#parts.clock.nowMs()) {
      const message = 'its channel record has expired: it is old, or a clock is wrong'
      return err({ code: 'expired', message, digest })
    }
    const signedRecord = signed as SignedChannelRecord
    const activated = await this.#activate(source, signedRecord, { digest, sizeBytes })
    if (!activated.ok) return activated
    source.tag = tag
    return ok('activated')
  }

  /** Uses the stored bundle if that is valid; else fetches it. */
  async #activate(
    source: Source,
    signedRecord: SignedChannelRecord,
    { digest, sizeBytes }: { readonly digest: string; readonly sizeBytes: number | undefined },
  ): Promise<Result<unknown, RefusedFile>> {
    const { stored } = this.#parts
    const { bundleBytesMax: bytesMax } = this.#limits
    if (sizeBytes !== undefined && sizeBytes > bytesMax) {
      const message = `its record names a bundle of ${sizeBytes} octets; at most ${bytesMax} fit`
      return err({ code: 'too-large', message, digest })
    }
    const activate = async (bundle: Uint8Array): Promise<Result<unknown, RefusedFile>> => {
      const activated = await this.#parts.activate({ signedRecord, bundle })
      return activated.ok ? activated : err({ ...activated.error, digest })
    }
    const kept = stored(digest)
    if (kept !== undefined) {
      const activated = await activate(kept)
      const isDamaged = !activated.ok && damaged.includes(activated.error.code)
      if (!isDamaged) return activated
    }
    const made = await this.#byDelta(source, { digest, bytesMax, sizeBytes })
    if (made !== undefined) {
      const activated = await activate(made)
      this.#deltas[activated.ok ? 'used' : 'useless']++
      const isDamaged = !activated.ok && damaged.includes(activated.error.code)
      if (!isDamaged) return activated
    }
    const bundle = await this.#fetch(source, bundlePath(digest), { bytesMax, bytes: sizeBytes })
    return bundle.ok ? activate(bundle.value.bytes) : bundle
  }

  /** After any fault of the delta, the whole bundle is fetched. */
  async #byDelta(
    source: Source,
    { digest, bytesMax, sizeBytes }: WantedBundle,
  ): Promise<Uint8Array | undefined> {
    const { storedPath, servingDigest } = this.#parts
    const from = servingDigest?.() ?? ''
    if (storedPath === undefined || from === '' || from === digest) return undefined
    const delta = await this.#fetch(source, deltaPath(from, digest), {
      bytesMax: deltaBytesMax(sizeBytes ?? bytesMax),
    })
    if (!delta.ok || delta.value.status !== 200) return undefined
    const { bytes } = delta.value
    const made = await withBundleFile(storedPath(from), (old) =>
      applyDelta(bytes, old, bytesMax, sizeBytes),
    ).catch((error: unknown) => err(String(error)))
    if (made.ok) return made.value
    this.#deltas.useless++
    const { log } = this.#parts
    log.warn({ source: source.name }, `a delta is of no use, the bundle comes whole: ${made.error}`)
    return undefined
  }

  #remember(source: Source, { code, message, digest }: RefusedFile): void {
    source.isRefused = true
    const last = this.#refusals.at(-1)
    const isAgain = last?.code === code && last.digest === (digest ?? '')
    const before = isAgain ? this.#refusals.slice(0, -1) : this.#refusals
    const reason = message.slice(0, reportLimits.reasonCharsMax)
    const refused = { digest: digest ?? '', code, reason, atMs: this.#parts.clock.nowMs() }
    this.#refusals = [...before, refused].slice(-reportLimits.refusalsMax)
  }

  /** Announces the stop to the sources, so that the node is not missed. */
  async #leave(): Promise<void> {
    const { report, channel, token, sealed = asIs } = this.#parts
    const source = this.#sources.all.find(({ takesReports }) => takesReports)
    if (report === undefined || source === undefined) return
    const body = { tag: null, report: sealed({ ...report(this.pulled()), isLeaving: true }) }
    await fetchFile(new URL(channelPath(channel), source.url), {
      headers: bearing(token),
      body: JSON.stringify(body),
      bytesMax: fleetLimits.recordBytesMax,
      headPatienceMs: fleetLimits.leavePatienceMs,
      rate: this.#limits.rate,
      signal: AbortSignal.timeout(fleetLimits.leavePatienceMs),
    })
  }

  /** Sends a report if the source takes one. */
  async #recordOf(source: Source, waitSeconds: number): Promise<Result<Fetched, FetchFailure>> {
    const { clock, channel, report, sealed = asIs } = this.#parts
    const isReported = report !== undefined && source.takesReports
    const seconds = isReported ? Math.min(waitSeconds, fleetLimits.reportWaitSeconds) : waitSeconds
    const path = channelPath(channel) + (seconds > 0 ? `?wait=${seconds}` : '')
    const common = { bytesMax: fleetLimits.recordBytesMax, waitMs: seconds * 1000 }
    if (isReported) {
      const sent = sealed(report(this.pulled()))
      const body = JSON.stringify({ tag: source.tag ?? null, report: sent })
      const heard = await this.#fetch(source, path, { ...common, body })
      if (heard.ok || !reportRefusals.includes(heard.error.status ?? 0)) return heard
      source.takesReports = false
      source.reportsFromMs = clock.monotonicMs() + fleetLimits.reportRestMs
    }
    const headers = source.tag === undefined ? {} : { 'if-none-match': source.tag }
    const answer = await this.#fetch(source, path, { ...common, headers })
    const isTime = clock.monotonicMs() >= source.reportsFromMs
    if (answer.ok) source.takesReports = answer.value.takesJson && isTime
    return answer
  }

  async #fetch(
    source: Source,
    path: string,
    { bytesMax, bytes, headers = {}, body, waitMs = 0 }: FetchSpec,
  ): Promise<Result<Fetched, FetchFailure>> {
    const { token } = this.#parts
    const fetched = await fetchFile(new URL(path, source.url), {
      headers: { ...headers, ...bearing(token) },
      ...{ body, bytesMax, bytes },
      headPatienceMs: this.#limits.headPatienceMs + waitMs,
      ...{ rate: this.#limits.rate, bodyMs: this.#limits.bodyMs },
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

const asIs = (report: NodeReport): object => report

interface WantedBundle {
  readonly digest: string
  readonly bytesMax: number
  /** Signed size; left out: unknown. */
  readonly sizeBytes?: number | undefined
}

interface FetchSpec {
  readonly bytesMax: number
  readonly bytes?: number | undefined
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: string
  readonly waitMs?: number
}

/** Code of a channel record that is older than the active one. */
const behind = 'rollback'

/** Faults that another copy of the same bundle may not have. */
const damaged: readonly string[] = ['bad-bundle', 'digest-mismatch']

/** Statuses by which a proxy in front of the source refuses the report. */
const reportRefusals: readonly number[] = [400, 403, 404, 405, 411, 413, 415, 501]

/** Why a file of a source was refused, and which bundle it was. */
type RefusedFile = SourceFault & { readonly digest?: string }
type PullFault = SourceFault & Pick<FetchFailure, 'retryAfterMs'>

/** The digest in a record that may be malformed; empty: there is none. */
function digestIn(signed: unknown): string {
  const { digest } = ((signed as { record?: unknown } | undefined)?.record ?? {}) as Fields
  return typeof digest === 'string' && /^[0-9a-f]{64}$/.test(digest) ? digest : ''
}

const bearing = (token: string | null): Readonly<Record<string, string>> =>
  token === null ? {} : { authorization: `Bearer ${token}` }

/** Anything that is no JSON is malformed to `judge`. */
const parsed = (bytes: Uint8Array): unknown => parseJson(Buffer.from(bytes).toString('utf8'))
