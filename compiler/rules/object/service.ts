// Checks a service: its domain, its TTL, its chain.
import { scriptAbsences } from '#compiler/scripts/script-absences.ts'
import { scriptMistake } from '#compiler/scripts/script-syntax.ts'
import { checkName } from '#compiler/values/names.ts'
import { valueAt } from '#diagnostics/diagnostic.ts'
import type { Place } from '#diagnostics/diagnostic.ts'
import { reportFault } from '#diagnostics/finding.ts'
import type { Report } from '#diagnostics/finding.ts'
import { suggest } from '#lib/suggest.ts'
import { filterNamed, filterText, filters, spellingsOf } from '#routing/choose/ways.ts'
import type { FilterUse } from '#routing/choose/ways.ts'
import { scriptLimits } from '#routing/script/contract.ts'
import { ttlJumpFreeSeconds } from '#schemas/objects/guardrails.ts'
import { algorithms } from '#schemas/objects/service.ts'
import type { ObjectRule } from './object-rule.ts'

/** Checks that a service's domain is a valid query name. */
export const serviceDomain: ObjectRule<'Service'> = ({ spec }, report) => {
  reportFault(checkName(spec.domain, true).fault, valueAt('spec', 'domain'), report)
}

/** Notes balanced names with TTLs so long that resolvers keep failed members. */
export const serviceTtl: ObjectRule<'Service'> = ({ spec: { pool, ttl } }, report) => {
  if (pool === null || ttl <= ttlJumpFreeSeconds) return
  report('ttl-long', valueAt('spec', 'ttl'), { args: [String(ttl)] })
}

/** Checks the filter chain of a service: known filters, none without effect. */
export const serviceChain: ObjectRule<'Service'> = ({ spec }, report) => {
  const { algorithm, filterChain, answerCount } = spec
  checkAlgorithm(algorithm, filterChain.length > 0, report)
  const uses = filterChain.map((text, i) => useOf(text, i, report))
  const last = uses.findIndex((use) => use !== undefined && endsChoice(use))
  for (const [i, use] of uses.entries()) {
    if (last < 0 || i <= last || use === undefined) continue
    const args = [use.way.name, uses[last]!.way.name]
    report('filter-unreachable', valueAt('spec', 'filterChain', i), { args })
  }
  const single = uses.find((use) => use?.way.leaves === 'one')
  if (single !== undefined && answerCount > 1) {
    const args = [String(answerCount), single.way.name]
    report('answer-count-of-one', valueAt('spec', 'answerCount'), { args })
  }
}

function checkAlgorithm(algorithm: string, hasChain: boolean, report: Report): void {
  const place = valueAt('spec', 'algorithm')
  if (!hasChain && algorithm === '') report('algorithm-empty', place)
  // A default from the schema is ignored silently.
  if (!hasChain || algorithm === '' || algorithm === algorithms[0]) return
  report('algorithm-ignored', place, { args: [algorithm] })
}

function endsChoice({ way: { kind, leaves } }: FilterUse): boolean {
  return kind === 'selecting' || leaves === 'one'
}

function useOf(text: string, index: number, report: Report): FilterUse | undefined {
  const place = valueAt('spec', 'filterChain', index)
  const [name = ''] = text.split(':', 1)
  const way = filters.find((known) => spellingsOf(known).includes(name))
  if (way === undefined) {
    report('filter-unknown', place, {
      args: [name, filters.map(filterText).join(', ')],
      suggestion: suggest(name, filters.flatMap(spellingsOf)),
    })
    return undefined
  }
  const use = filterNamed(text)
  if (way.argument === 'BODY') {
    const body = use?.argument ?? ''
    return checkBody(text, body, place, report) ? use : undefined
  }
  if (use === undefined) report('filter-argument', place, { args: [name, name] })
  return use
}

/** @returns false: the body is empty */
function checkBody(text: string, body: string, place: Place, report: Report): boolean {
  if (body.trim() === '') {
    report('script-empty', place)
    return false
  }
  const start = text.length - body.length
  const mistake = scriptMistake(body)
  if (mistake !== undefined) {
    const { character: at, message } = mistake
    const character = at === undefined ? undefined : start + at
    report('script-syntax', { ...place, character }, { args: [message] })
  }
  for (const { name, advice, character } of mistake === undefined ? scriptAbsences(body) : []) {
    const at = { ...place, character: start + character }
    report('script-absent', at, { args: [name, advice] })
  }
  const { bodyLengthInTime } = scriptLimits
  if (body.length > bodyLengthInTime) {
    report('script-long', place, { args: [String(body.length), String(bodyLengthInTime)] })
  }
  return true
}
