// The copy of all keys in the data directory, encrypted, so that a node signs without the database
// or the control node that it has them from.
import { readFileSync, statSync } from 'node:fs'
import { writeDurably } from '#lib/durable-file.ts'
import type { Log } from '#lib/log.ts'
import { seal, unseal } from '#lib/secret-box.ts'
import { keySetLimits, printKeySet, readKeySet } from './key-set.ts'
import type { KeySet } from './key-set.ts'

/** In the data directory. */
export const keyCopyFile = 'zone-keys.copy'

export interface KeyCopy {
  /** undefined: there is none that can be read. */
  readonly read: () => KeySet | undefined
  /** What cannot be written is said in the log. */
  readonly write: (set: KeySet) => void
}

/** Sealed, three octets are four letters. */
const fileBytesMax = keySetLimits.bytesMax * 1.5

/** @param key 32 octets that are in no file of the data directory */
export function createKeyCopy(path: string, key: Uint8Array, log: Log): KeyCopy {
  const read = (): KeySet | undefined => {
    const size = statSync(path, { throwIfNoEntry: false })?.size
    if (size === undefined) return undefined
    if (size > fileBytesMax) throw new Error(`it has ${size} octets`)
    const opened = unseal(key, readFileSync(path, 'utf8').trim())
    if (!opened.ok) throw new Error('it is damaged, or was sealed under another secret')
    const set = readKeySet(opened.value)
    if (!set.ok) throw new Error(set.error)
    return set.value
  }
  return {
    read: () => {
      try {
        return read()
      } catch (error) {
        log.warn({ file: path, reason: (error as Error).message }, unread)
        return undefined
      }
    },
    write: (set) => {
      try {
        writeDurably(path, `${seal(key, printKeySet(set))}\n`, 0o600)
      } catch (error) {
        const { code = '' } = error as NodeJS.ErrnoException
        log.warn({ file: path, code }, 'the copy of the keys of zones cannot be written')
      }
    },
  }
}

const unread = 'the copy of the keys of zones is not used: they have to come from elsewhere'
