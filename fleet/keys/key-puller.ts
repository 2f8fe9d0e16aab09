// Asks control nodes for what is in envelopes, again and again: keys of zones, or a certificate.
// The one that gave it last is asked, else the first that gives it.
import type { TrustedKey } from '#bundle/signature/channel.ts'
import { fetchFile } from '#fleet/fetch.ts'
import { fleetLimits } from '#fleet/limits.ts'
import type { NodeReport } from '#fleet/nodes/node-report.ts'
import type { Log } from '#lib/log.ts'
import { err, ok } from '#lib/result.ts'
import type { Result } from '#lib/result.ts'
import type { After } from '#lib/timer.ts'
import { envelopeLimits, newQuestionKey, openEnvelope } from './envelope.ts'
import type { EnvelopeFault, EnvelopeKind, Letter } from './envelope.ts'

/** What is asked for, and how it is called in sentences. */
interface PulledKind {
  readonly kind: EnvelopeKind
  readonly path: string
  /** `keys of zones`. */
  readonly what: string
  /** What follows where it does not come any more, a sentence without its full stop. */
  readonly follows: string
}

export const zoneKeysKind: PulledKind = {
  ...{ kind: 'zone-keys', path: 'bundles/keys', what: 'keys of zones' },
  follows: 'once they roll, answers of this node are bogus',
}
export const certificateKind: PulledKind = {
  ...{ kind: 'certificate', path: 'bundles/certificate', what: 'the certificate' },
  follows: 'once it ends, no client is answered over TLS',
}

export interface KeyPullerParts {
  readonly asks: PulledKind
  /** In the order in which they are asked. */
  readonly urls: readonly string[]
  /** A secret; null: none, and nobody gives keys. */
  readonly token: string | null
  /**
   * Returns the node's report about itself, which the control node checks like that of a pull of
   * bundles.
   */
  readonly report: () => NodeReport
  /** The same as it is sent. */
  readonly sealed: (report: NodeReport) => object
  /** Keys whose envelopes are accepted; the list changes with a reload. */
  readonly trusted: () => readonly TrustedKey[]
  /** The revision of what is here; 0: nothing is. */
  readonly revision: () => number
  /** Errors: a sentence. */
  readonly take: (letter: Letter) => Result<null, string>
  /** Something is missing here: it is asked for more often. */
  readonly isAnyMissing: () => boolean
  readonly after: After
  readonly monotonicMs: () => number
  readonly log: Log
}

const everyMs = 10_000
const whenMissingMs = 2_000
/** Well below the least time between two steps of a rollover. */
const staleMs = 600_000

/** `absent`: what never gave keys, as a web server, or a control node whose keys are files. */
type Asked = Result<'taken' | 'unchanged' | 'absent', string>

export class KeyPuller {
  readonly #parts: KeyPullerParts
  #urls: readonly string[]
  #callOff = (): void => undefined
  readonly #stop = new AbortController()
  #asking: Promise<void> = Promise.resolve()
  #said = ''
  #heardMs: number

  constructor(parts: KeyPullerParts) {
    this.#parts = parts
    this.#urls = parts.urls
    this.#heardMs = parts.monotonicMs()
  }

  /** Why what once came does not come any more, in sentences; null: it does, or never did. */
  stale(): string | null {
    const { revision, monotonicMs, token, asks } = this.#parts
    const sinceMs = monotonicMs() - this.#heardMs
    if (revision() === 0 || sinceMs < staleMs) return null
    const why = token === null ? 'GSLB_BUNDLE_TOKEN is not set' : this.#said
    const minutes = Math.floor(sinceMs / 60_000)
    const said = `No control node has given ${asks.what} for ${minutes} minutes`
    return `${said}: ${asks.follows}. ${why}.`
  }

  /** What each of them said when all refused the last time; empty: one gave it, or none has any. */
  get refusal(): string {
    return this.#said
  }

  start(): void {
    if (this.#parts.token !== null) this.#look()
  }

  async stop(): Promise<void> {
    this.#stop.abort()
    this.#callOff()
    await this.#asking
  }

  #look(): void {
    this.#asking = this.#ask().then(() => {
      if (this.#stop.signal.aborted) return
      const pauseMs = this.#parts.isAnyMissing() ? whenMissingMs : everyMs
      this.#callOff = this.#parts.after(pauseMs, () => this.#look())
    })
  }

  async #ask(): Promise<void> {
    const { what } = this.#parts.asks
    const faults: string[] = []
    for (const url of this.#urls) {
      const asked = await this.#askOne(url)
      if (this.#stop.signal.aborted) return
      if (asked.ok && asked.value === 'absent') continue
      if (asked.ok) {
        this.#urls = [url, ...this.#urls.filter((other) => other !== url)]
        if (this.#said !== '') this.#parts.log.info({}, `${what}: given again`)
        this.#said = ''
        this.#heardMs = this.#parts.monotonicMs()
        return
      }
      faults.push(`${new URL(url).host}: ${asked.error}`)
    }
    const said = faults.join('; ')
    if (said !== '' && said !== this.#said) {
      this.#parts.log.warn({ reason: said }, `no control node gives ${what}; what is here stays`)
    }
    this.#said = said
  }

  async #askOne(url: string): Promise<Asked> {
    const { asks, token, report, sealed, revision, take, trusted, log } = this.#parts
    const key = newQuestionKey()
    const own = { ...report(), sealTo: key.sealTo }
    const base = url.endsWith('/') ? url : `${url}/`
    const answer = await fetchFile(new URL(asks.path, base), {
      headers: { authorization: `Bearer ${token}` },
      body: JSON.stringify({ report: sealed(own), revision: revision() }),
      bytesMax: envelopeLimits.bytesMax,
      headPatienceMs: fleetLimits.headPatienceMs,
      rate: fleetLimits.rate,
      signal: this.#stop.signal,
    })
    if (!answer.ok) {
      const { status = 0, message } = answer.error
      // Where keys have come before, their end is a fault.
      const isAbsent = revision() === 0 && [404, 405, 501].includes(status)
      return isAbsent ? ok('absent') : err(message)
    }
    if (answer.value.status === 204) return ok('unchanged')
    const letter = openEnvelope(answer.value.bytes, { node: own.name, key }, trusted(), asks.kind)
    if (!letter.ok) return err(envelopeFaults[letter.error])
    const taken = take(letter.value)
    if (!taken.ok) return taken
    log.info({ revision: letter.value.revision }, `took ${asks.what}`)
    return ok('taken')
  }
}

const envelopeFaults: Readonly<Record<EnvelopeFault, string>> = {
  malformed: 'what it sent is no envelope',
  'unknown-key': 'its envelope is signed by a key that is not in bundle.keys',
  'bad-signature': 'its envelope has a wrong signature',
  'not-for-us': 'its envelope is for another node or question',
}
