// The certificates of the API: from files, read again when they change, and from an ACME server.
import type { ServerTls } from '#api/server/server-tls.ts'
import type { Log } from '#lib/log.ts'
import { ok } from '#lib/result.ts'
import type { Result } from '#lib/result.ts'
import { certificateLimits } from '#server/tls/certificate.ts'
import type { CertificateStatus } from '#server/tls/certificate.ts'
import { TlsCertificates } from '#server/tls/certificates.ts'
import { pairsIn, sourcesOf } from '#server/tls/sources.ts'
import type { GivenCertificates } from '#server/tls/sources.ts'
import type { Settings } from '#settings/settings.ts'

export interface NodeApiTls extends ServerTls {
  readonly status: () => readonly CertificateStatus[]
  readonly close: () => void
}

/** null: the API speaks plain HTTP. Errors: a sentence about files that cannot be used. */
export function createApiTls(
  { tls }: Settings['api'],
  given: GivenCertificates | null,
  log: Log,
  nowMs: () => number,
): Result<NodeApiTls | null, string> {
  const sources = sourcesOf(pairsIn('api.tls', tls), given?.pairs)
  if (sources.length === 0) return ok(null)
  const certificates = new TlsCertificates(sources, log, nowMs)
  const loaded = certificates.load()
  if (!loaded.ok) return loaded
  let known = certificates.pair
  const handlers = new Set<() => void>()
  const look = (): void => {
    certificates.look()
    if (certificates.pair === known) return
    known = certificates.pair
    for (const handler of handlers) handler()
  }
  given?.onChange(look)
  const timer = setInterval(look, certificateLimits.everyMs).unref()
  return ok({
    pair: () => certificates.pair,
    byName: certificates.byName,
    onChange: (handler) => void handlers.add(handler),
    status: () => certificates.status,
    close: () => clearInterval(timer),
  })
}
