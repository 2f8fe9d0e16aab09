// One certificate of what listens with TLS: taken from its source, and again when that changes.
import { X509Certificate } from 'node:crypto'
import { createSecureContext } from 'node:tls'
import type { SecureContext } from 'node:tls'
import type { Log } from '#lib/log.ts'
import { err, ok } from '#lib/result.ts'
import type { Result } from '#lib/result.ts'
import type { PairSource, TlsPair } from './sources.ts'

export interface CertificateStatus {
  /** The setting that it is of. */
  readonly name: string
  /** Why the newest pair cannot be used, so that the one before serves; null: it is in use. */
  readonly fault: string | null
  readonly expiresAtMs: number
  /** It has expired, or will soon. */
  readonly isEnding: boolean
}

export const certificateLimits = Object.freeze({
  /** How often files are looked at. */
  everyMs: 10_000,
  /** From then on, or the last quarter of its time, log and health of the node say that it ends. */
  warnMs: 14 * 86_400_000,
})

interface Pair extends TlsPair {
  readonly certificate: X509Certificate
  readonly context: SecureContext
  readonly expiresAtMs: number
  /** How long before its end that is said. */
  readonly warnMs: number
}

export class TlsCertificate {
  readonly #source: PairSource
  readonly #log: Log
  readonly #nowMs: () => number
  #pair: Pair | undefined
  #fault: string | null = null
  /** What the log was told of its end. */
  #logged = ''

  constructor(source: PairSource, log: Log, nowMs: () => number) {
    this.#source = source
    this.#log = log
    this.#nowMs = nowMs
  }

  /** Errors: a sentence for the operator. One that comes later is none. */
  load(): Result<null, string> {
    const { name, place } = this.#source
    try {
      this.#pair = this.#read()
    } catch (error) {
      this.#fault = reasonOf(error)
      const what = Object.values(place).join(' with ')
      return err(`${name}: ${what} cannot be used: ${reasonOf(error)}`)
    }
    this.#fault = this.#pair === undefined ? noneYet : null
    if (this.#pair === undefined) this.#log.warn(place, `${name}: ${noneYet}`)
    this.#tellEnd()
    return ok(null)
  }

  /** Takes over what has changed; a pair that cannot be used leaves what was. */
  look(): void {
    const { name, place } = this.#source
    try {
      const next = this.#read()
      // What has served goes on, whatever became of its source.
      if (next === undefined) return
      if (next !== this.#pair) this.#refuseOutOfTime(next)
      if (next !== this.#pair) this.#log.info(place, `the certificate of ${name} ${taken}`)
      this.#pair = next
      this.#fault = null
    } catch (error) {
      const reason = reasonOf(error)
      if (this.#fault !== reason) {
        const what = `the certificate of ${name} cannot be used; ${this.#pair ? kept : none}`
        this.#log.error({ ...place, reason }, what)
      }
      this.#fault = reason
    }
    this.#tellEnd()
  }

  /** PEM of what serves; undefined: nothing was loaded. */
  get pair(): TlsPair | undefined {
    return this.#pair
  }

  /** For connections that begin now; undefined: nothing was loaded. */
  get context(): SecureContext | undefined {
    return this.#pair?.context
  }

  /** Whether it is for that name, by itself or by a wildcard. */
  isFor(serverName: string): boolean {
    return this.#pair?.certificate.checkHost(serverName) !== undefined
  }

  get status(): CertificateStatus {
    const expiresAtMs = this.#pair?.expiresAtMs ?? 0
    const { name } = this.#source
    return { name, fault: this.#fault, expiresAtMs, isEnding: this.#logged !== '' }
  }

  /**
   * A pair that clients refuse replaces none that they take.
   *
   * @throws Error that says so
   */
  #refuseOutOfTime(next: Pair): void {
    const nowMs = this.#nowMs()
    const isValid = ({ certificate: { validFromDate, validToDate } }: Pair): boolean =>
      validFromDate.getTime() <= nowMs && nowMs < validToDate.getTime()
    if (this.#pair === undefined || !isValid(this.#pair) || isValid(next)) return
    const { validFrom, validTo } = next.certificate
    throw new Error(`it is valid from ${validFrom} to ${validTo} alone`)
  }

  #tellEnd(): void {
    if (this.#pair === undefined) return
    const { expiresAtMs, warnMs } = this.#pair
    const leftMs = expiresAtMs - this.#nowMs()
    const is = leftMs <= 0 ? 'over' : leftMs <= warnMs ? 'near' : ''
    const state = is === '' ? '' : `${is} ${expiresAtMs}`
    if (state === this.#logged) return
    this.#logged = state
    const { name, place } = this.#source
    const fields = { ...place, expires: new Date(expiresAtMs).toISOString() }
    if (is === 'over') this.#log.error(fields, `the certificate of ${name} has expired`)
    else if (is === 'near') this.#log.warn(fields, `the certificate of ${name} expires soon`)
  }

  /** @throws Error when they are no pair. undefined: there is none yet */
  #read(): Pair | undefined {
    const found = this.#source.read()
    if (found === null) return undefined
    const { cert, key } = found
    const known = this.#pair
    if (known?.cert === cert && known.key === key) return known
    // A context has the keys of its session tickets: sessions end with the certificate.
    const context = createSecureContext({ cert, key, sessionIdContext: 'dns' })
    const certificate = new X509Certificate(cert)
    const { validFromDate, validToDate } = certificate
    const expiresAtMs = validToDate.getTime()
    const lifeMs = expiresAtMs - validFromDate.getTime()
    const warnMs = Math.min(certificateLimits.warnMs, lifeMs / 4)
    return { cert, key, certificate, context, expiresAtMs, warnMs }
  }
}

const noneYet = 'there is no certificate yet'
const taken = 'was taken over'
const none = 'no client is shown it'
const kept = 'the one before serves'

function reasonOf(error: unknown): string {
  const { code, message } = error as NodeJS.ErrnoException
  return code === undefined || code.startsWith('ERR_') ? message : code
}
