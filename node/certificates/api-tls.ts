// The certificate of the API: from files, read again when they change, or from an ACME server.
import type { ServerTls } from '#api/server/server-tls.ts'
import type { Log } from '#lib/log.ts'
import { ok } from '#lib/result.ts'
import type { Result } from '#lib/result.ts'
import {
  certificateLimits,
  fromAcme,
  fromFiles,
  TlsCertificate,
} from '#server/stream/tls-certificate.ts'
import type { CertificateStatus, GivenCertificate } from '#server/stream/tls-certificate.ts'
import type { Settings } from '#settings/settings.ts'

export interface NodeApiTls extends ServerTls {
  readonly status: () => CertificateStatus
  readonly close: () => void
}

/** null: the API speaks plain HTTP. Errors: a sentence about files that cannot be used. */
export function createApiTls(
  { tls }: Settings['api'],
  given: GivenCertificate | null,
  log: Log,
  nowMs: () => number,
): Result<NodeApiTls | null, string> {
  const { certFile, keyFile, acme } = tls
  const key = 'api.tls'
  const source =
    acme && given !== null
      ? fromAcme(given.pair, key)
      : certFile !== undefined && keyFile !== undefined
        ? fromFiles({ certFile, keyFile }, key)
        : undefined
  if (source === undefined) return ok(null)
  const certificate = new TlsCertificate(source, log, nowMs)
  const loaded = certificate.load()
  if (!loaded.ok) return loaded
  let known = certificate.pair
  const handlers = new Set<() => void>()
  const look = (): void => {
    certificate.look()
    if (certificate.pair === known) return
    known = certificate.pair
    for (const handler of handlers) handler()
  }
  if (acme) given?.onChange(look)
  const timer = setInterval(look, certificateLimits.everyMs).unref()
  return ok({
    pair: () => certificate.pair,
    onChange: (handler) => void handlers.add(handler),
    status: () => certificate.status,
    close: () => clearInterval(timer),
  })
}
