// Looks up the pool of each service once for all rules, and keeps it from tree to tree.
import { editsOf } from '#lib/sequence/list-edits.ts'

/** The field of an entry that is used. */
interface Named {
  readonly object: { readonly metadata: { readonly name: string } }
}
interface Service {
  readonly object: { readonly spec: { readonly pool: string | null } }
}

/** Cached: ten thousand lookups take a millisecond, and several rules need them. */
export class ServicePools<Pool extends Named> {
  #services: readonly Service[] = []
  #pools: readonly Pool[] = []
  #poolOf: (Pool | undefined)[] = []

  /**
   * @param named the first pool of each name
   * @returns by position in `services` the pool of that name, of any tenant. Changed by the next
   * call.
   */
  of(
    services: readonly Service[],
    pools: readonly Pool[],
    named: ReadonlyMap<string, Pool>,
  ): readonly (Pool | undefined)[] {
    const poolOf = this.#edited(services, pools, named)
    this.#poolOf = poolOf ?? services.map((service) => poolNamedBy(service, named))
    this.#services = services
    this.#pools = pools
    return this.#poolOf
  }

  /** @returns undefined when too much has changed */
  #edited(
    services: readonly Service[],
    pools: readonly Pool[],
    named: ReadonlyMap<string, Pool>,
  ): (Pool | undefined)[] | undefined {
    const poolEdits = editsOf(this.#pools, pools)
    const edits = editsOf(this.#services, services)
    if (poolEdits === undefined || edits === undefined) return undefined
    const names = new Set<string | null>()
    for (const at of poolEdits.went) names.add(this.#pools[at]!.object.metadata.name)
    for (const at of poolEdits.came) names.add(pools[at]!.object.metadata.name)
    let poolOf = this.#poolOf
    if (edits.came.length + edits.went.length > 0) {
      poolOf = new Array<Pool | undefined>(services.length).fill(undefined)
      for (let at = 0; at < edits.moved.length; at++) {
        if (edits.moved[at]! >= 0) poolOf[edits.moved[at]!] = this.#poolOf[at]
      }
      for (const at of edits.came) poolOf[at] = poolNamedBy(services[at]!, named)
    }
    for (let at = 0; names.size > 0 && at < services.length; at++) {
      const service = services[at]!
      if (names.has(service.object.spec.pool)) poolOf[at] = poolNamedBy(service, named)
    }
    return poolOf
  }
}

function poolNamedBy<Pool>(
  { object }: Service,
  named: ReadonlyMap<string, Pool>,
): Pool | undefined {
  const { pool } = object.spec
  return pool === null ? undefined : named.get(pool)
}
