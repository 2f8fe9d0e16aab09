// Asks the questions of cases as a node would answer them, each under its own health, time and
// place.
import type { Bundle } from '#bundle/format/bundle.ts'
import { addressOfMember } from '#bundle/format/bundle.ts'
import { parseAddress } from '#dns/address.ts'
import { parseName } from '#dns/name.ts'
import { assert } from '#lib/assert.ts'
import type { Result } from '#lib/result.ts'
import { getOrInsert } from '#lib/sequence/get-or-insert.ts'
import { memberNames } from '#routing/choose/explain.ts'
import type { RoutingTables } from '#routing/choose/environment.ts'
import { createRoutingState, rebuildPool } from '#routing/state/candidates.ts'
import type { RoutingState } from '#routing/state/state.ts'
import type { Given } from '#schemas/objects/policy-test.ts'
import { showOverlays } from '#judge/simulate/overlays.ts'
import { readClient, readTime, readType } from '#judge/simulate/question-text.ts'
import { scriptsOf } from '#judge/simulate/scripts.ts'
import type { SimulatedScripts } from '#judge/simulate/scripts.ts'
import { simulate, SimulationMemory } from '#judge/simulate/simulation.ts'
import type { Simulation } from '#judge/simulate/simulation.ts'
import { ClientPlaces, placeKeyOf } from './client-place.ts'
import { namesFor, namesOfAll, ownersOf, Suggestions, tenantOfMember } from './near-member.ts'

/** The state shared by cases that are asked one after the other. */
interface Scene {
  readonly key: string
  readonly state: RoutingState
  /** The cursors before the first question. */
  readonly cursors: Int32Array
  readonly tables: RoutingTables
  readonly scripts: SimulatedScripts | null
}

/** Cases with equal keys have the same time and the same place of the client. */
export function sceneKeyOf(given: Given): string {
  return `${given.at ?? ''} ${placeKeyOf(given)}`
}

export class Asker {
  readonly #bundle: Bundle
  readonly #places: ClientPlaces
  readonly #memory = new SimulationMemory()
  #scene: Scene | undefined
  readonly #wanted: ReadonlySet<string>
  readonly #suggestions = new Suggestions()
  #owners: ReadonlyMap<string, ReadonlySet<string>> | undefined
  #membersNamed: ReadonlyMap<string, readonly number[]> | undefined

  /** @param wanted the addresses that `hasMember` will be asked about */
  constructor(bundle: Bundle, wanted: ReadonlySet<string>) {
    this.#bundle = bundle
    this.#wanted = wanted
    this.#places = new ClientPlaces(bundle)
  }

