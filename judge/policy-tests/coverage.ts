// Counts which services, steps of chains and rules the policy tests have asked.
import { serviceCell, textOf } from '#bundle/format/bundle.ts'
import type { Bundle } from '#bundle/format/bundle.ts'
import { NodeCell } from '#bundle/format/cells.ts'
import { responseRuleAt } from '#bundle/format/response-rules.ts'
import { firstPolicyCode } from '#bundle/format/routing-cells.ts'
import { createEnvironment, noRoutingTables } from '#routing/choose/environment.ts'
import { createPolicies } from '#routing/choose/policy.ts'
import type { PolicyTestRun } from './run.ts'

/** How many things of one kind there are, and which no test has asked. */
export interface Covered {
  readonly covered: number
  readonly total: number
  /** The first few that no test has asked. */
  readonly missing: readonly string[]
}

export interface Coverage {
  /** A service is covered when a case asks for its name. */
  readonly services: Covered
  /** A step is covered when a case gives it more than one candidate to choose from. */
  readonly steps: Covered
  /** The geo rules of a pool are covered when one of them decides a case. */
  readonly geoRules: Covered
  /** A response rule is covered when it answers a case. */
  readonly responseRules: Covered
}

const missingMax = 20

export function coverageOf({ bundle, results }: PolicyTestRun): Coverage {
  const seen = { services: new Set<string>(), steps: new Set<string>() }
  const rules = { pools: new Set<string>(), responses: new Set<string>() }
  for (const { simulation } of results) {
    if (simulation === null) continue
    const { service, rule } = simulation
    if (rule !== null) rules.responses.add(rule.uid)
    if (service === null) continue
    seen.services.add(service.name)
    for (const [i, { before }] of (service.trace?.steps ?? []).entries()) {
      if (before.length > 1) seen.steps.add(stepKey(service.name, i))
    }
    const hasRule = (service.trace?.geoRule ?? null) !== null
    if (hasRule && service.pool !== null) rules.pools.add(service.fallback ?? service.pool)
  }
  return {
    services: covered(servicesOf(bundle), seen.services),
    steps: covered(stepsOf(bundle), seen.steps),
    geoRules: covered(poolsWithRules(bundle), rules.pools),
    responseRules: covered(responsesOf(bundle), rules.responses),
  }
}

/** @param all names of the things, by their key */
function covered(all: ReadonlyMap<string, string>, seen: ReadonlySet<string>): Covered {
  const missing = [...all]
    .filter(([key]) => !seen.has(key))
    .map(([, name]) => name)
    .sort()
  return {
    covered: all.size - missing.length,
    total: all.size,
    missing: missing.slice(0, missingMax),
  }
}

/** Services by name. Names of services are unique across tenants, and so are those of pools. */
function servicesOf(bundle: Bundle): ReadonlyMap<string, string> {
  const names = Array.from(bundle.serviceName, (name) => textOf(bundle, name))
  return new Map(names.map((name) => [name, name]))
}

function stepsOf(bundle: Bundle): ReadonlyMap<string, string> {
  const policies = createPolicies(createEnvironment(bundle, noRoutingTables, null))
  const steps = new Map<string, string>()
  for (const [service, name] of bundle.serviceName.entries()) {
    const policy = policies[serviceCell(bundle, service, NodeCell.Algorithm) - firstPolicyCode]
    const text = textOf(bundle, name)
    for (const [i, way] of (policy?.ways ?? []).entries()) {
      steps.set(stepKey(text, i), `${text}: ${way.name} (step ${i + 1})`)
    }
  }
  return steps
}

function stepKey(service: string, step: number): string {
  return `${step} ${service}`
}

function poolsWithRules(bundle: Bundle): ReadonlyMap<string, string> {
  const pools = new Map<string, string>()
  for (const [pool, networks] of bundle.poolNetworks.entries()) {
    const name = textOf(bundle, bundle.poolName[pool]!)
    if (networks > 0) pools.set(name, name)
  }
  return pools
}

function responsesOf(bundle: Bundle): ReadonlyMap<string, string> {
  const rules = Array.from({ length: bundle.counts.responseRules }, (_, rule) =>
    responseRuleAt(bundle, rule),
  )
  return new Map(rules.map(({ uid, triggerType, trigger }) => [uid, `${triggerType} ${trigger}`]))
}
