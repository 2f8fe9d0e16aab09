// Leaves out what a delegation hides: below a zone cut only glue is the parent's.
// RFC 1034 section 4.2.1.
import { printName } from '#dns/rdata-text/name-text.ts'
import { recordTypeOf } from '#compiler/values/record-sets.ts'
import { RrType } from '#dns/rrtype.ts'
import type { Note } from '#import/sources/imported.ts'
import type { RecordSet } from './record-set.ts'

const latin1 = (octets: Uint8Array): string => Buffer.from(octets).toString('latin1').toLowerCase()

/** @param sets sorted: what is below a name follows it */
export function withoutHidden(
  sets: readonly RecordSet[],
  origin: Uint8Array,
): { readonly sets: readonly RecordSet[]; readonly notes: readonly Note[] } {
  const servers = new Set(
    sets.filter(({ type }) => type === RrType.NS).flatMap(({ rdata }) => rdata.map(latin1)),
  )
  const cuts = new Map(
    sets
      .filter(({ type, owner }) => type === RrType.NS && owner.length !== origin.length)
      .map((set) => [set.key, set]),
  )
  const notes: Note[] = []
  let cut: RecordSet | undefined
  const kept = sets.filter((set) => {
    if (cut === undefined || !set.key.startsWith(cut.key)) cut = cuts.get(set.key)
    if (cut === undefined) return true
    const isAtCut = set.key === cut.key
    const isGlue =
      (set.type === RrType.A || set.type === RrType.AAAA) && servers.has(latin1(set.owner))
    if (isGlue || (isAtCut && (set.type === RrType.NS || set.type === RrType.DS))) return true
    const name = `${printName(set.owner, origin)} ${recordTypeOf(set.type).name}`
    const text =
      `${name}: ${printName(cut.owner)} is delegated in line ${cut.place.line}, and its own ` +
      'servers answer for it'
    notes.push({ is: 'left out', place: set.place, text })
    return false
  })
  return { sets: kept, notes }
}
