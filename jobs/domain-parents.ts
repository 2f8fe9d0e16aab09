// Follows what the parents of signed zones were last seen to have, whichever node has looked: for
// the guardrails, and for the health of this node.
import type { DomainResult, Domains, OwnedDomain } from '#state/ports/domains.ts'

/** DS records in presentation form, by zone. */
type ParentDs = ReadonlyMap<string, readonly string[]>

interface ParentsParts {
  readonly store: Pick<Domains, 'results'>
  /** See `ZoneKeys`. */
  readonly dsOf: (zone: string) => readonly string[] | undefined
  /** The zone that a claimed domain is delegated with. */
  readonly zoneOf: (domain: string) => string
  readonly onParents: (seen: ParentDs) => void
}

export class Parents {
  readonly #parts: ParentsParts
  #seen: ParentDs = new Map()
  #told = ''
  #faults: readonly string[] = []

  constructor(parts: ParentsParts) {
    this.#parts = parts
  }

  /** See `NodeDomains`. */
  get faults(): readonly string[] {
    return this.#faults
  }

  /** Keeps what it knows while the store is away, or no parent has answered. */
  async look(domains: readonly OwnedDomain[]): Promise<void> {
    const { store, dsOf, zoneOf, onParents } = this.#parts
    const signed = domains
      .map(({ uid, domain }) => ({ uid, zone: zoneOf(domain) }))
      .filter(({ zone }) => dsOf(zone) !== undefined)
    const results = await store.results(signed.map(({ uid }) => uid))
    if (!results.ok) return
    const seen = new Map<string, readonly string[]>()
    const faults: string[] = []
    for (const { uid, zone } of signed) {
      const found = dsIn(results.value.get(uid)) ?? this.#seen.get(zone)
      if (found === undefined) continue
      seen.set(zone, found)
      const fault = faultOf(zone, found, dsOf(zone) ?? [])
      if (fault !== undefined) faults.push(fault)
    }
    this.#seen = seen
    this.#faults = faults
    const told = JSON.stringify([...seen])
    if (told !== this.#told) onParents(seen)
    this.#told = told
  }
}

/** undefined: no server of the parent could say. */
function dsIn(result: DomainResult | undefined): readonly string[] | undefined {
  const parents = result?.checks.filter(({ role, ns }) => role === 'parent' && ns.length > 0) ?? []
  if (parents.length === 0) return undefined
  return [...new Set(parents.flatMap(({ ds }) => ds))].toSorted()
}

/** @param own none: the keys are with other nodes, and anything is believed */
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
