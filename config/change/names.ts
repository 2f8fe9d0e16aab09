// Judges the names that a request takes: their owners, and the names above and below them.
import { isNaming, kinds } from '#schemas/kinds.ts'
import { defaultTenant } from '#schemas/objects/tenant.ts'
import { err, ok } from '#lib/result.ts'
import type { Result } from '#lib/result.ts'
import type { Draft } from '#config/draft.ts'
import type { ConfigEntry } from '#config/entry.ts'
import { fault } from '#config/fault.ts'
import type { Fault } from '#config/fault.ts'
import type { Claimant } from '#compiler/holders/name-holder.ts'
import { readRecords } from '#compiler/values/record-sets.ts'
import { nameHolding, nameRefusal, refusalText } from '#config/name-holder.ts'
import type { NameRefusal, NameSource } from '#config/name-holder.ts'
import { isTransferEntry, namesOf } from '#config/name-index.ts'
import type { EntryName, NameIndex } from '#config/name-index.ts'
import { pinned } from './raw.ts'

/**
 * Judges the names after the operations of a request. An owner keeps the names that it had before.
 *
 * @param indexOf computes the index of names before the request
 * @param mayTakeAny true: a system administrator asks; objects of the tenant `default` among the
 * names of others are marked, so that the compiler of every node accepts them
 * @returns the index of names after the request; undefined: the request changes none. `taken`: a
 * name that the compiler will refuse
 */
export function takeNames(
  draft: Draft,
  indexOf: () => NameIndex,
  mayTakeAny: boolean,
): Result<{ readonly index?: NameIndex; readonly taken?: Fault }, Fault> {
  const { before, now } = draft.changesOfRequest()
  if (![...before, ...now].some(({ kind }) => isNaming(kind))) return ok({})
  const index = indexOf()
  const settings = draft.entries('Settings')[0]?.object ?? null
  const source = { names: index.with(before, []), settings }
  const had = new Set(
    before.flatMap((entry) => namesOf(entry).map(({ held }) => keyOf(entry, held))),
  )
  let taken: Fault | undefined
  for (const entry of now) {
    if (isTransferEntry(entry)) continue
    const refused = refusedName(entry, source, had)
    if (refused === undefined) continue
    if (mayTakeAny) {
      // An object of another tenant stays as it is: the compiler reports what it lacks.
      const marked = entry.tenant === defaultTenant ? markOverlap(draft, entry) : ok(entry)
      if (!marked.ok) return marked
    } else {
      taken = fault('conflict', textOf(entry, source, refused))
      if (!isRefusedByCompiler(draft, entry, source, refused)) return err(taken)
    }
  }
  const after = index.with(before, draft.changesOfRequest().now)
  return ok({ index: after, ...(taken === undefined ? {} : { taken }) })
}

interface Refused extends EntryName {
  readonly refusal: NameRefusal
}

function claimantOf({ kind, tenant }: ConfigEntry, { layer }: EntryName): Claimant {
  return { tenant, isDomain: kind === 'DelegatedDomain', layer }
}

function refusedName(
  entry: ConfigEntry,
  source: NameSource,
  had: ReadonlySet<string>,
): Refused | undefined {
  for (const one of namesOf(entry)) {
    if (had.has(keyOf(entry, one.held))) continue
    const refusal = nameRefusal(source, claimantOf(entry, one), one.name)
    if (refusal !== undefined) return { ...one, refusal }
  }
  return undefined
}

/** Whether an older rule of the compiler refuses the object as well, in its own words. */
function isRefusedByCompiler(
  draft: Draft,
  entry: ConfigEntry,
  source: NameSource,
  refused: Refused,
): boolean {
  const { name, refusal } = refused
  if (entry.kind === 'Records') {
    const holding = nameHolding(source, claimantOf(entry, refused), name)
    if (refusal === 'unowned' || (holding.is === 'others' && holding.by !== 'claim')) return true
  }
  return draft.entries(entry.kind).some((other) => {
    if (other.uid === entry.uid) return false
    return entry.kind === 'Records'
      ? haveSameRecords(entry as Records, other as Records)
      : namesOf(other).some((one) => one.name === name)
  })
}

type Records = ConfigEntry<'Records'>

function haveSameRecords(a: Records, b: Records): boolean {
  const setsOf = ({ object }: Records): Set<string> =>
    new Set(readRecords(object.spec).rrsets.map(({ name, type }) => `${type.code} ${name}`))
  return !setsOf(a).isDisjointFrom(setsOf(b))
}

function textOf(entry: ConfigEntry, source: NameSource, refused: Refused): string {
  const { name, refusal } = refused
  const field = kinds[entry.kind].takesName
  const holding = nameHolding(source, claimantOf(entry, refused), name)
  const isNested = entry.kind === 'DelegatedDomain' && holding.is === 'others'
  return isNested && holding.by === 'domain'
    ? `${field}: ${name} is inside a domain of somebody else, and would take from it the right ` +
        'to write records there: ask a system administrator to register it'
    : `${field}: ${refusalText(refusal, name)}`
}

const keyOf = ({ kind, tenant }: ConfigEntry, name: string): string => `${kind} ${tenant} ${name}`

function markOverlap(draft: Draft, entry: ConfigEntry): Result<ConfigEntry, Fault> {
  const raw = draft.raw(entry)
  return draft.change(entry, { ...raw, metadata: { ...pinned(entry, raw), overlap: true } })
}
