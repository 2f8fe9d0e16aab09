// The key files of a node in the form of BIND. The private halves are sealed if the node has a key
// for secrets.
import { mkdirSync, readdirSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { bindKeyFiles, readBindKey, zoneOfKeyFile } from '#dns/dnssec/key-files.ts'
import type { BindKey, KeyOfZone } from '#dns/dnssec/key-files.ts'
import { recordsOfBind } from '#dns/dnssec/imported-keys.ts'
import type { KeyRecord, KeyTimes } from '#dns/dnssec/key-record.ts'
import { foldName, formatName } from '#dns/name.ts'
import { writeDurably } from '#lib/durable-file.ts'
import { err, ok } from '#lib/result.ts'
import type { Result } from '#lib/result.ts'
import { isSealed, seal, unseal } from '#lib/secret-box.ts'
import { getOrInsert } from '#lib/sequence/get-or-insert.ts'
import { keyCopyFile, readKeyCopy } from './key-copy.ts'
import { byZone } from './key-set.ts'

/** Inside the data directory. */
export const keyFolder = 'dnssec'

export interface StoredKeys {
  /** By name, in lower case with the trailing dot. */
  readonly found: ReadonlyMap<string, KeyOfZone>
  /** A sentence why there is none. */
  readonly faults: ReadonlyMap<string, string>
}

/** A zone has a few files; files beyond this many are ignored. */
const filesMax = 100_000

/**
 * @param secretKey of GSLB_SECRET_KEY; null: not set
 * @throws the error of a directory that is there and cannot be read
 */
export function readStoredKeys(directory: string, secretKey: Uint8Array | null): StoredKeys {
  const found = new Map<string, KeyOfZone>()
  const faults = new Map<string, string>()
  for (const file of keyFilesIn(directory)) {
    const name = zoneOfKeyFile(file)
    const path = join(directory, file)
    const read = readPair(path, secretKey)
    if (!read.ok) {
      faults.set(name, `${path}: ${read.error}`)
    } else if (found.has(name)) {
      faults.set(name, `${directory} has two keys of ${name}: move the one away that is not used`)
    } else {
      found.set(formatName(foldName(read.value.zone)), read.value)
    }
  }
  // Doubtful keys sign nothing.
  for (const name of faults.keys()) found.delete(name)
  return { found, faults }
}

export interface StoredRecords {
  /** By zone, in the order in which they were made. */
  readonly found: ReadonlyMap<string, readonly KeyRecord[]>
  readonly faults: ReadonlyMap<string, string>
}

/**
 * Reads all keys of each zone, as BIND and `gslbd dnssec import` leave them, with their past times.
 * Future times in the files are ignored: the policy of the zone decides about the future.
 *
 * @throws the error of a directory that is there and cannot be read
 */
export function readStoredRecords(
  directory: string,
  secretKey: Uint8Array | null,
  nowMs: number,
): StoredRecords {
  const keys = new Map<string, BindKey[]>()
  const faults = new Map<string, string>()
  for (const file of keyFilesIn(directory)) {
    const name = zoneOfKeyFile(file)
    const path = join(directory, file)
    const read = readPair(path, secretKey)
    if (!read.ok) faults.set(name, `${path}: ${read.error}`)
    else getOrInsert(keys, name, () => []).push(read.value)
  }
  const found = new Map<string, readonly KeyRecord[]>()
  for (const [name, ofZone] of keys) {
    if (!faults.has(name)) found.set(name, recordsOfBind(ofZone, nowMs))
  }
  return { found, faults }
}

/** The secrets that open keys in a data directory; null: not set. */
export interface KeySecrets {
  /** Opens files. */
  readonly secretKey: Uint8Array | null
  /** Opens the copy: `secretKey` on a control node. */
  readonly copyKey: Uint8Array | null
}

/**
 * Keys in the copy that a node has of its database, or of what it was sent, go before files.
 *
 * Errors: a sentence; where the copy cannot be read, nobody can say which keys are in use.
 */
export function readAllKeys(
  dataDir: string,
  { secretKey, copyKey }: KeySecrets,
  nowMs: number,
): Result<StoredRecords, string> {
  const files = readStoredRecords(join(dataDir, keyFolder), secretKey, nowMs)
  const path = join(dataDir, keyCopyFile)
  const copied = readKeyCopy(path, copyKey)
  if (!copied.ok) {
    return err(
      `${path} has the keys that the node signs with, and cannot be read: ${copied.error}. ` +
        'Call this with the environment of the node (GSLB_SECRET_KEY; where it has the role ' +
        'dns alone, the tokens as well)',
    )
  }
  const [found, faults] = [new Map(files.found), new Map(files.faults)]
  for (const [zone, records] of byZone(copied.value?.records ?? [])) {
    found.set(zone, records)
    faults.delete(zone)
  }
  return ok({ found, faults })
}

/** @returns paths of unsealed private halves that other users can read */
export function exposedKeys(directory: string): readonly string[] {
  const paths = keyFilesIn(directory).map((name) =>
    join(directory, name.replace(/key$/, 'private')),
  )
  return paths.filter((path) => {
    const mode = statSync(path, { throwIfNoEntry: false })?.mode ?? 0
    return (mode & 0o077) !== 0 && !isSealed(readFileSync(path, 'utf8').trim())
  })
}

function keyFilesIn(directory: string): string[] {
  try {
    const all = readdirSync(directory).filter((name) => zoneOfKeyFile(name) !== '')
    return all.sort().slice(0, filesMax)
  } catch (error) {
    // The directory appears with the first key.
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return []
    throw error
  }
}

function readPair(path: string, secretKey: Uint8Array | null): Result<BindKey, string> {
  try {
    const record = readFileSync(path, 'utf8')
    const secret = opened(readFileSync(path.replace(/key$/, 'private'), 'utf8'), secretKey)
    return secret.ok ? readBindKey(record, secret.value) : secret
  } catch (error) {
    return err(error instanceof Error ? error.message : String(error))
  }
}

function opened(text: string, secretKey: Uint8Array | null): Result<string, string> {
  if (text.startsWith('Private-key-format')) return ok(text)
  if (!isSealed(text.trim())) return err('the .private file is no private key, sealed or not')
  if (secretKey === null) return err('the private key is sealed, and GSLB_SECRET_KEY is not set')
  const plain = unseal(secretKey, text.trim())
  return plain.ok ? plain : err('GSLB_SECRET_KEY is not the one that the private key was sealed by')
}

/**
 * @param times or the moment from which it is used
 * @returns the path of the public half
 */
export function storeKey(
  directory: string,
  key: KeyOfZone,
  secretKey: Uint8Array | null,
  times: number | KeyTimes,
): string {
  mkdirSync(directory, { recursive: true, mode: 0o700 })
  const { stem, record, secret } = bindKeyFiles(key, times)
  const path = join(directory, stem)
  const kept = secretKey === null ? secret : `${seal(secretKey, secret)}\n`
  // The private half first: the public one alone is no key.
  writeDurably(`${path}.private`, kept, 0o600)
  writeDurably(`${path}.key`, record, 0o644)
  return `${path}.key`
}