  /** Positions of the entries of `down` that match no member. */
  unknownDown({ down = [] }: Given): readonly number[] {
    if (down.length === 0) return []
    return down.flatMap((name, index) => (this.#named(name) === undefined ? [index] : []))
  }

  /**
   * @param address or host name, as in answers; one of `wanted`
   *
   * @param tenant that must own the member; '': any tenant
   */
  hasMember(address: string, tenant: string, { service }: Simulation): boolean {
    const isOfService = service?.members.some(
      ({ index }) =>
        addressOfMember(this.#bundle, index) === address && this.#isShownTo(index, tenant),
    )
    if (isOfService === true) return true
    this.#owners ??= ownersOf(this.#bundle, this.#wanted)
    const owners = this.#owners.get(address)
    return owners !== undefined && (tenant === '' || owners.has(tenant))
  }

  /**
   * A member with a similar name, for an entry of `down`: of the pool that the entry names, else of
   * the pools that answer; only of the test's own tenant. undefined: there is none, or enough were
   * suggested.
   */
  nearTo(name: string, given: Given, tenant: string): string | undefined {
    return this.#suggestions.nearest(name, () => this.#namesAround(name, given, tenant))
  }

  /** A member with a similar address among those that answer; only of the test's own tenant. */
  nearAddress(address: string, tenant: string, { service }: Simulation): string | undefined {
    const addresses = (service?.members ?? [])
      .values()
      .filter(({ index }) => this.#isShownTo(index, tenant))
      .map(({ ipAddress }) => ipAddress)
    return this.#suggestions.nearest(address, () => addresses)
  }

  #isShownTo(member: number, tenant: string): boolean {
    return tenant === '' || tenantOfMember(this.#bundle, member) === tenant
  }

  *#namesAround(name: string, given: Given, tenant: string): Generator<string> {
    const pool = name.slice(0, Math.max(0, name.lastIndexOf('/')))
    const named = this.#named(`${pool}/*`)
    if (named !== undefined) yield* namesFor(this.#bundle, tenant, named)
    if (named !== undefined) return
    const { service } = this.ask({ ...given, down: [] }, 1)
    for (const one of [service?.pool, service?.fallback]) {
      const members = typeof one === 'string' ? this.#named(`${one}/*`) : undefined
      yield* namesFor(this.#bundle, tenant, members ?? [])
    }
  }

  /** The tenant of the members that an entry such as `web/*` matches; '': it matches none. */
  tenantOfDown(name: string): string {
    const [member] = this.#named(name) ?? []
    if (member === undefined) return ''
    // Any member will do, since a pool belongs to one tenant.
    return tenantOfMember(this.#bundle, member)
  }

  /**
   * @param count answers to draw
   *
   * @param given a valid one
   */
  ask(given: Given, count: number): Simulation {
    const { state, cursors, tables, scripts } = this.#sceneFor(given)
    const members = (given.down ?? []).flatMap((name) => this.#named(name) ?? [])
    this.#setHealth(state, members, 0)
    state.serviceCursor.set(cursors)
    const source = given.client === undefined ? undefined : taken(parseAddress(given.client))
    const simulation = simulate(
      this.#bundle,
      state,
      {
        qname: taken(parseName(given.name!)),
        qtype: taken(readType(given.type ?? 'A')),
        seed: given.seed ?? 1,
        count,
        client: given.subnet === undefined ? null : taken(readClient(given.subnet)),
        ...(source === undefined ? {} : { source: Uint8Array.from(source) }),
        tables,
        scripts,
      },
      this.#memory,
    )
    this.#setHealth(state, members, 1)
    return simulation
  }

  /** @returns the script that was stopped; '': none was so far */
  stoppedScript(): string {
    return this.#scene?.scripts?.warnings()[0] ?? ''
  }

  close(): void {
    // Threads of scripts end by themselves; nothing waits for them.
    void this.#scene?.scripts?.close()
    this.#scene = undefined
  }

  #sceneFor(given: Given): Scene {
    const key = sceneKeyOf(given)
    if (this.#scene?.key === key) return this.#scene
    this.close()
    const state = createRoutingState(this.#bundle, 1)
    const atMs = given.at === undefined ? 0 : taken(readTime(given.at))
    showOverlays(this.#bundle, state, atMs)
    const tables = this.#places.tablesFor(given)
    const scripts = scriptsOf([this.#bundle], tables, atMs)
    this.#scene = { key, state, cursors: state.serviceCursor.slice(), tables, scripts }
    return this.#scene
  }

  #setHealth(state: RoutingState, members: readonly number[], healthy: 0 | 1): void {
    const pools = new Set<number>()
    for (const member of members) {
      state.memberHealthy[member] = healthy
      pools.add(this.#bundle.memberPool[member]!)
    }
    for (const pool of pools) rebuildPool(this.#bundle, state, pool)
  }

  #named(name: string): readonly number[] | undefined {
    this.#membersNamed ??= membersByName(this.#bundle)
    return this.#membersNamed.get(name)
  }
}

/** Members by name, also by `POOL/*`, with and without the tenant. */
function membersByName(bundle: Bundle): ReadonlyMap<string, readonly number[]> {
  const byName = new Map<string, number[]>()
  for (let member = 0; member < bundle.counts.members; member++) {
    const pool = bundle.memberPool[member]!
    for (const name of [...memberNames(bundle, member), ...namesOfAll(bundle, pool)]) {
      getOrInsert(byName, name, () => []).push(member)
    }
  }
  return byName
}

function taken<T>(read: Result<T, unknown>): T {
  assert(read.ok, 'the values of a test are checked before it is asked')
  return read.value
}
