// Makes certificate files for a test by openssl, and what serves them.
import { execFileSync } from 'node:child_process'
import { mkdtempSync, renameSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Log } from '#lib/log.ts'
import { TlsCertificates } from '#server/tls/certificates.ts'
import { pairsIn, sourcesOf } from '#server/tls/sources.ts'
import type { TlsFiles } from '#server/tls/sources.ts'

/**
 * @param name of its subject
 * @param days of validity; below 1 it has expired
 */
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
  files: Parameters<typeof pairsIn>[1],
  log: Log,
  nowMs: () => number = Date.now,
): TlsCertificates => new TlsCertificates(sourcesOf(pairsIn('dns.tls', files)), log, nowMs)
const authority = `[ca]
default_ca = own
[own]
database = index.txt
new_certs_dir = .
serial = serial
default_md = sha256
policy = any
x509_extensions = extensions
[any]
commonName = supplied
[extensions]
`

/** The same, with an end within seconds, which `openssl req` cannot give. */
export function makeEndingTlsFiles(directory: string, name: string, endMs: number): TlsFiles {
  const folder = mkdtempSync(join(directory, 'ending-'))
  const openssl = (...args: string[]): void =>
    void execFileSync('openssl', args, { cwd: folder, stdio: 'ignore' })
  writeFileSync(join(folder, 'ca.conf'), `${authority}subjectAltName = DNS:${name}\n`)
  writeFileSync(join(folder, 'index.txt'), '')
  writeFileSync(join(folder, 'serial'), '01\n')
  const key = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes']
  openssl('req', ...key, '-keyout', 'key.pem', '-out', 'request', '-subj', `/CN=${name}`)
  const end = new Date(endMs).toISOString().replaceAll(/[-:T]|\.\d+/g, '')
  const own = ['-batch', '-notext', '-config', 'ca.conf', '-selfsign', '-keyfile', 'key.pem']
  openssl('ca', ...own, '-in', 'request', '-out', 'cert.pem', '-enddate', end)
  const files = { certFile: join(directory, 'cert.pem'), keyFile: join(directory, 'key.pem') }
  renameSync(join(folder, 'key.pem'), files.keyFile)
  renameSync(join(folder, 'cert.pem'), files.certFile)
  return files
}
