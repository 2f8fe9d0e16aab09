// Where the certificates of a listener come from: files of its settings, and an ACME server.
import { readFileSync, statSync } from 'node:fs'

export interface TlsFiles {
  /** PEM: the certificate, then those that lead to its root. */
  readonly certFile: string
  readonly keyFile: string
}

/** One of a list: files, or an entry of `acme.certificates`. */
export type ListedPair = { readonly cert: string; readonly key: string } | { readonly acme: string }

interface NamedFiles extends TlsFiles {
  /** The setting that names them. */
  readonly name: string
}

/** What an ACME server gives. */
interface NamedGiven {
  readonly name: string
  /** A key of `acme.certificates`; '': the certificate of `acme.names`. */
  readonly entry: string
}

/** A certificate that a listener uses. */
export type NamedPair = NamedFiles | NamedGiven

/** PEM. */
export interface TlsPair {
  readonly cert: string
  readonly key: string
}

/** What there is of an ACME server, by entries of `acme.certificates`; '': of `acme.names`. */
export type GivenPairs = Readonly<Record<string, TlsPair>>

/** Certificates that are in no file. */
export interface GivenCertificates {
  readonly pairs: () => GivenPairs
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

interface TlsSettings {
  readonly certFile?: string | undefined
  readonly keyFile?: string | undefined
  readonly certificates?: Readonly<Record<string, ListedPair>> | undefined
  readonly acme?: boolean | undefined
}

/** Twenty chains of ten certificates with long keys. */
const fileBytesMax = 1_000_000

/**
 * In the order in which they are tried for a name: that of `acme.names` is behind those that
 * somebody chose for their names.
 *
 * @param key of the section of the settings
 */
export function pairsIn(
  key: string,
  { certFile, keyFile, certificates = {}, acme = false }: TlsSettings,
): readonly NamedPair[] {
  const one =
    certFile === undefined || keyFile === undefined ? [] : [{ name: key, certFile, keyFile }]
  const more = Object.entries(certificates).map(([name, listed]) => ({
    name: `${key}.certificates.${name}`,
    ...('acme' in listed ? { entry: listed.acme } : { certFile: listed.cert, keyFile: listed.key }),
  }))
  return [...one, ...more, ...(acme ? [{ name: `${key}.acme`, entry: '' }] : [])]
}

/** The same of files alone. */
export const filesIn = (key: string, settings: TlsSettings): readonly NamedFiles[] =>
  pairsIn(key, settings).flatMap((pair) => ('entry' in pair ? [] : [pair]))

/** Entries of `acme.certificates` that are used. */
export const entriesIn = (pairs: readonly NamedPair[]): readonly string[] =>
  pairs.flatMap((pair) => ('entry' in pair ? [pair.entry] : []))

export const sourcesOf = (
  pairs: readonly NamedPair[],
  given: () => GivenPairs = () => ({}),
): readonly PairSource[] =>
  pairs.map((pair) => {
    if ('entry' in pair) {
      const { name, entry } = pair
      return {
        name,
        place: { from: 'acme', ...(entry && { entry }) },
        read: () => ownOf(given(), entry),
      }
    }
    const { name, certFile, keyFile } = pair
    const read = () => ({ cert: pemOf(certFile), key: pemOf(keyFile) })
    return { name, place: { certFile, keyFile }, read }
  })

const ownOf = (pairs: GivenPairs, entry: string): TlsPair | null =>
  Object.hasOwn(pairs, entry) ? (pairs[entry] ?? null) : null

function pemOf(path: string): string {
  if (statSync(path).size > fileBytesMax) throw new Error('too large')
  return readFileSync(path, 'utf8')
}
