// Holds the certificates of the https listener: chosen by the name that a client asks for, read
// again when their files change, and the one that an ACME server gave.
import { X509Certificate } from 'node:crypto'
import { readFileSync, statSync } from 'node:fs'
import { createSecureContext } from 'node:tls'
import type { SecureContext } from 'node:tls'
import type { Log } from '#lib/log.ts'
import { err, ok } from '#lib/result.ts'
import type { Result } from '#lib/result.ts'
import { redirectLimits } from './limits.ts'
import type { CertificateFiles, CertificatePair } from './messages.ts'

interface Known {
  readonly cert: string
  readonly key: string
  readonly context: SecureContext
  readonly certificate: X509Certificate
}

export class ServerCertificates {
  readonly #files: readonly (readonly [name: string, files: CertificateFiles])[]
  readonly #log: Log
  readonly #known = new Map<string, Known>()
  readonly #told = new Set<string>()
  /** After those of files, which somebody chose for their names. */
  #given: Known | undefined

  constructor(files: Readonly<Record<string, CertificateFiles>>, log: Log) {
    this.#files = Object.entries(files)
    this.#log = log
  }

  /** Loads every certificate. Errors: a sentence about the first that cannot be used. */
  load(): Result<null, string> {
    for (const [name, files] of this.#files) {
      try {
        this.#known.set(name, read(files))
      } catch (error) {
        const place = `redirect.https.certificates.${name}`
        return err(`${place}: ${files.cert} with ${files.key} cannot be used: ${reasonOf(error)}`)
      }
    }
    return ok(null)
  }

  /** Reads files that have changed; when one cannot be used, its earlier certificate stays. */
  look(): void {
    for (const [name, files] of this.#files) {
      try {
        const next = read(files, this.#known.get(name))
        if (this.#known.get(name) !== next) {
          this.#log.info({ certificate: name }, 'a certificate of redirects was taken over')
        }
        this.#known.set(name, next)
        this.#told.delete(name)
      } catch (error) {
        if (this.#told.has(name)) continue
        this.#told.add(name)
        const fields = { certificate: name, ...files, reason: reasonOf(error) }
        this.#log.error(fields, 'a certificate of redirects cannot be used; the one before stays')
      }
    }
  }

  /** Takes what an ACME server gave; one that cannot be used leaves what was. */
  adopt(pair: CertificatePair): void {
    try {
      const next = knownOf(pair, this.#given)
      if (next === this.#given) return
      this.#given = next
      this.#log.info({ from: 'acme' }, 'a certificate of redirects was taken over')
    } catch (error) {
      const fields = { from: 'acme', reason: reasonOf(error) }
      this.#log.error(fields, 'a certificate of redirects cannot be used; the one before stays')
    }
  }

  /** Returns the first certificate as a TLS server takes it; without one there is no handshake. */
  first(): Partial<CertificatePair> {
    const { value: first = this.#given } = this.#known.values().next()
    return first === undefined ? {} : { cert: first.cert, key: first.key }
  }

  /** Returns the first certificate that is valid for the name, else the first of all. */
  contextFor(serverName: string): SecureContext | undefined {
    let first: Known | undefined
    for (const known of this.#known.values()) {
      first ??= known
      if (known.certificate.checkHost(serverName) !== undefined) return known.context
    }
    const given = this.#given
    if (given?.certificate.checkHost(serverName) !== undefined) return given.context
    return (first ?? given)?.context
  }
}

/** @throws Error when certificate and key do not belong together */
const read = (files: CertificateFiles, known?: Known): Known =>
  knownOf({ cert: pemOf(files.cert), key: pemOf(files.key) }, known)

/** @throws Error when certificate and key do not belong together */
function knownOf({ cert, key }: CertificatePair, known?: Known): Known {
  if (known?.cert === cert && known.key === key) return known
  return {
    cert,
    key,
    context: createSecureContext({ cert, key }),
    certificate: new X509Certificate(cert),
  }
}

function pemOf(path: string): string {
  if (statSync(path).size > redirectLimits.certificateBytesMax) throw new Error('too large')
  return readFileSync(path, 'utf8')
}

function reasonOf(error: unknown): string {
  const { code, message } = error as NodeJS.ErrnoException
  return code === undefined || code.startsWith('ERR_') ? message : code
}
