// A copy of keys and records in the data directory, so that a node starts without the database.
// Sealed under GSLB_SECRET_KEY where there is one; secrets of keys are sealed in any case.
import { readFileSync, statSync } from 'node:fs'
import { writeDurably } from '#lib/durable-file.ts'
import type { Log } from '#lib/log.ts'
import { seal, unseal } from '#lib/secret-box.ts'
import type { DynamicDnsState } from '#state/ports/dynamic-dns.ts'

export interface LocalCopy {
  /** undefined: there is none that can be read. */
  readonly read: () => DynamicDnsState | undefined
  /** What cannot be written is said in the log, and tried again with the next change. */
  readonly write: (state: DynamicDnsState) => void
}

/** More than `dynamicDnsLimits` lets it become. */
const bytesMax = 512 * 1024 * 1024
const version = 1

/** @param secretKey null: not set; the copy is then plain, and holds what anybody may ask for */
export function createLocalCopy(path: string, secretKey: Uint8Array | null, log: Log): LocalCopy {
  const read = (): DynamicDnsState | undefined => {
    const size = statSync(path, { throwIfNoEntry: false })?.size
    if (size === undefined) return undefined
    if (size > bytesMax) throw new Error(`it has ${size} octets`)
    const text = readFileSync(path, 'utf8')
    if (text.startsWith('{')) return stateOf(text)
    if (secretKey === null) throw new Error('it is sealed, and GSLB_SECRET_KEY is not set')
    const opened = unseal(secretKey, text)
    if (!opened.ok) throw new Error(`it is damaged, or of another GSLB_SECRET_KEY`)
    return stateOf(opened.value)
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
    write: (state) => {
      const text = JSON.stringify({ version, ...state })
      try {
        writeDurably(path, secretKey === null ? text : seal(secretKey, text), 0o600)
      } catch (error) {
        const { code = '' } = error as NodeJS.ErrnoException
        log.warn({ file: path, code }, 'the copy of TSIG keys and TXT records cannot be written')
      }
    },
  }
}

const unread =
  'the copy of TSIG keys and TXT records cannot be read: there are none until the database is there'

function stateOf(text: string): DynamicDnsState {
  const { version: found, ...state } = JSON.parse(text) as DynamicDnsState & { version: number }
  if (found !== version) throw new Error(`it is of version ${found}`)
  return state
}
