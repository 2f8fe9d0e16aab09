// Follows the DS records last seen at the parents of signed zones, whichever node looked there: for
// the guardrails, and for the health of this node.
import type { DomainResult, Domains, OwnedDomain } from '#state/ports/domains.ts'

interface ParentOfZone {
  /** DS records in presentation form. */
  readonly ds: readonly string[]
  readonly rolls: boolean
}

interface RolledZone {
  /** Lower case, with the final dot. */
  readonly zone: string
  /** null: the parent was not asked, or did not answer. */
  readonly parent: { readonly onAny: readonly string[] } | null
}

interface ParentsParts {
  readonly store: Pick<Domains, 'results'>
  /** See `ZoneKeys`. */
  readonly dsOf: (zone: string) => readonly string[] | undefined
  /** Returns the zone whose delegation includes a claimed domain. */
  readonly zoneOf: (domain: string) => string
  /** Zones whose keys this node rolls. */
  readonly rolled: () => readonly RolledZone[]
  /** Zones that are to be signed; results of other zones are dropped. */
  readonly signed: () => ReadonlySet<string>
  /** Results that a previous process handed over. */
  readonly before: ReadonlyMap<string, ParentOfZone>
  readonly onParents: (seen: ReadonlyMap<string, ParentOfZone>) => void
}

export class Parents {
  readonly #parts: ParentsParts
  #seen: ReadonlyMap<string, ParentOfZone>
  #reported: string
  #faults: ReadonlyMap<string, string> = new Map()

  constructor(parts: ParentsParts) {
    this.#parts = parts
    this.#seen = parts.before
    this.#reported = JSON.stringify([...parts.before])
  }

  /** See `NodeDomains`. */
  get faults(): ReadonlyMap<string, string> {
    return this.#faults
  }

  /** Updates the results. They are kept while the store is away, or no parent has answered. */
  async look(domains: readonly OwnedDomain[]): Promise<void> {
    const { store, dsOf, zoneOf, rolled, onParents } = this.#parts
    const signed = domains
      .map(({ uid, domain }) => ({ uid, zone: zoneOf(domain) }))
      .filter(({ zone }) => dsOf(zone) !== undefined)
    const results = await store.results(signed.map(({ uid }) => uid))
    if (!results.ok) return
    const rolls = new Map(rolled().map(({ zone, parent }) => [zone, parent?.onAny]))
    const checked = new Map(signed.map(({ uid, zone }) => [zone, dsIn(results.value.get(uid))]))
    const seen = new Map<string, ParentOfZone>()
    const faults = new Map<string, string>()
    for (const zone of new Set([...checked.keys(), ...rolls.keys()])) {
      const ds = checked.get(zone) ?? rolls.get(zone) ?? this.#seen.get(zone)?.ds
      if (ds === undefined) continue
      seen.set(zone, { ds, rolls: rolls.has(zone) })
      const fault = faultOf(zone, ds, dsOf(zone) ?? [])
      if (fault !== undefined) faults.set(zone, fault)
    }
    const isSigned = this.#parts.signed()
    for (const [zone, { ds }] of this.#seen) {
      if (isSigned.has(zone) && !seen.has(zone)) seen.set(zone, { ds, rolls: rolls.has(zone) })
    }
    this.#seen = seen
    this.#faults = faults
    const text = JSON.stringify([...seen])
    if (text !== this.#reported) onParents(seen)
    this.#reported = text
  }
}

/** undefined: no server of the parent could say. */
function dsIn(result: DomainResult | undefined): readonly string[] | undefined {
  const parents = (result?.checks ?? []).filter(
    ({ role, ns, isDsUnknown = false }) => role === 'parent' && ns.length > 0 && !isDsUnknown,
  )
  if (parents.length === 0) return undefined
  return [...new Set(parents.flatMap(({ ds }) => ds))].toSorted()
}

/**
 * @param own DS records of this node's keys; undefined: other nodes hold the keys, and any DS is
 * accepted
 */
function faultOf(
  zone: string,
  seen: readonly string[],
  own: readonly string[],
): string | undefined {
  if (seen.length === 0 || own.length === 0) return undefined
  if (seen.some((one) => own.includes(one))) return undefined
  return (
    `the parent of ${zone} has the DS record "${seen[0]!}", which is of no key of the zone here; ` +
    `add what "gslbd dnssec ds ${zone}" prints before ${zone} is delegated to this server, and ` +
    'take the other away after its TTL'
  )
}
