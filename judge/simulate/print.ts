// Prints a simulated answer for people: one step a line, in the order of the server.
import type { ResponseRuleModel } from '#bundle/format/model.ts'
import { firstOrNone } from '#lib/text/first-of.ts'
import type { MemberStanding } from '#routing/choose/explain.ts'
import type { SimulatedOverlay } from './overlays.ts'
import type { SimulatedMember, SimulatedService } from './service.ts'
import { placeText } from './place.ts'
import { signingText } from './signing.ts'
import type { Simulation } from './simulation.ts'

export interface SimulationHeading {
  readonly name: string
  readonly type: string
  readonly client: string | null
  readonly at: string | null
  /** The time from which `at` is described. */
  readonly nowMs: number
  /** null: the configuration has no rollouts and windows. */
  readonly overlays: readonly SimulatedOverlay[] | null
  readonly seed: number
  /** The option that names a database of places, for when there is none. Default `--geoip`. */
  readonly databaseFrom?: string
}

const standings: Readonly<Record<MemberStanding, string>> = {
  candidate: '',
  disabled: 'out: disabled',
  unresolved: 'out: not resolved',
  unhealthy: 'out: unhealthy',
  warming: 'out: warming up',
  maintenance: 'out: maintenance window',
  'weight-0': 'out: weight 0',
  'below-min-healthy': 'out: fewer than minHealthy of its pool are up',
}

export function printSimulation(heading: SimulationHeading, simulation: Simulation): string {
  const { rule, service, referral, signing } = simulation
  // Rules are evaluated before the name is looked up.
  const isByName = rule === null || rule.action === 'passthru'
  const isAlias = (text: string): boolean => isByName && /^\S+ \d+ IN [CD]NAME /.test(text)
  const aliases = simulation.records.filter(isAlias)
  const others = simulation.records.filter((text) => !isAlias(text))
  const lines = [
    row('question', `${heading.name} ${heading.type}`),
    ...(heading.client === null ? [] : [row('client', clientText(heading.client, simulation))]),
    ...placeLines(service, heading),
    ...timeLines(heading, service),
    ...(rule === null ? [] : [row('rule', ruleText(rule))]),
    row('zone', simulation.zone ?? 'none of ours'),
    ...(isByName ? [row('name', nameText(simulation))] : []),
    ...aliases.map((text) => row('alias', text)),
    ...(referral === null ? [] : [row('cut', `${referral.cut} is delegated to other servers`)]),
    ...(service === null ? [] : serviceLines(service, heading)),
    row('answer', answerText(simulation, heading.type)),
    ...(typeof service?.pick === 'string' ? [] : others.map((text) => row('', text))),
    ...(referral?.records.map((text) => row('', text)) ?? []),
    ...(signing === null ? [] : [row('signed', signingText(signing))]),
  ]
  return `${lines.join('\n')}\n`
}

function clientText(client: string, { ecsScope }: Simulation): string {
  return ecsScope === 0
    ? `${client} (the answer does not depend on it: scope 0)`
    : `${client}, scope /${ecsScope}`
}

function placeLines(
  service: SimulatedService | null,
  { databaseFrom = '--geoip' }: SimulationHeading,
): string[] {
  const place = service?.clientPlace ?? null
  return place === null ? [] : [row('place', placeText(place, databaseFrom))]
}

function row(label: string, text: string): string {
  return `${label.padEnd(10)}${text}`
}

/** Lines of the time, and of the rollouts and windows of the service's pool. */
function timeLines(
  { at, nowMs, overlays }: SimulationHeading,
  service: SimulatedService | null,
): string[] {
  if (overlays === null) {
    return at === null ? [] : [row('at', `${at} (nothing in this configuration depends on it)`)]
  }
  const ofPool = overlays.filter(({ pool }) => pool === service?.pool)
  const texts = ofPool.map(({ kind, name, state, effect, nextEventAt }) => {
    const what = kind === 'Rollout' ? 'rollout' : 'window'
    const next = nextEventAt === null ? '' : `, until ${nextEventAt}`
    return row(what, `${name} is ${state.replace('_', ' ')}: ${effect}${next}`)
  })
  return [row('at', at ?? `${new Date(nowMs).toISOString()} (now)`), ...texts]
}

function ruleText({ triggerType, trigger, action, target, source }: ResponseRuleModel): string {
  const effect = { nxdomain: 'no such name', passthru: 'passes', cname: `alias of ${target}` }
  return `${triggerType} ${trigger} of ${source}: ${effect[action]}`
}

function nameText(simulation: Simulation): string {
  const { zone, match, owner, service, referral, records, texts, absent } = simulation
  if (referral !== null && records.length === 0) return 'is answered by the servers of the cut'
  if (absent !== null) return `may exist: the records of ${absent} are not here`
  if (match === 'wildcard') return `matches the wildcard ${owner}`
  if (match === 'none' && texts !== null) return `exists by records written at run time: ${texts}`
  if (match === 'none') return zone === null ? 'outside every zone' : `does not exist in ${zone}`
  return service === null ? 'exists, without a service' : 'exists'
}

