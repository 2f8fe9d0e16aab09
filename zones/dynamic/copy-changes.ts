// Changes of records since the copy in the data directory was written: a file of lines, each sealed
// like the copy.
import { appendFileSync, readFileSync, rmSync, statSync } from 'node:fs'
import { writeDurably } from '#lib/durable-file.ts'
import { ok } from '#lib/result.ts'
import { seal, unseal } from '#lib/secret-box.ts'
import type { DynamicDnsState, RecordDelta } from '#state/ports/dynamic-dns.ts'

export interface CopyChange extends RecordDelta {
  /** A revision, to all records of which it adds what makes those of its own. */
  readonly from: number
}

/** Far above what comes until the copy is written, half a second and its writing later. */
export const changesBytesMax = 64 * 1024 * 1024
const mode = 0o600

export class CopyChanges {
  readonly #path: string
  readonly #secretKey: Uint8Array | null

  /** @param secretKey null: the copy is plain */
  constructor(path: string, secretKey: Uint8Array | null) {
    this.#path = path
    this.#secretKey = secretKey
  }

  get bytes(): number {
    return statSync(this.#path, { throwIfNoEntry: false })?.size ?? 0
  }

  /** @returns false: it does not fit */
  add(change: CopyChange): boolean {
    const text = JSON.stringify(change)
    // A line begins with its newline: one that was cut short ends where the next one begins.
    const line = `\n${this.#secretKey === null ? text : seal(this.#secretKey, text)}`
    if (this.bytes + line.length > changesBytesMax) return false
    appendFileSync(this.#path, line, { mode })
    return true
  }

  /** @param bytes how many there were when the state of the copy was taken: later ones stay */
  drop(bytes: number): void {
    if (this.bytes > bytes) {
      writeDurably(this.#path, readFileSync(this.#path).subarray(bytes), mode)
    } else {
      rmSync(this.#path, { force: true })
    }
  }

  /**
   * @returns the state after the changes that it does not have. Where one between them is missing,
   *   its revision stays the one before, so that a look at the store finds that there is more
   */
  addedTo(state: DynamicDnsState): DynamicDnsState {
    const { bytes } = this
    if (bytes > changesBytesMax) throw new Error(`they have ${bytes} octets`)
    const records = new Map(state.records.map((record) => [record.id, record]))
    let { records: revision } = state.revisions
    for (const line of readFileSync(this.#path, 'utf8').split('\n')) {
      const change = this.#read(line)
      // A process may have been killed between the writing of the copy and `drop`.
      if (change === undefined || change.revision < revision) continue
      if (change.from <= revision) ({ revision } = change)
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
  #read(line: string): CopyChange | undefined {
    const key = this.#secretKey
    const opened = key === null ? ok(line) : unseal(key, line)
    if (!opened.ok) return undefined
    try {
      const change = JSON.parse(opened.value) as CopyChange | null
      const isWhole =
        Number.isInteger(change?.from) &&
        Number.isInteger(change?.revision) &&
        Array.isArray(change?.added) &&
        Array.isArray(change.removed)
      return isWhole ? change : undefined
    } catch {
      return undefined
    }
  }
}
