// Connects host names with routing state: which names are looked up, and whose addresses change.
import { addressOfMember } from '#bundle/format/bundle.ts'
import type { Bundle } from '#bundle/format/bundle.ts'
import { isAlias, slotMembers } from '#bundle/format/hostnames.ts'
import { membersOf, rebuildPool } from '#routing/state/candidates.ts'
import { fillSlots, poolOfHostname, resolvedHostnames } from '#routing/state/slots.ts'
import type { RoutingState } from '#routing/state/state.ts'
import { watchesNothing } from '#journal/journal.ts'
import type { StateWatch } from '#journal/journal.ts'
import type { AddressSource } from '#inputs/resolve/address-source.ts'

interface Serving {
  readonly bundle: Bundle
  readonly state: RoutingState
  /** Rows of `hostnameRow`, by name: several pools may use one name. */
  readonly rowsOf: ReadonlyMap<string, readonly number[]>
  /** Rows of members that are aliases and probed, by name. */
  readonly aliasesOf: ReadonlyMap<string, readonly number[]>
}

export class ResolveLink {
  readonly #resolver: AddressSource
  /** Called with members whose addresses have changed, before lists are built from them. */
  readonly #onChange: (members: readonly number[]) => void
  readonly #watch: StateWatch
  #serving: Serving | undefined

  constructor(
    resolver: AddressSource,
    onChange: (members: readonly number[]) => void,
    watch: StateWatch = watchesNothing,
  ) {
    this.#resolver = resolver
    this.#onChange = onChange
    this.#watch = watch
    resolver.onChange((hostnames) => {
      this.#apply(hostnames)
    })
  }

  /** Fills the address slots of a state that is not published yet with the known addresses. */
  prepare(bundle: Bundle, state: RoutingState): void {
    if (!bundle.hasHostnames) return
    const pools = new Set<number>()
    for (const [row, hostname] of resolvedHostnames(bundle).entries()) {
      if (!fillSlots(bundle, state, row, this.#resolver.statusOf(hostname))) continue
      pools.add(poolOfHostname(bundle, row))
    }
    for (const pool of pools) rebuildPool(bundle, state, pool)
  }

  /** Takes over the published state: its host names are the ones that are looked up from now on. */
  serve(bundle: Bundle, state: RoutingState): void {
    const names = resolvedHostnames(bundle)
    const rowsOf = Map.groupBy(names.keys(), (row) => names[row]!)
    const aliases = [...probedAliases(bundle)]
    const aliasesOf = Map.groupBy(aliases, (member) => addressOfMember(bundle, member))
    this.#serving = { bundle, state, rowsOf, aliasesOf }
    this.#resolver.want(new Set([...rowsOf.keys(), ...aliasesOf.keys()]))
  }

  #apply(hostnames: readonly string[]): void {
    if (this.#serving === undefined) return
    const { bundle, state, rowsOf, aliasesOf } = this.#serving
    const pools = new Set<number>()
    const members: number[] = []
    for (const hostname of hostnames) {
      members.push(...(aliasesOf.get(hostname) ?? []))
      for (const row of rowsOf.get(hostname) ?? []) {
        if (!fillSlots(bundle, state, row, this.#resolver.statusOf(hostname))) continue
        pools.add(poolOfHostname(bundle, row))
        members.push(...slotMembers(bundle, row))
      }
    }
    if (members.length > 0) this.#onChange(members)
    for (const pool of pools) {
      rebuildPool(bundle, state, pool)
      this.#watch.poolChanged(state, pool, true)
    }
  }
}

/** Yields aliases that are probed: only those need an address to connect to. */
function* probedAliases(bundle: Bundle): Generator<number> {
  for (let pool = 0; bundle.hasHostnames && pool < bundle.counts.pools; pool++) {
    if (bundle.poolHealthCheck[pool] === 0) continue
    for (const member of membersOf(bundle, pool)) {
      if (!isAlias(bundle, member)) break
      yield member
    }
  }
}
