// The certificate of DNS over TLS: read from files, and read again when they change.
import { X509Certificate } from 'node:crypto'
import { readFileSync, statSync } from 'node:fs'
import { createSecureContext } from 'node:tls'
import type { SecureContext } from 'node:tls'
import type { Log } from '#lib/log.ts'
import { err, ok } from '#lib/result.ts'
import type { Result } from '#lib/result.ts'

export interface TlsFiles {
  /** PEM: the certificate, then those that lead to its root. */
  readonly certFile: string
  readonly keyFile: string
}

export interface CertificateStatus {
  /** Why the files cannot be used, so that the pair before serves; null: they are in use. */
  readonly fault: string | null
  readonly expiresAtMs: number
  /** It has expired, or will soon. */
  readonly isEnding: boolean
}

export const certificateLimits = Object.freeze({
  /** A chain of ten certificates with long keys. */
  fileBytesMax: 256 * 1024,
  everyMs: 10_000,
  /** From then on the log and the health of the node say that it ends. */
  warnMs: 14 * 86_400_000,
})

interface Pair {
  readonly cert: string
  readonly key: string
  readonly context: SecureContext
  readonly expiresAtMs: number
}

export class TlsCertificate {
  readonly #files: TlsFiles
  readonly #log: Log
  readonly #nowMs: () => number
  #pair: Pair | undefined
  #fault: string | null = null
  /** What the log was told of its end. */
  #told = ''

  constructor(files: TlsFiles, log: Log, nowMs: () => number) {
    this.#files = files
    this.#log = log
    this.#nowMs = nowMs
  }

  /** Errors: a sentence for the operator. */
  load(): Result<null, string> {
    try {
      this.#pair = this.#read()
    } catch (error) {
      const { certFile, keyFile } = this.#files
      this.#fault = reasonOf(error)
      return err(`dns.tls: ${certFile} with ${keyFile} cannot be used: ${reasonOf(error)}`)
    }
    this.#tellEnd()
    return ok(null)
  }

  /** Takes over what has changed; files that cannot be used leave what was. */
  look(): void {
    try {
      const next = this.#read()
      if (next !== this.#pair) this.#log.info({ ...this.#files }, taken)
      this.#pair = next
      this.#fault = null
    } catch (error) {
      const reason = reasonOf(error)
      if (this.#fault !== reason)
        this.#log.error({ ...this.#files, reason }, this.#pair ? kept : none)
      this.#fault = reason
    }
    this.#tellEnd()
  }

  /** For connections that begin now; undefined: nothing was loaded. */
  get context(): SecureContext | undefined {
    return this.#pair?.context
  }

  get status(): CertificateStatus {
    const expiresAtMs = this.#pair?.expiresAtMs ?? 0
    return { fault: this.#fault, expiresAtMs, isEnding: this.#told !== '' }
  }

  #tellEnd(): void {
    if (this.#pair === undefined) return
    const { expiresAtMs } = this.#pair
    const leftMs = expiresAtMs - this.#nowMs()
    const is = leftMs <= 0 ? 'over' : leftMs <= certificateLimits.warnMs ? 'near' : ''
    const told = is === '' ? '' : `${is} ${expiresAtMs}`
    if (told === this.#told) return
    this.#told = told
    const fields = { ...this.#files, expires: new Date(expiresAtMs).toISOString() }
    if (is === 'over') this.#log.error(fields, 'the certificate of dns.tls has expired')
    else if (is === 'near') this.#log.warn(fields, 'the certificate of dns.tls expires soon')
  }

  /** @throws Error when they are no pair */
  #read(): Pair {
    const [cert, key] = [pemOf(this.#files.certFile), pemOf(this.#files.keyFile)]
    const known = this.#pair
    if (known?.cert === cert && known.key === key) return known
    // A context has the keys of its session tickets: sessions end with the certificate.
    const context = createSecureContext({ cert, key, sessionIdContext: 'dns' })
    return { cert, key, context, expiresAtMs: new X509Certificate(cert).validToDate.getTime() }
  }
}

const taken = 'the certificate of dns.tls was taken over'
const none = 'the certificate of dns.tls cannot be used; no client is answered over TLS'
const kept = 'the certificate of dns.tls cannot be used; the one before serves'

function pemOf(path: string): string {
  if (statSync(path).size > certificateLimits.fileBytesMax) throw new Error('too large')
  return readFileSync(path, 'utf8')
}

function reasonOf(error: unknown): string {
  const { code, message } = error as NodeJS.ErrnoException
  return code === undefined || code.startsWith('ERR_') ? message : code
}
