// Changes of records since the copy in the data directory was written: files of lines, each sealed
// like the copy. While a copy is written, what comes goes to a file of its own.
import { appendFileSync, existsSync, readFileSync, renameSync, rmSync, statSync } from 'node:fs'
import { ok } from '#lib/result.ts'
import { seal, unseal } from '#lib/secret-box.ts'
import type { DynamicDnsState, RecordDelta } from '#state/ports/dynamic-dns.ts'

export interface CopyChange extends RecordDelta {
  /**
   * The revision before it. That of `revision`: nodes have written meanwhile, and what they wrote
   * was not read yet.
   */
  readonly from: number
}

/** Far above what comes until the copy is written. */
const bytesMax = 64 * 1024 * 1024
const mode = 0o600

export class CopyChanges {
  readonly #path: string
  /** What a copy that is being written has. */
  readonly #aside: string
  readonly #secretKey: Uint8Array | null
  #bytes: number
  /** The last line may have no end: its write was cut short. */
  #isTorn: boolean

  /** @param secretKey null: the copy is plain */
  constructor(path: string, secretKey: Uint8Array | null) {
    this.#path = path
    this.#aside = `${path}.before`
    this.#secretKey = secretKey
    this.#bytes = bytesOf(path)
    this.#isTorn = this.#bytes > 0
  }

  /** @throws the file system's error; `EFBIG`: it does not fit, and the next copy has it */
  add(change: CopyChange): void {
    const text = JSON.stringify(change)
    const line = this.#secretKey === null ? text : seal(this.#secretKey, text)
    const lines = `${this.#isTorn ? '\n' : ''}${line}\n`
    if (this.#bytes + lines.length > bytesMax) {
      throw Object.assign(new Error('the changes since the copy are too many'), { code: 'EFBIG' })
    }
    this.#isTorn = true
    appendFileSync(this.#path, lines, { mode })
    this.#isTorn = false
    this.#bytes += lines.length
  }

  /** A copy is begun that has all of them. */
  setAside(): void {
    // What a copy that failed was to have is still there: the next copy sets aside what came since.
    if (this.#bytes === 0 || existsSync(this.#aside)) return
    renameSync(this.#path, this.#aside)
    this.#bytes = 0
    this.#isTorn = false
  }

  /** The copy has what was set aside. */
  dropAside(): void {
    rmSync(this.#aside, { force: true })
  }

  /** The copy has all of them. */
  dropAll(): void {
    this.dropAside()
    if (this.#bytes > 0) rmSync(this.#path, { force: true })
    this.#bytes = 0
    this.#isTorn = false
  }

  /** @returns the state after the changes that follow it without a gap */
  addedTo(state: DynamicDnsState): DynamicDnsState {
    const records = new Map(state.records.map((record) => [record.id, record]))
    let revision = state.revisions.records
    for (const change of [...this.#changesIn(this.#aside), ...this.#changesIn(this.#path)]) {
      if (change.from > revision || change.revision < revision) continue
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

  /** Those that can be read: a line is cut short where its write was. */
  #changesIn(path: string): readonly CopyChange[] {
    const bytes = bytesOf(path)
    if (bytes === 0 || bytes > bytesMax) return []
    return readFileSync(path, 'utf8')
      .split('\n')
      .flatMap((line) => this.#read(line) ?? [])
  }

  /** @returns undefined: it is no whole line of this key */
  #read(line: string): CopyChange | undefined {
    const key = this.#secretKey
    const opened = key === null ? ok(line) : unseal(key, line)
    if (!opened.ok) return undefined
    try {
      const change = JSON.parse(opened.value) as CopyChange | null
      if (!Array.isArray(change?.added) || !Array.isArray(change.removed)) return undefined
      // Older versions do not say it.
      return { ...change, from: change.from ?? change.revision - 1 }
    } catch {
      return undefined
    }
  }
}

const bytesOf = (path: string): number => statSync(path, { throwIfNoEntry: false })?.size ?? 0
