// Prints in one line, short enough for a diagnostic, how an answer came about, or what was asked.
import { firstOrNone } from '#lib/text/first-of.ts'
import type { Given } from '#schemas/objects/policy-test.ts'
import type { Simulation } from '#judge/simulate/simulation.ts'
import type { SimulatedService } from '#judge/simulate/service.ts'

const shownMax = 4

export function traceLine({ rule, zone, service, rcode }: Simulation): string {
  if (rule !== null && rule.action !== 'passthru') {
    return `a response rule for ${rule.trigger} (${rule.source}) answers ${rule.action}`
  }
  if (service === null) {
    return zone === null ? `no zone of ours has the name, ${rcode}` : `${rcode} in zone ${zone}`
  }
  return [poolText(service), ...outText(service), ...stepTexts(service)].join('; ')
}

function poolText({ name, pool, fallback }: SimulatedService): string {
  if (pool === null) return `service ${name} has no pool`
  const of = `service ${name}, pool ${pool}`
  return fallback === null ? of : `${of} has no candidate, its fallback is ${fallback}`
}

function outText({ members }: SimulatedService): string[] {
  const out = members.filter(({ standing }) => standing !== 'candidate')
  if (out.length === 0) return []
  return [`out: ${listed(out.map(({ ipAddress, standing }) => `${ipAddress} (${standing})`))}`]
}

function stepTexts({ trace, algorithm, mayAnswer }: SimulatedService): string[] {
  if (trace === null) return [`${algorithm}: ${listed(mayAnswer)}`]
  const { geoRule, candidates, steps } = trace
  if (geoRule !== null) return [`a geo rule sends the client to ${geoRule}`]
  return [
    `among ${listed(candidates)}`,
    ...steps.map(({ name, before, after }) => {
      const isSame = before.join() === after.join()
      return `${name.slice(0, 40)}: ${isSame ? 'changes nothing' : listed(after)}`
    }),
  ]
}

/**
 * Prints in one line what a case gives, for the owner of its name.
 *
 * @param isOwn whether a member that is down is of that owner
 */
export function situationOf(given: Given, isOwn: (member: string) => boolean): string {
  const { type = 'A', down = [], location, ...more } = given
  const said = (['client', 'subnet', 'country', 'asn', 'operator', 'at'] as const).flatMap(
    (field) => (more[field] === undefined ? [] : [`${field} ${more[field]}`]),
  )
  const place = location === undefined ? [] : [`location ${JSON.stringify(location)}`]
  const own = down.filter(isOwn)
  return [type, ...said, ...place, ...(own.length === 0 ? [] : [`down ${listed(own)}`])].join(', ')
}

const listed = (texts: readonly string[]): string => firstOrNone(texts, shownMax)