function serviceLines(service: SimulatedService, { seed }: SimulationHeading): string[] {
  const { name, tenant, algorithm, members, clientPlace } = service
  const lines = [
    row('service', `${name} of tenant ${tenant}, ${algorithm}, TTL ${service.ttlSeconds}`),
    row('pool', poolText(service)),
    ...members.map((member) => row('', memberText(member, clientPlace !== null))),
    ...traceLines(service),
  ]
  return [...lines, ...shareLines(service, seed)]
}

function shareLines({ distribution, picks }: SimulatedService, seed: number): string[] {
  if (distribution.length === 0) return []
  const total = distribution.reduce((sum, { count }) => sum + count, 0)
  const isOfMany = picks.length > 1
  const what = isOfMany ? 'which address came first, and which were in it; ' : ''
  const rows = distribution.map(({ ipAddress, count, places }) => {
    const times = places.reduce((sum, one) => sum + one, 0)
    const anywhere = isOfMany ? `, in ${times}` : ''
    const first = `${count} (${((count * 100) / total).toFixed(1)} %)`
    return row('', `${ipAddress.padEnd(20)} ${first}${anywhere}`)
  })
  const comma = isOfMany ? ': ' : ', '
  return [row('shares', `of ${total} answers in a row${comma}${what}seed ${seed}`), ...rows]
}

function poolText({ pool, fallback }: SimulatedService): string {
  if (pool === null) return 'none'
  return fallback === null ? pool : `${pool} has no candidate; its fallback is ${fallback}`
}

/** Each step with the candidates before and after it, in order. */
function traceLines({ trace }: SimulatedService): string[] {
  if (trace === null) return []
  const { candidates, geoRule, steps } = trace
  const list = (addresses: readonly string[]): string => firstOrNone(addresses, shownMax)
  return [
    row('among', list(candidates)),
    ...(geoRule === null ? [] : [row('geo rule', `sends the client to ${geoRule}`)]),
    ...steps.map(({ name, before, after, scopeBits, script, missing }) => {
      const isSame = before.join() === after.join()
      const why = script === null ? '' : `, ${script.outcome}: ${script.reason}`
      const bits = scopeBits === 0 ? '' : ` (needs ${scopeBits} bits of the client)`
      const lack = missing === undefined ? '' : `; ${missing}`
      return row('step', `${name}: ${isSame ? `changes nothing${why}` : list(after)}${bits}${lack}`)
    }),
  ]
}

const shownMax = 8

/** @param withRegion true when a step uses the region */
function memberText(member: SimulatedMember, withRegion: boolean): string {
  const { name, ipAddress, region, weight, priority, score, rttMs, standing } = member
  const facts = [
    `weight ${weight}`,
    priority === 0 ? 'no priority' : `priority ${priority}`,
    ...(withRegion ? [region === '' ? 'no region' : `region ${region}`] : []),
    ...(score === 1 || (score === 0 && standing === 'unhealthy')
      ? []
      : [`score ${score.toFixed(2)}`]),
    ...(rttMs === 0 ? [] : [`RTT ${rttMs.toFixed(1)} ms`]),
  ]
  const label = name === '' ? [] : [name]
  const why = standing === 'unhealthy' ? healthTexts(member) : []
  const out = standing === 'candidate' ? [] : [standings[standing], ...why]
  return `${ipAddress.padEnd(20)} ${[...label, ...facts, ...out].join(', ')}`
}

/** Why the member is unhealthy and since when, if the health file tells. */
function healthTexts({ reason = '', since = 0 }: SimulatedMember): string[] {
  return [
    ...(reason === '' ? [] : [reason]),
    ...(since === 0 ? [] : [`since ${new Date(since).toISOString()}`]),
  ]
}

function answerText(simulation: Simulation, type: string): string {
  const { rcode, zone, answerCount, service, referral, signing, absent } = simulation
  if (absent !== null) {
    return `${rcode}: no zone transfer of ${absent} has come yet, or what came has expired`
  }
  if (rcode === 'REFUSED' && zone === null) return 'REFUSED: no zone of ours encloses the name'
  if (rcode === 'NXDOMAIN') return zone === null ? rcode : `NXDOMAIN in zone ${zone}`
  if (rcode !== 'NOERROR') return rcode
  if (signing?.proof === 'unknown') return 'NOERROR, made of the keys'
  if (typeof service?.pick === 'string')
    return `${service.picks.join(', ')}, TTL ${service.ttlSeconds}`
  if (referral !== null) return `NOERROR, a referral to the servers of ${referral.cut}`
  if (answerCount > 0) return `NOERROR, ${answerCount} ${answerCount === 1 ? 'record' : 'records'}`
  const hasMembers = (service?.members.length ?? 0) > 0
  return hasMembers
    ? 'NOERROR without records: no member may answer'
    : `NOERROR without records: nothing of type ${type} here`
}
