// Sets up one of the two configurations of a plan as a server answers from it at an instant.
import type { Bundle } from '#bundle/format/bundle.ts'
import { HostnameCell, partsAround, slotMembers } from '#bundle/format/hostnames.ts'
import { bundleLimits } from '#bundle/format/limits.ts'
import { overlaysOf } from '#bundle/format/overlays.ts'
import { Random } from '#lib/random.ts'
import { Chain } from '#routing/chain/chain.ts'
import { createRoutingState, rebuildPool } from '#routing/state/candidates.ts'
import { setHealth } from '#routing/choose/explain.ts'
import type { AssumedHealth } from '#routing/choose/explain.ts'
import { createEnvironment } from '#routing/choose/environment.ts'
import type { RoutingEnvironment, RoutingTables } from '#routing/choose/environment.ts'
import type { ScriptPort } from '#routing/script/port.ts'
import { MemberOut } from '#routing/state/state.ts'
import type { RoutingState } from '#routing/state/state.ts'
import { applyOverlays, overlaysAt } from '#routing/time/overlay.ts'
import { createServingView } from '#answer/serving-view.ts'
import { Transaction } from '#answer/transaction.ts'
import { Counters } from '#answer/counters/counters.ts'

/** The instant, and the health, under which clients ask. */
export interface Moment {
  /** Unix epoch: decides rollouts and maintenance windows. */
  readonly atMs: number
  /** Health by the names of `memberNames`; members without an entry are healthy. null: all are. */
  readonly health: ReadonlyMap<string, AssumedHealth> | null
}

/** A bundle, and the tables that a node loads beside it. */
export interface Source {
  readonly bundle: Bundle
  readonly tables: RoutingTables
}

/** A source of randomness that counts how often it was used. */
export class CountedRandom extends Random {
  draws = 0

  override draw(): number {
    this.draws++
    return super.draw()
  }
}

/** Clients without EDNS get large payloads, so that nothing is asked again over TCP. */
const settings = { udpPayloadSize: 65_535, nsid: '', versionBind: '', tcpIdleTimeoutMs: 0 }

/** Memory that a side needs: megabytes, which another side may have used before. */
export class SideMemory {
  readonly tx: Transaction
  /** A chain for asking for one client after the other. */
  readonly chain: Chain
  readonly random = new CountedRandom(1)

  constructor() {
    const counters = new Counters(new SharedArrayBuffer(Counters.bytes))
    this.tx = new Transaction(settings, 1, counters)
    this.chain = new Chain(this.random)
  }
}

export interface Side extends Source, SideMemory {
  readonly state: RoutingState
  readonly environment: RoutingEnvironment
  /** Names in the given health that no member has. */
  readonly unknownMembers: readonly string[]
}

/** Equal on both sides: the serial counts publications, so it makes no answer different. */
const serial = 1

export function createSide(
  { bundle, tables }: Source,
  { atMs, health }: Moment,
  scripts: ScriptPort | null,
  memory = new SideMemory(),
): Side {
  const state = createRoutingState(bundle, serial)
  const stale = new Set(assumeResolved(bundle, state))
  const unknownMembers = health === null ? [] : setHealth(bundle, state, health)
  const pools = bundle.counts.pools
  if (health !== null) for (let pool = 0; pool < pools; pool++) stale.add(pool)
  const { staleLists } = applyOverlays(
    bundle,
    state,
    overlaysAt(overlaysOf(bundle), atMs, new Map()),
  )
  for (const pool of new Set([...stale, ...staleLists])) rebuildPool(bundle, state, pool)
  const { tx, chain, random } = memory
  const { bytes, digest } = bundle
  const generation = { number: 1, bundle: bytes, digest, routing: state.buffers, tables }
  tx.adopt(createServingView(generation, { scripts }))
  const environment = createEnvironment(bundle, tables, scripts)
  chain.adopt(bundle, state, tables.networks ?? null)
  chain.qname = tx.qname
  return { bundle, tables, state, environment, tx, chain, random, unknownMembers }
}

/**
 * Assumes each host name to have one address of each family, since nothing is resolved, and each
 * member that is discovered.
 */
function assumeResolved(bundle: Bundle, state: RoutingState): readonly number[] {
  const pools: number[] = []
  for (let row = 0; row < bundle.hostnameRow.length / HostnameCell.Words; row++) {
    if (partsAround(bundle, row).first !== row) continue
    const slots = [...slotMembers(bundle, row)]
    for (const member of [slots[0]!, slots[bundleLimits.slotsPerHostname]!]) {
      state.memberOut[member]! &= ~MemberOut.Unresolved
      pools.push(bundle.memberPool[member]!)
    }
  }
  return pools
}
