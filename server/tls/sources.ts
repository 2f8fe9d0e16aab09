// Where the certificates of a listener come from: files of its settings, and an ACME server.
import { readFileSync, statSync } from 'node:fs'

export interface TlsFiles {
  /** PEM: the certificate, then those that lead to its root. */
  readonly certFile: string
  readonly keyFile: string
}

/** The same in a list. */
export interface ListedFiles {
  readonly cert: string
  readonly key: string
}

export interface NamedFiles extends TlsFiles {
  /** The setting that names them. */
  readonly name: string
}

/** PEM. */
export interface TlsPair {
  readonly cert: string
  readonly key: string
}

/** A certificate that is in no file. */
export interface GivenCertificate {
  /** null: there is none yet. */
  readonly pair: () => TlsPair | null
  readonly onChange: (handler: () => void) => void
}

/** Where a pair comes from. */
export interface PairSource {
  /** The setting that asks for it. */
  readonly name: string
  /** For the log. */
  readonly place: Readonly<Record<string, string>>
  /** @throws Error when it cannot be read. null: there is none yet */
  readonly read: () => TlsPair | null
}

interface FileSettings {
  readonly certFile?: string | undefined
  readonly keyFile?: string | undefined
  readonly certificates?: Readonly<Record<string, ListedFiles>> | undefined
}

/** Twenty chains of ten certificates with long keys. */
const fileBytesMax = 1_000_000

/** @param key of the section of the settings */
export function filesIn(
  key: string,
  { certFile, keyFile, certificates = {} }: FileSettings,
): readonly NamedFiles[] {
  const one =
    certFile === undefined || keyFile === undefined ? [] : [{ name: key, certFile, keyFile }]
  const more = Object.entries(certificates).map(([name, { cert, key: keyPath }]) => ({
    ...{ name: `${key}.certificates.${name}`, certFile: cert, keyFile: keyPath },
  }))
  return [...one, ...more]
}

/** That of an ACME server is behind those of files, which somebody chose for their names. */
export function sourcesOf(
  key: string,
  files: readonly NamedFiles[],
  given: GivenCertificate['pair'] | undefined,
): readonly PairSource[] {
  const ofFiles = files.map(({ name, certFile, keyFile }) => ({
    ...{ name, place: { certFile, keyFile } },
    read: () => ({ cert: pemOf(certFile), key: pemOf(keyFile) }),
  }))
  if (given === undefined) return ofFiles
  return [...ofFiles, { name: `${key}.acme`, place: { from: 'acme' }, read: given }]
}

function pemOf(path: string): string {
  if (statSync(path).size > fileBytesMax) throw new Error('too large')
  return readFileSync(path, 'utf8')
}
