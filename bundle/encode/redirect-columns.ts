// Encodes redirects as columns: rows by uid, their texts, a hash index of their hosts.
import { hashNameAt } from '#dns/name.ts'
import { assert } from '#lib/assert.ts'
import { bundleLimits } from '#bundle/format/limits.ts'
import {
  RedirectBits,
  RedirectCell,
  redirectCodeOf,
  redirectTrailer,
} from '#bundle/redirects/redirect-table.ts'
import type { RedirectColumns, RedirectModel } from '#bundle/redirects/redirect-table.ts'
import { wireOf } from './record-pool.ts'
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
  const texts = new Texts()
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
    redirectRow[at + RedirectCell.Host] = texts.append(host)
    redirectRow[at + RedirectCell.Bits] =
      host.length |
      (model.isWildcard ? RedirectBits.Wildcard : 0) |
      (model.preservePath ? RedirectBits.PreservePath : 0) |
      (model.hstsIncludeSubDomains ? RedirectBits.IncludeSubDomains : 0) |
      (redirectCodeOf.indexOf(model.code) << RedirectBits.CodeShift)
    redirectRow.set(texts.add(model.target), at + RedirectCell.Target)
    redirectRow.set(texts.add(model.tenant), at + RedirectCell.Tenant)
    redirectRow[at + RedirectCell.HstsSeconds] = model.hstsSeconds
  }
  const redirectText = texts.bytes()
  const redirectIndex = indexOf(redirectRow, redirectText, wildcards)
  return { redirectUid: uidColumn(sorted), redirectRow, redirectText, redirectIndex }
}

/** A growing buffer of texts. */
class Texts {
  readonly #places = new Map<string, readonly [offset: number, bytes: number]>()
  #octets = Buffer.alloc(4096)
  #length = 0

  /** Stores a text. @returns its offset; equal texts are stored once */
  add(text: string): readonly [offset: number, bytes: number] {
    let place = this.#places.get(text)
    if (place === undefined) {
      const octets = Buffer.from(text)
      place = [this.append(octets), octets.length]
      this.#places.set(text, place)
    }
    return place
  }

  append(octets: Uint8Array): number {
    const offset = this.#length
    if (offset + octets.length > this.#octets.length) {
      const larger = Buffer.alloc(Math.max(this.#octets.length * 2, offset + octets.length))
      this.#octets.copy(larger, 0, 0, offset)
      this.#octets = larger
    }
    this.#octets.set(octets, offset)
    this.#length += octets.length
    return offset
  }

  bytes(): Uint8Array {
    return this.#octets.subarray(0, this.#length)
  }
}

/** Builds the index with the first seed that places every host near its hash. */
function indexOf(rows: Uint32Array, texts: Uint8Array, wildcards: number): Uint32Array {
  if (rows.length === 0) return new Uint32Array(redirectTrailer)
  for (let seed = 0; ; seed++) {
    const index = indexUnder(seed, rows, texts)
    if (index === undefined) continue
    index[index.length - 2] = seed
    index[index.length - 1] = wildcards
    return index
  }
}

function indexUnder(seed: number, rows: Uint32Array, texts: Uint8Array): Uint32Array | undefined {
  const count = rows.length / RedirectCell.Words
  let slots = 4
  while (slots < count * 2) slots *= 2
  const mask = slots - 1
  const index = new Uint32Array(slots * 2 + redirectTrailer)
  for (let row = 0; row < count; row++) {
    const hash = hashNameAt(texts, rows[row * RedirectCell.Words + RedirectCell.Host]!, seed)
    let slot = hash & mask
    for (let probes = 1; index[slot * 2 + 1] !== 0; probes++) {
      if (probes >= bundleLimits.probeLengthMax) return undefined
      slot = (slot + 1) & mask
    }
    index[slot * 2] = hash >>> 0
    index[slot * 2 + 1] = row + 1
  }
  return index
}
