// A copy of keys and records in the data directory, so that a node starts without the database.
// Sealed under GSLB_SECRET_KEY where there is one; secrets of keys are sealed in any case.
import { readFileSync, statSync } from 'node:fs'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { writeDurably, writePartsDurably } from '#lib/durable-file.ts'
import type { Log } from '#lib/log.ts'
import { seal, Sealer, unseal } from '#lib/secret-box.ts'
import { changesBytesMax, CopyChanges } from './copy-changes.ts'
import type { CopyChange } from './copy-changes.ts'
import { writtenTypes } from '#state/ports/dynamic-dns.ts'
import type { DynamicDnsState, StoredRecord } from '#state/ports/dynamic-dns.ts'

export interface LocalCopy {
  /** undefined: there is none that can be read. */
  readonly read: () => DynamicDnsState | undefined
  /**
   * What cannot be written is said in the log, and tried again with the next change.
   *
   * @returns undefined: it is done. Else other work goes on meanwhile; there is one such write at
   *   a time
   */
  readonly write: (state: DynamicDnsState) => Promise<void> | undefined
  /**
   * Keeps a change of records until the next write has it, so that a process that is killed
   * meanwhile begins with it. It costs no flush: a power cut may lose it.
   *
   * @param change those of the state of the next write have it
   * @returns false: it was not kept, and a write at once is wanted. It is asked for once until a
   *   write is done
   */
  readonly note: (change: CopyChange) => boolean
  /** However many records there are, in place of a write that is under way. */
  readonly writeAtOnce: (state: DynamicDnsState) => void
}

/** In the data directory. */
export const copyFile = 'dynamic-dns.copy'

/** More than `dynamicDnsLimits` lets it become. */
const bytesMax = 512 * 1024 * 1024
const version = 1
const mode = 0o600
/** Records that are written in one turn of the main loop. */
export const recordsPerTurn = 500

/** @param secretKey null: not set; the copy is then plain, and holds what anybody may ask for */
export function createLocalCopy(path: string, secretKey: Uint8Array | null, log: Log): LocalCopy {
  const changes = new CopyChanges(`${path}.changes`, secretKey)
  let isUnwritten = false
  const onUnwritten = (error: unknown): void => {
    const { code = '' } = error as NodeJS.ErrnoException
    if (!isUnwritten) log.warn({ file: path, code }, unwritten)
    isUnwritten = true
  }
  /** A change was not kept since the last write. */
  let isIncomplete = false
  /** @param bytes of changes that it has */
  const onWritten = (bytes: number): void => {
    isIncomplete = false
    changes.drop(bytes)
    if (isUnwritten) log.info({ file: path }, 'the copy of run-time records is written again')
    isUnwritten = false
  }
  let writes = 0
  const writeAtOnce = (state: DynamicDnsState): void => {
    writes++
    const text = [...textsOf(state)].join('')
    try {
      writeDurably(path, secretKey === null ? text : seal(secretKey, text), mode)
      onWritten(changes.bytes)
    } catch (error) {
      onUnwritten(error)
    }
  }
  const writeInTurns = async (state: DynamicDnsState): Promise<void> => {
    const turn = ++writes
    const texts = textsOf(state)
    const parts = secretKey === null ? texts : sealedParts(secretKey, texts)
    const isWanted = (): boolean => turn === writes
    const { bytes } = changes
    await writePartsDurably(path, parts, { mode, isWanted })
      .then(() => isWanted() && onWritten(bytes))
      .catch(onUnwritten)
  }
  return {
    read: () => {
      try {
        return withChanges(copiedIn(path, secretKey), changes, (reason) =>
          log.warn({ file: path, reason }, unreadChanges),
        )
      } catch (error) {
        log.warn({ file: path, reason: (error as Error).message }, unread)
        return undefined
      }
    },
    write: (state) => {
      if (state.records.length > recordsPerTurn) return writeInTurns(state)
      writeAtOnce(state)
      return undefined
    },
    writeAtOnce,
    note: (change) => {
      try {
        if (changes.add(change)) return true
        if (!isIncomplete) log.warn({ file: path, bytesMax: changesBytesMax }, overfull)
      } catch (error) {
        onUnwritten(error)
      }
      const isSaid = isIncomplete
      isIncomplete = true
      return isSaid
    },
  }
}

const unread =
  'the copy of TSIG keys and run-time records cannot be read: there are none until the database ' +
  'is there'
const unreadChanges =
  'changes beside the copy of run-time records cannot be read: they are missing until the ' +
  'database is there'
const unwritten =
  'the copy of TSIG keys and run-time records cannot be written: make room for it, or give it to ' +
  'the user of this node; a start without the database has what was written before'
const overfull =
  'more has changed than is kept beside the copy of run-time records: it is written at once'

const nothing: DynamicDnsState = Object.freeze({
  revisions: { keys: 0, records: 0 },
  keys: [],
  records: [],
})

function copiedIn(path: string, secretKey: Uint8Array | null): DynamicDnsState | undefined {
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

function withChanges(
  copied: DynamicDnsState | undefined,
  changes: CopyChanges,
  onUnread: (reason: string) => void,
): DynamicDnsState | undefined {
  try {
    return changes.bytes === 0 ? copied : changes.addedTo(copied ?? nothing)
  } catch (error) {
    onUnread((error as Error).message)
    return copied
  }
}

function stateOf(text: string): DynamicDnsState {
  const { version: found, others = [], ...state } = JSON.parse(text) as Copied
  if (found !== version) throw new Error(`it is of version ${found}`)
  // Copies of an older version do not say who wrote a record, nor that it is TXT.
  const texts = state.records.map((record) => ({
    ...record,
    writtenBy: record.writtenBy ?? '',
    type: writtenTypes.TXT,
  }))
  return { ...state, records: [...texts, ...others] }
}

/** As an older version reads it: it takes all `records` for TXT, and does not look at `others`. */
interface Copied extends DynamicDnsState {
  readonly version: number
  readonly others?: readonly StoredRecord[]
}

/** The text that `stateOf` reads, in parts. */
function* textsOf({ revisions, keys, records }: DynamicDnsState): Generator<string> {
  const isText = ({ type }: StoredRecord): boolean => type === writtenTypes.TXT
  yield `${JSON.stringify({ version, revisions, keys }).slice(0, -1)},"records":[`
  yield* listed(records.filter(isText))
  yield '],"others":['
  yield* listed(records.filter((record) => !isText(record)))
  yield ']}'
}

function* listed(records: readonly StoredRecord[]): Generator<string> {
  for (let at = 0; at < records.length; at += recordsPerTurn) {
    const some = JSON.stringify(records.slice(at, at + recordsPerTurn)).slice(1, -1)
    yield at === 0 ? some : `,${some}`
  }
}

async function* sealedParts(key: Uint8Array, texts: Iterable<string>): AsyncGenerator<string> {
  const sealer = new Sealer(key)
  for (const text of texts) {
    sealer.add(text)
    await nextTurn()
  }
  yield* sealer.end()
}
