// The encrypted copy of all keys in the data directory: with it a node signs without the database
// or the control node that they came from.
import { existsSync, readFileSync } from 'node:fs'
import { writeDurably } from '#lib/durable-file.ts'
import type { KeyRecord } from '#dns/dnssec/key-record.ts'
import type { Log } from '#lib/log.ts'
import { ok } from '#lib/result.ts'
import type { Result } from '#lib/result.ts'
import { readSealedFile, writeSealedFile } from '#lib/secret-box.ts'
import { keySetLimits, printKeySet, readKeySet } from './key-set.ts'
import type { KeySet } from './key-set.ts'

/** In the data directory. */
export const keyCopyFile = 'zone-keys.copy'

export interface KeyCopy {
  /** undefined: there is no readable copy. */
  readonly read: () => KeySet | undefined
  /** Whether there is a copy, even an unreadable one. */
  readonly isThere: () => boolean
  /** Failures are logged. */
  readonly write: (set: KeySet) => void
}

/** Sealing turns three octets into four letters. */
const fileBytesMax = keySetLimits.bytesMax * 1.5

/**
 * @param key null: the secret that it comes from is not set
 * @returns null: there is no copy. Errors: a sentence without its full stop
 */
export function readKeyCopy(path: string, key: Uint8Array | null): Result<KeySet | null, string> {
  const text = readSealedFile(path, key, fileBytesMax)
  if (!text.ok) return text
  return text.value === null ? ok(null) : readKeySet(text.value)
}

/** @param key 32 octets that are in no file of the data directory */
export function createKeyCopy(path: string, key: Uint8Array, log: Log): KeyCopy {
  let last: KeySet | undefined
  return {
    read: () => {
      const set = readKeyCopy(path, key)
      if (set.ok) return (last = set.value ?? undefined)
      log.warn({ file: path, reason: set.error }, unread)
      return undefined
    },
    isThere: () => existsSync(path),
    write: (set) => {
      try {
        // A key that is dropped by mistake could not be restored.
        if (isAnyLost(last, set) && existsSync(path)) {
          writeDurably(`${path}.before`, readFileSync(path), 0o600)
        }
        last = set
        writeSealedFile(path, key, printKeySet(set))
      } catch (error) {
        const { code = '' } = error as NodeJS.ErrnoException
        log.warn({ file: path, code }, 'the copy of the keys of zones cannot be written')
      }
    },
  }
}

/** @param before undefined: the copy that is there cannot be read */
function isAnyLost(before: KeySet | undefined, after: KeySet): boolean {
  const kept = new Set(after.records.map(identity))
  return before?.records.every((record) => kept.has(identity(record))) !== true
}

const identity = ({ zone, publicKey }: KeyRecord): string =>
  `${zone} ${Buffer.from(publicKey).toString('base64')}`

const unread = 'the copy of the keys of zones is not used: they have to come from elsewhere'
