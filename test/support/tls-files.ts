// Makes certificate files for a test by openssl, and what serves them.
import { execFileSync } from 'node:child_process'
import { join } from 'node:path'
import type { Log } from '#lib/log.ts'
import { TlsCertificates } from '#server/tls/certificates.ts'
import { filesIn, sourcesOf } from '#server/tls/sources.ts'
import type { TlsFiles } from '#server/tls/sources.ts'

/** @param name of its subject @param days of validity; below 1 it has expired */
export function makeTlsFiles(directory: string, name: string, days = 90): TlsFiles {
  const files = { certFile: join(directory, 'cert.pem'), keyFile: join(directory, 'key.pem') }
  const key = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes']
  const out = ['-keyout', files.keyFile, '-out', files.certFile]
  const about = ['-subj', `/CN=${name}`, '-addext', `subjectAltName=DNS:${name}`]
  execFileSync('openssl', ['req', '-x509', ...key, ...out, '-days', String(days), ...about], {
    stdio: 'ignore',
  })
  return files
}

/** The certificates of DNS over TLS, as a listener has them. */
export const certificatesFrom = (
  files: Parameters<typeof filesIn>[1],
  log: Log,
  nowMs: () => number = Date.now,
): TlsCertificates =>
  new TlsCertificates(sourcesOf('dns.tls', filesIn('dns.tls', files), undefined), log, nowMs)
