// Caches the tables that an explanation built from measurements and TXT records: the next one
// mostly needs the same.
import { createHash } from 'node:crypto'
import type { Bundle } from '#bundle/format/bundle.ts'
import type { ChangesUntil } from '#journal/format/records.ts'
import { measuredCountUntil } from '#journal/sides/measured-entries.ts'
import type { MeasuredThen, Then } from '#journal/sides/sides-then.ts'
import { walkTexts } from '#journal/sides/text-entries.ts'
import type { Moment } from '#journal/moment.ts'
import { rumTableOf, tableThen } from './measured-table.ts'
import { handedTexts } from './texts-then.ts'
import type { HandedTexts } from './texts-then.ts'

interface BuiltTable {
  readonly measured: Then<MeasuredThen>
  readonly rum: SharedArrayBuffer | null
}

export class SidesMemory {
  #table: (BuiltTable & { readonly key: string }) | undefined
  #texts: (HandedTexts & { readonly key: string }) | undefined

  table(moment: Moment): BuiltTable {
    const key = keyOf(moment.measured, measuredCountUntil)
    if (this.#table?.key === key) return this.#table
    const measured = tableThen(moment)
    const rum = measured.kind === 'kept' ? rumTableOf(measured.value) : null
    const table = { key, measured, rum }
    this.#table = table
    return table
  }

  texts(moment: Moment, bundle: Bundle): HandedTexts {
    const count = (payload: Buffer, untilMs: number): number => walkTexts(payload, untilMs).count
    const key = `${bundle.digest} ${keyOf(moment.texts, count)}`
    if (this.#texts?.key === key) return this.#texts
    const texts = { key, ...handedTexts(moment, bundle) }
    this.#texts = texts
    return texts
  }
}

/** Equal where the same entries hold. */
function keyOf(
  records: readonly ChangesUntil[],
  countUntil: (payload: Buffer, untilMs: number) => number,
): string {
  const hash = createHash('sha1')
  for (const { payload } of records) hash.update(payload)
  const last = records.at(-1)
  return `${hash.digest('hex')} ${last === undefined ? 0 : countUntil(last.payload, last.untilMs)}`
}
