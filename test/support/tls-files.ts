// Makes certificate files for a test by openssl.
import { execFileSync } from 'node:child_process'
import { join } from 'node:path'
import type { TlsFiles } from '#server/stream/tls-certificate.ts'

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
