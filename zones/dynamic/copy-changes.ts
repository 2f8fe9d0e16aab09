// Changes of records since the copy in the data directory was written: a file of lines, each sealed
// like the copy.
import { appendFileSync, readFileSync, rmSync, statSync } from 'node:fs'
import { ok } from '#lib/result.ts'
import { seal, unseal } from '#lib/secret-box.ts'
import type { DynamicDnsState, RecordDelta } from '#state/ports/dynamic-dns.ts'

/** Far above what comes in the half second until the copy is written. */
const bytesMax = 64 * 1024 * 1024
const mode = 0o600

export class CopyChanges {
  readonly #path: string
  readonly #secretKey: Uint8Array | null
  #bytes: number
  #added = 0

  /** @param secretKey null: the copy is plain */
  constructor(path: string, secretKey: Uint8Array | null) {
    this.#path = path
    this.#secretKey = secretKey
    this.#bytes = statSync(path, { throwIfNoEntry: false })?.size ?? 0
  }

  /** How many there were since the start. */
  get added(): number {
    return this.#added
  }

  /** What does not fit is left out, and with it all that follows: the next copy has it. */
  add(change: RecordDelta): void {
    const text = JSON.stringify(change)
    const line = `${this.#secretKey === null ? text : seal(this.#secretKey, text)}\n`
    this.#added++
    if (this.#bytes + line.length > bytesMax) return
    appendFileSync(this.#path, line, { mode })
    this.#bytes += line.length
  }

  /** @param added when what the copy has now was taken: what came later stays */
  drop(added: number): void {
    if (this.#bytes === 0 || this.#added !== added) return
    rmSync(this.#path, { force: true })
    this.#bytes = 0
  }

  /** @returns the state after the changes that follow it without a gap */
  addedTo(state: DynamicDnsState): DynamicDnsState {
    if (this.#bytes === 0 || this.#bytes > bytesMax) return state
    const records = new Map(state.records.map((record) => [record.id, record]))
    let revision = state.revisions.records
    for (const line of readFileSync(this.#path, 'utf8').split('\n')) {
      const change = this.#read(line)
      // The last line is cut short where its write was.
      if (change === undefined) break
      if (change.revision !== revision + 1) continue
      revision = change.revision
      for (const id of change.removed) records.delete(id)
      for (const record of change.added) records.set(record.id, record)
    }
    return {
      ...state,
      revisions: { ...state.revisions, records: revision },
      records: [...records.values()],
    }
  }

  /** @returns undefined: it is no whole line of this key */
  #read(line: string): RecordDelta | undefined {
    const key = this.#secretKey
    const opened = key === null ? ok(line) : unseal(key, line)
    if (!opened.ok) return undefined
    try {
      const change = JSON.parse(opened.value) as RecordDelta | null
      return Array.isArray(change?.added) && Array.isArray(change.removed) ? change : undefined
    } catch {
      return undefined
    }
  }
}
