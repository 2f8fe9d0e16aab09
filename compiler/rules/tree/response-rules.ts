// Finds response rules that are duplicates, loops, without effect, or hide a zone or a service.
import { placeOfRule, ruleAbove, ruleFor } from '#compiler/lower/response-plan.ts'
import type { PlannedRule, ResponsePlan } from '#compiler/lower/response-plan.ts'
import { enclosingZone } from '#compiler/lower/zone-plan.ts'
import type { RecordPlan } from '#compiler/lower/record-plan.ts'
import type { ZonePlan } from '#compiler/lower/zone-plan.ts'
import { enclosingNames, isInside } from '#dns/enclosing-names.ts'
import type { TreeReport } from '#compiler/tree/tree.ts'
import type { TreeRule } from './tree-rule.ts'

/** Names that fit into one sentence. */
const namesShown = 5

/** Finds loops of alias rules. */
export const responseRuleLoops: TreeRule = ({ responses }, report) => {
  // A rule has one target, so each is visited once; a walk that meets itself is a loop.
  const walkOf = new Map<PlannedRule, number>()
  for (const [walk, start] of responses.rules.entries()) {
    let at: PlannedRule | undefined = start
    while (at !== undefined && !walkOf.has(at)) {
      walkOf.set(at, walk)
      at = nextOf(responses, at)
    }
    if (at === undefined || walkOf.get(at) !== walk) continue
    const args = [namesFrom(responses, at)]
    report('response-cname-loop', placeOfRule(at, 'actionTarget'), { args })
  }
}

/** The rule that answers the target of an alias. */
function nextOf(plan: ResponsePlan, { model }: PlannedRule): PlannedRule | undefined {
  return model.action === 'cname' ? ruleFor(plan, model.target) : undefined
}

function namesFrom(plan: ResponsePlan, first: PlannedRule): string {
  const names: string[] = []
  let at = first
  do {
    names.push(at.model.target)
    at = nextOf(plan, at)!
  } while (at !== first && names.length < namesShown)
  return [...names, at === first ? first.model.target : '…'].join(' → ')
}

/** Finds response rules without effect, and rules that would hide all answers of this server. */
export const responseRuleEffects: TreeRule = ({ tree, zones, records, responses }, report) => {
  for (const rule of responses.rules) checkEffect(responses, rule, report)
  if (responses.rules.length === 0) return
  if (zones !== undefined) reportUnsigned(zones, responses, report)
  if (records !== undefined) reportUnsignable(records, responses, report)
  const hidden = reportHidden('response-rule-hides-zone', apexesOf(zones), responses, report)
  const domains = tree.of.Service.flatMap(({ file }) => file.domainKey ?? [])
  reportHidden('response-rule-hides-service', domains, responses, report, hidden)
}

/** Notes unsigned rules in a signed zone: validators refuse their answers. */
function reportUnsigned({ zones }: ZonePlan, plan: ResponsePlan, report: TreeReport): void {
  const signedZones = zones.filter(({ algorithm }) => algorithm !== undefined)
  if (signedZones.length === 0) return
  const declared = new Map(zones.map((zone, i) => [zone.name, i]))
  // A rule for a domain answers in all zones below it that have no rule of their own.
  const below = new Map<PlannedRule, string>()
  for (const { name } of signedZones) {
    const rule = plan.domain.get(name) ?? ruleAbove(plan, name)
    if (rule !== undefined && !below.has(rule)) below.set(rule, name)
  }
  for (const rule of plan.rules) {
    const { action, trigger, signed } = rule.model
    if (action === 'passthru' || signed) continue
    const zone = zones[enclosingZone(trigger, declared) ?? -1]
    const name = zone?.algorithm === undefined ? below.get(rule) : zone.name
    if (name === undefined) continue
    report('response-rule-in-signed-zone', placeOfRule(rule, 'triggerValue'), {
      args: [trigger, name],
    })
  }
}

