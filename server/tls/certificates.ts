// The certificates of a listener, chosen by the name that a client asks for (SNI, RFC 6066
// section 3).
import type { SecureContext } from 'node:tls'
import type { Log } from '#lib/log.ts'
import { ok } from '#lib/result.ts'
import type { Result } from '#lib/result.ts'
import { TlsCertificate } from './certificate.ts'
import type { CertificateStatus } from './certificate.ts'
import type { PairSource, TlsPair } from './sources.ts'

type ByName = (
  serverName: string,
  done: (error: Error | null, context?: SecureContext) => void,
) => void

export class TlsCertificates {
  readonly #all: readonly TlsCertificate[]
  /** For a server's SNICallback; undefined: there is nothing to choose from. */
  readonly byName: ByName | undefined

  constructor(sources: readonly PairSource[], log: Log, nowMs: () => number) {
    this.#all = sources.map((source) => new TlsCertificate(source, log, nowMs))
    if (sources.length > 1) this.byName = (name, done) => done(null, this.contextFor(name))
  }

  /**
   * Loads every certificate. Errors: a sentence about the first that cannot be used; the others
   * serve.
   */
  load(): Result<null, string> {
    const loaded = this.#all.map((one) => one.load())
    return loaded.find(({ ok: isLoaded }) => !isLoaded) ?? ok(null)
  }

  /** Takes over what has changed; a certificate that cannot be used leaves what was. */
  look(): void {
    for (const one of this.#all) one.look()
  }

  /** The default, for clients that name nothing or what is unknown; undefined: there is none. */
  get pair(): TlsPair | undefined {
    return this.#first?.pair
  }

  /** With the default, for connections that begin now; undefined: there is none. */
  get context(): SecureContext | undefined {
    return this.#first?.context
  }

  /** Returns the first certificate that is for the name; undefined: the default is to be shown. */
  contextFor(serverName: string): SecureContext | undefined {
    return this.#all.find((one) => one.isFor(serverName))?.context
  }

  get status(): readonly CertificateStatus[] {
    return this.#all.map(({ status }) => status)
  }

  get #first(): TlsCertificate | undefined {
    return this.#all.find(({ context }) => context !== undefined)
  }
}
