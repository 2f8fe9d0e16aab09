// Simulates caches around a zone whose keys roll: which records were shown when, and whether a
// resolver with any mix of them can validate.
import { keyUses, KeyUse } from '#dns/dnssec/key-record.ts'
import type { KeyRecord } from '#dns/dnssec/key-record.ts'
import { isDsOf } from '#dns/dnssec/rollover.ts'

interface Seen<T> {
  readonly value: T
  readonly fromMs: number
  /** When it was replaced; Infinity: still shown. */
  toMs: number
  readonly keptMs: number
}

interface Shown {
  readonly published: readonly KeyRecord[]
  readonly signsKeys: readonly KeyRecord[]
  readonly signsRecords: readonly KeyRecord[]
}

/** Values that caches may have: all that were shown less than that time ago. */
class History<T> {
  #seen: Seen<T>[] = []
  #keptMs: number

  constructor(keptMs: number) {
    this.#keptMs = keptMs
  }

  add(value: T, atMs: number): void {
    const last = this.#seen.at(-1)
    if (last !== undefined) last.toMs = atMs
    this.#seen.push({ value, fromMs: atMs, toMs: Infinity, keptMs: this.#keptMs })
  }

  /** The same value continues with another TTL. */
  keep(keptMs: number, atMs: number): void {
    this.#keptMs = keptMs
    const last = this.#seen.at(-1)
    if (last !== undefined) this.add(last.value, atMs)
  }

  cached(atMs: number): T[] {
    this.#seen = this.#seen.filter(({ toMs, keptMs }) => toMs >= atMs - keptMs)
    return this.#seen.map(({ value }) => value)
  }
}

interface CacheTimes {
  readonly keyTtlMs: number
  readonly longestTtlMs: number
  readonly propagationMs: number
  readonly parentMs: number
}

export class RollWorld {
  readonly #keys: History<Shown>
  readonly #records: History<Shown>
  readonly #ds: History<readonly string[]>
  #last = ''
  #lastDs = ''

  constructor({ keyTtlMs, longestTtlMs, propagationMs, parentMs }: CacheTimes) {
    this.#keys = new History(keyTtlMs + propagationMs)
    this.#records = new History(longestTtlMs + propagationMs)
    this.#ds = new History(parentMs)
  }

  keep({ keyTtlMs, longestTtlMs, propagationMs }: CacheTimes, atMs: number): void {
    this.#keys.keep(keyTtlMs + propagationMs, atMs)
    this.#records.keep(longestTtlMs + propagationMs, atMs)
  }

  show(records: readonly KeyRecord[], atMs: number): void {
    const used = keyUses(records)
    const text = used.map(({ record, use }) => `${record.tag}:${use & 7}`).join()
    if (text === this.#last) return
    this.#last = text
    const having = (bit: number): KeyRecord[] =>
      used.filter(({ use }) => (use & bit) !== 0).map(({ record }) => record)
    const shown = {
      published: having(KeyUse.Published),
      signsKeys: having(KeyUse.SignsKeys),
      signsRecords: having(KeyUse.SignsRecords),
    }
    this.#keys.add(shown, atMs)
    this.#records.add(shown, atMs)
  }

  delegate(ds: readonly string[], atMs: number): void {
    if (ds.join() === this.#lastDs) return
    this.#lastDs = ds.join()
    this.#ds.add(ds, atMs)
  }

  /** @returns a mix that a resolver would call bogus; undefined: none */
  bogus(atMs: number): string | undefined {
    const records = this.#records.cached(atMs)
    const ds = this.#ds.cached(atMs)
    for (const keys of this.#keys.cached(atMs)) {
      for (const one of ds) {
        const why = bogusKeys(one, keys)
        if (why !== undefined) return why
      }
      for (const one of records) {
        const why = bogusRecords(keys, one)
        if (why !== undefined) return why
      }
    }
    return undefined
  }
}

const named = (records: readonly KeyRecord[]): string => records.map(({ tag }) => tag).join(' ')

/** Includes validators that require a signature of each algorithm. RFC 4035 section 2.2. */
function bogusKeys(ds: readonly string[], keys: Shown): string | undefined {
  if (ds.length === 0) return undefined
  const signing = keys.signsKeys.filter((one) => keys.published.some(({ tag }) => tag === one.tag))
  for (const algorithm of new Set(ds.map((one) => Number(one.split(' ')[1])))) {
    const isValid = ds.some((one) =>
      signing.some((key) => key.algorithm === algorithm && isDsOf(one, key)),
    )
    if (!isValid) return `DS ${ds.join('|')} with keys ${named(keys.published)}`
  }
  return undefined
}

function bogusRecords({ published }: Shown, { signsRecords }: Shown): string | undefined {
  for (const algorithm of new Set(published.map((one) => one.algorithm))) {
    const isValid = signsRecords.some(
      (key) => key.algorithm === algorithm && published.some(({ tag }) => tag === key.tag),
    )
    if (!isValid) {
      return `keys ${named(published)} with records signed by ${named(signsRecords)} (${algorithm})`
    }
  }
  return undefined
}
