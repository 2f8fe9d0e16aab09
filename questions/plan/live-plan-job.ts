// Plans a proposed change against the active bundle, in a thread.
import { adoptBundle, loadBundle } from '#bundle/load/load.ts'
import type { Moved } from '#compiler/lower/name-outline.ts'
import { movedBeyond, movedSentence } from '#judge/guard/moved-limit.ts'
import type { MoveLimits } from '#judge/guard/moved-limit.ts'
import type { RoutingTables } from '#routing/choose/environment.ts'
import type { AssumedHealth } from '#routing/choose/explain.ts'
import { packNetworks } from '#routing/tables/network-index.ts'
import { makePlan } from '#judge/plan/plan.ts'
import { largestMove } from '#judge/plan/listed.ts'
import type { FamilyMovement, Plan, PlannedScenario } from '#judge/document/model.ts'
import { seesName } from '#judge/sides/viewer.ts'
import type { Viewer } from '#judge/sides/viewer.ts'
import type { BundleCopy } from './bundle-copy.ts'
import { MovedNames } from '#judge/effects/moved-between.ts'

export interface LivePlanJob extends BundleCopy {
  readonly kind: 'plan'
  readonly tables: RoutingTables
  /** undefined: nothing would change. */
  readonly next: Uint8Array | undefined
  readonly atMs: readonly number[]
  /** Health as this node sees it; null: all are healthy, and only that is compared. */
  readonly health: ReadonlyMap<string, AssumedHealth> | null
  readonly viewer: Viewer
  /** How many answers of each scenario are listed. */
  readonly limit: number
  readonly moveLimits: MoveLimits
}

/** Flows listed in an answer of the API; `gslbd plan` shows all. */
const flowsMax = 50
const membersMax = 100
const laterMax = 200

interface ShortPlan extends Plan {
  /** Refusal by `guardrails.movedClients`, if the requests were one; null: none. */
  readonly guardrail: string | null
}

/** A plan, with the values that judge it. */
export interface JudgedPlan {
  readonly plan: ShortPlan
  /** Names with moved clients. */
  readonly moved: readonly Moved[]
}

/** @returns null: the bundle does not load, though the compiler has checked it */
export function runLivePlan(job: LivePlanJob): JudgedPlan | null {
  const { bundle: bytes, digest, tables, next = bytes, atMs, health, viewer, limit } = job
  const loaded = loadBundle(next)
  if (!loaded.ok) return null
  const bundle = adoptBundle(bytes, digest)
  // Regions and operators are those of now: places that the change would add are not seen.
  const after = { ...tables, networks: packNetworks(loaded.value) }
  const judged = new MovedNames()
  const plan = makePlan({
    base: { source: 'this node', bundle, tables },
    head: { source: 'the requests', bundle: loaded.value, tables: after },
    moments: atMs.flatMap((at) => [
      { atMs: at, health: null },
      ...(health === null ? [] : [{ atMs: at, health }]),
    ]),
    geo: tables.geo,
    scripts: null,
    viewer,
    // Writes are judged with all members up.
    onChange: (change, moment) => (moment.health === null ? judged.add(change) : undefined),
  })
  const moved = judged.all
  const breach = movedBeyond(job.moveLimits, moved)
  const isNamed = breach !== undefined && seesName(viewer, breach.name, [breach.owner])
  const short = {
    ...plan,
    scenarios: plan.scenarios.map((one) => shortened(one, limit)),
    later: plan.later.slice(0, laterMax),
    guardrail: breach === undefined ? null : movedSentence(breach, isNamed),
  }
  return { plan: short, moved: breach === undefined ? [] : moved }
}

function shortened(scenario: PlannedScenario, limit: number): PlannedScenario {
  const largest = scenario.changes.toSorted((one, other) => largestMove(other) - largestMove(one))
  const changes = largest.slice(0, limit).map(({ movement, ...change }) => ({
    ...change,
    movement: movement && { ipv4: cut(movement.ipv4), ipv6: cut(movement.ipv6) },
  }))
  const { traffic } = scenario
  const shown = { ...traffic, members: traffic.members.slice(0, membersMax) }
  const omitted = scenario.omitted + scenario.changes.length - changes.length
  return { ...scenario, traffic: shown, changes, omitted }
}

function cut(movement: FamilyMovement): FamilyMovement {
  const { flows, members } = movement
  return { ...movement, flows: flows.slice(0, flowsMax), members: members.slice(0, membersMax) }
}