/** Finds signed rules where no key of ours can sign. */
function reportUnsignable(
  { zones, zoneAt, cuts }: RecordPlan,
  { rules }: ResponsePlan,
  report: TreeReport,
): void {
  const asked = rules.filter(({ model }) => model.signed && model.action !== 'passthru')
  if (asked.length === 0) return
  const signed = zones.filter(({ algorithm }) => algorithm !== undefined)
  const aboveSigned = new Set(signed.flatMap(({ name }) => [name, ...enclosingNames(name)]))
  for (const rule of asked) {
    const { trigger, triggerType } = rule.model
    if (triggerType === 'domain' && aboveSigned.has(trigger)) continue
    const why = whyUnsignable(trigger)
    if (why === undefined) continue
    report('response-rule-signed-by-none', placeOfRule(rule, 'triggerValue'), {
      args: [trigger, why],
    })
  }

  function whyUnsignable(trigger: string): string | undefined {
    const at = enclosingZone(trigger, zoneAt)
    if (at === undefined) return 'it is in no zone of this server'
    const { name: zone, algorithm } = zones[at]!
    if (algorithm === undefined) return `the zone ${zone} is not signed`
    const names = [trigger, ...enclosingNames(trigger)]
    const cut = names.find((name) => cuts.has(name) && name !== zone && isInside(name, zone))
    return cut === undefined ? undefined : `${cut} is delegated to other servers`
  }
}

/** Compares a rule with the one that would replace it. */
function checkEffect(plan: ResponsePlan, rule: PlannedRule, report: TreeReport): void {
  const { triggerType, trigger, action, target, signed } = rule.model
  const domain = triggerType === 'exact' ? plan.domain.get(trigger) : undefined
  const other = (domain ?? ruleAbove(plan, trigger))?.model
  const isSame =
    other === undefined
      ? action === 'passthru'
      : other.action === action && other.target === target && other.signed === signed
  if (!isSame) return
  const why =
    other === undefined
      ? 'no rule would answer without it'
      : `the domain rule for ${other.trigger} does the same`
  const at = placeOfRule(rule, 'triggerValue')
  report('response-rule-without-effect', at, { args: [trigger, why] })
}

/** Apexes of declared zones; implied ones are services, which are checked as such. */
function apexesOf(zones: ZonePlan | undefined): readonly string[] {
  return (zones?.zones ?? []).filter(({ isImplied }) => !isImplied).map(({ name }) => name)
}

/**
 * Reports each rule once, with the first of the names that it answers.
 *
 * @returns the rules that hide something
 */
function reportHidden(
  code: 'response-rule-hides-zone' | 'response-rule-hides-service',
  names: readonly string[],
  plan: ResponsePlan,
  report: TreeReport,
  except: ReadonlyMap<PlannedRule, unknown> = new Map(),
): ReadonlyMap<PlannedRule, unknown> {
  const hidden = new Map<PlannedRule, { readonly first: string; more: number }>()
  for (const name of names) {
    const rule = ruleFor(plan, name)
    if (rule === undefined || rule.model.action === 'passthru' || except.has(rule)) continue
    const known = hidden.get(rule)
    if (known === undefined) hidden.set(rule, { first: name, more: 0 })
    else known.more++
  }
  for (const [rule, { first, more }] of hidden) {
    const args = [rule.model.trigger, more === 0 ? first : `${first} (and ${more} more)`]
    report(code, placeOfRule(rule, 'triggerValue'), { args })
  }
  return hidden
}

/** Checks that a name has at most one exact and one domain rule in all files. */
export const responseRulesUnique: TreeRule = ({ responses }, report) => {
  for (const rule of responses.rules) {
    const { triggerType, trigger } = rule.model
    const first = responses[triggerType].get(trigger)!
    if (first === rule) continue
    const detail = { args: [triggerType, trigger], other: placeOfRule(first, 'triggerValue') }
    report('response-rule-duplicate', placeOfRule(rule, 'triggerValue'), detail)
  }
}
