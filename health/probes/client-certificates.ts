// Loads the client certificates of the settings for TLS, and reloads them when they are renewed.
import { readFileSync, statSync } from 'node:fs'
import { createSecureContext } from 'node:tls'
import type { SecureContext } from 'node:tls'
import type { Clock } from '#lib/clock.ts'
import type { Log } from '#lib/log.ts'
import { err, ok } from '#lib/result.ts'
import type { Result } from '#lib/result.ts'
import { healthLimits } from '#health/limits.ts'
import type { ClientCertificateFiles, ProbeSettings } from './probe-settings.ts'

interface Known {
  readonly atMs: number
  /** Text of both files; empty: they could not be read. */
  readonly pem: string
  readonly context: Result<SecureContext, string>
}

export class ClientCertificates {
  readonly #files: ReadonlyMap<string, ClientCertificateFiles>
  readonly #clock: Clock
  readonly #log: Log
  readonly #known = new Map<string, Known>()
  #plain: SecureContext | undefined

  constructor(settings: Pick<ProbeSettings, 'clientCertificates'>, clock: Clock, log: Log) {
    this.#files = new Map(Object.entries(settings.clientCertificates))
    this.#clock = clock
    this.#log = log
  }

  /**
   * @param name empty: no certificate
   *
   * @returns else why this node has none, for people
   */
  contextOf(name: string): Result<SecureContext, string> {
    // Shared: each context of its own would load the root certificates again.
    if (name === '') return ok((this.#plain ??= createSecureContext()))
    const files = this.#files.get(name)
    if (files === undefined) return err(`this node has no client certificate "${name}"`)
    const known = this.#known.get(name)
    const nowMs = this.#clock.monotonicMs()
    if (known !== undefined && nowMs - known.atMs < healthLimits.clientCertificateMs)
      return known.context
    const next = { ...this.#load(name, files, known), atMs: nowMs }
    this.#known.set(name, next)
    return next.context
  }

  #load(name: string, files: ClientCertificateFiles, known?: Known): Omit<Known, 'atMs'> {
    let pem = ''
    try {
      const [cert, key] = [pemOf(files.cert), pemOf(files.key)]
      pem = `${cert}\0${key}`
      if (known?.pem === pem) return known
      return { pem, context: ok(createSecureContext({ cert, key })) }
    } catch (error) {
      // The file is being replaced: the earlier certificate stays in use.
      if (known?.context.ok === true) return known
      const { code, message } = error as NodeJS.ErrnoException
      const fields = { clientCertificate: name, ...files, reason: code ?? message }
      if (known?.pem !== pem || known.context.ok)
        this.#log.error(fields, 'a client certificate for health checks cannot be used')
      return { pem, context: err(`this node cannot use its client certificate "${name}"`) }
    }
  }
}

function pemOf(path: string): string {
  if (statSync(path).size > healthLimits.clientCertificateBytesMax) throw new Error('too large')
  return readFileSync(path, 'utf8')
}
