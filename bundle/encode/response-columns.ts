// Encodes response rules as columns: rows by uid, names in octets, a hash index of the triggers.
import { assert } from '#lib/assert.ts'
import { hashIndex } from '#bundle/format/hash-index.ts'
import type { ResponseRuleModel } from '#bundle/format/model.ts'
import { RecordPool, wireOf } from './record-pool.ts'
import { ResponseCell } from '#bundle/format/cells.ts'
import { ResponseBits, responseActions } from '#bundle/format/response-rules.ts'
import { sortedByUid, uidColumn } from './rows.ts'
import type { StringTable } from '#bundle/format/string-table.ts'

export class ResponseColumns {
  readonly #uids: Uint8Array
  readonly #rows: Uint32Array
  readonly #names: Uint8Array
  #lastIndex: { readonly seed: number; readonly index: Uint32Array } | undefined

  constructor(rules: readonly ResponseRuleModel[], strings: StringTable) {
    const sorted = sortedByUid(rules)
    // Names are stored once: many rules share a target, and a name may have two rules.
    const names = new RecordPool()
    const triggers = new Set<string>()
    this.#uids = uidColumn(sorted)
    this.#rows = new Uint32Array(sorted.length * ResponseCell.Words)
    for (const [i, rule] of sorted.entries()) {
      const { triggerType, trigger, action, target, signed, source } = rule
      const key = `${triggerType} ${trigger}`
      assert(!triggers.has(key), `there is one ${triggerType} rule for ${trigger}`)
      triggers.add(key)
      const wire = wireOf(trigger)
      const targetWire = action === 'cname' ? wireOf(target) : undefined
      const at = i * ResponseCell.Words
      this.#rows[at + ResponseCell.Trigger] = names.add(wire)
      this.#rows[at + ResponseCell.Target] = targetWire === undefined ? 0 : names.add(targetWire)
      this.#rows[at + ResponseCell.Bits] =
        wire.length |
        ((targetWire?.length ?? 0) << ResponseBits.TargetShift) |
        (triggerType === 'domain' ? ResponseBits.Domain : 0) |
        (responseActions.indexOf(action) << ResponseBits.ActionShift) |
        (signed ? ResponseBits.Signed : 0)
      this.#rows[at + ResponseCell.Source] = strings.add(source)
    }
    this.#names = names.bytes()
  }

  /** @returns undefined when a rule would be more than `probeLengthMax` slots from its hash */
  indexUnder(seed: number): Uint32Array | undefined {
    const rows = this.#rows
    if (rows.length === 0) return new Uint32Array(0)
    if (this.#lastIndex?.seed === seed) return this.#lastIndex.index
    const { Words: words, Trigger: cell } = ResponseCell
    const index = hashIndex({ names: this.#names, rows, words, cell }, seed)
    if (index !== undefined) this.#lastIndex = { seed, index }
    return index
  }

  /** Returns the four sections; `seed` must be one for which an index exists. */
  columns(seed: number) {
    const responseIndex = this.indexUnder(seed)
    assert(responseIndex !== undefined, 'the seed was chosen for this index, too')
    return {
      responseUid: this.#uids,
      responseRow: this.#rows,
      responseNames: this.#names,
      responseIndex,
    }
  }
}
