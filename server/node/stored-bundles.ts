// Chooses a stored bundle: at the start, and when the serving one crashes threads.
import type { Bundle } from '#bundle/format/bundle.ts'
import { verifyChannelRecord } from '#bundle/signature/channel.ts'
import type { ChannelRecord, SignedChannelRecord, TrustedKey } from '#bundle/signature/channel.ts'
import type { Log } from '#lib/log.ts'
import { err, ok } from '#lib/result.ts'
import type { Result } from '#lib/result.ts'
import type { BundleStore, StoredName } from './bundle-store.ts'
import { refusalSentences } from './refusals.ts'
import { servableBundle } from './verify-bundle.ts'

export interface StoredBundlesParts {
  readonly store: BundleStore
  readonly trusted: readonly TrustedKey[]
  readonly log: Log
  /**
   * Called with every valid record, even when its bundle is damaged: an older publication stays a
   * rollback.
   */
  readonly onRecord: (record: ChannelRecord) => void
}

interface BootParts extends StoredBundlesParts {
  /** false: this node answers no queries, so a missing bundle need not be logged. */
  readonly isAnswering: boolean
}

/** The parts needed to read a stored bundle. */
interface StoredReader extends Pick<StoredBundlesParts, 'trusted' | 'onRecord'> {
  readonly store: Pick<BundleStore, 'record' | 'bundle' | 'quarantine'>
}

export interface StoredBundle {
  readonly record: ChannelRecord
  readonly signed: SignedChannelRecord
  readonly bundle: Bundle
}

/**
 * Serves the last good bundle; when there is none, logs why.
 *
 * @param serve when it throws it has served nothing, and the bundle before is tried
 */
export function bootBundle(parts: BootParts, serve: (stored: StoredBundle) => void): void {
  const { log } = parts
  for (const name of ['active', 'previous'] as const) {
    const stored = readStored(parts, name)
    if (stored === undefined) continue
    if (!stored.ok) {
      log.error({ bundle: name }, `the stored ${name} bundle is not used: ${stored.error}`)
      continue
    }
    try {
      serve(stored.value)
    } catch (error) {
      log.error({ bundle: name, err: error }, `gslbd failed on the stored ${name} bundle${report}`)
      continue
    }
    const { seq, digest, commit } = stored.value.record
    log.info({ seq, digest, commit }, `serving the ${name} bundle from disk`)
    return
  }
  if (parts.isAnswering) log.info({}, 'no bundle on disk; every query is refused until one arrives')
}

export const withoutBundle =
  'this version can serve none of the stored bundles, and the process before answers from one; ' +
  'the log says what is wrong with them'
const report = ', which is a mistake of gslbd: please report it'

/**
 * Puts a bundle into quarantine.
 *
 * @returns the bundle to serve in its place; undefined: there is none, and the bad one stays
 */
export function replaceBad(
  parts: StoredBundlesParts,
  bad: ChannelRecord,
  error: Error,
): StoredBundle | undefined {
  const { store, log } = parts
  const previous = readStored(parts, 'previous')
  if (previous?.ok !== true || previous.value.record.digest === bad.digest) return undefined
  try {
    store.addToQuarantine(bad.digest, `threads died under it: ${error.message}`)
  } catch (fault) {
    log.error({ err: fault }, 'the quarantine cannot be written')
  }
  log.error(
    { digest: bad.digest },
    'bundle quarantined after repeated crashes; serving the previous one',
  )
  return previous.value
}

/**
 * Reads a stored bundle by its name.
 *
 * @returns undefined when there is none. Errors: a part of a sentence
 */
export function readStored(
  { store, trusted, onRecord }: StoredReader,
  name: StoredName,
): Result<StoredBundle, string> | undefined {
  const value = store.record(name)
  if (value === undefined) return undefined
  const record = verifyChannelRecord(value, trusted)
  if (!record.ok) return err(refusalSentences[record.error])
  const { digest } = record.value
  onRecord(record.value)
  const quarantined = store.quarantine()[digest]
  if (quarantined !== undefined) return err(`it is in quarantine: ${quarantined}`)
  const bytes = store.bundle(digest)
  if (!bytes.ok) return bytes
  const bundle = servableBundle(bytes.value, record.value, trusted)
  if (!bundle.ok) return err(bundle.error.message)
  return ok({ record: record.value, signed: value as SignedChannelRecord, bundle: bundle.value })
}
