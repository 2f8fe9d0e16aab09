// Encodes redirects as columns: rows by uid, their texts, a hash index of their hosts.
import { assert } from '#lib/assert.ts'
import { hashIndex } from '#bundle/format/hash-index.ts'
import {
  RedirectBits,
  RedirectCell,
  redirectCodeOf,
  redirectTrailer,
} from '#bundle/redirects/redirect-table.ts'
import type { RedirectColumns, RedirectModel } from '#bundle/redirects/redirect-table.ts'
import { RecordPool, wireOf } from './record-pool.ts'
import { sortedByUid, uidColumn } from './rows.ts'

/** Reuses the columns of the last bundle, since most changes do not concern redirects. */
export class RedirectMemory {
  #models: readonly RedirectModel[] = []
  #columns: RedirectColumns = redirectColumns([])

  /** @param models identical objects have identical content */
  columns(models: readonly RedirectModel[]): RedirectColumns {
    const isSame =
      models.length === this.#models.length && models.every((one, i) => one === this.#models[i])
    if (!isSame) this.#columns = redirectColumns(models)
    this.#models = models
    return this.#columns
  }
}

function redirectColumns(models: readonly RedirectModel[]): RedirectColumns {
  const sorted = sortedByUid(models)
  const texts = new RecordPool()
  const placeOf = (text: string): readonly [offset: number, bytes: number] => {
    const octets = Buffer.from(text)
    return [texts.add(octets), octets.length]
  }
  const redirectRow = new Uint32Array(sorted.length * RedirectCell.Words)
  const hosts = new Set<string>()
  let wildcards = 0
  for (const [row, model] of sorted.entries()) {
    const key = model.isWildcard ? `*.${model.host}` : model.host
    assert(!hosts.has(key), `there is one redirect for ${key}`)
    hosts.add(key)
    if (model.isWildcard) wildcards++
    const host = wireOf(model.host)
    const at = row * RedirectCell.Words
    redirectRow[at + RedirectCell.Host] = texts.add(host)
    redirectRow[at + RedirectCell.Bits] =
      host.length |
      (model.isWildcard ? RedirectBits.Wildcard : 0) |
      (model.preservePath ? RedirectBits.PreservePath : 0) |
      (model.hstsIncludeSubDomains ? RedirectBits.IncludeSubDomains : 0) |
      (redirectCodeOf.indexOf(model.code) << RedirectBits.CodeShift)
    redirectRow.set(placeOf(model.target), at + RedirectCell.Target)
    redirectRow.set(placeOf(model.tenant), at + RedirectCell.Tenant)
    redirectRow[at + RedirectCell.HstsSeconds] = model.hstsSeconds
  }
  const redirectText = texts.bytes()
  const redirectIndex = indexOf(redirectRow, redirectText, wildcards)
  return { redirectUid: uidColumn(sorted), redirectRow, redirectText, redirectIndex }
}

/** Builds the index with the first seed that places every host near its hash. */
function indexOf(rows: Uint32Array, names: Uint8Array, wildcards: number): Uint32Array {
  if (rows.length === 0) return new Uint32Array(redirectTrailer)
  const { Words: words, Host: cell } = RedirectCell
  for (let seed = 0; ; seed++) {
    const index = hashIndex({ names, rows, words, cell }, seed)
    if (index === undefined) continue
    const all = new Uint32Array(index.length + redirectTrailer)
    all.set(index)
    all.set([seed, wildcards], index.length)
    return all
  }
}
