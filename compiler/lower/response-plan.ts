// Indexes the response rules of a tree by name, and finds the one that answers for a name.
import type { ResponseRuleModel } from '#bundle/format/model.ts'
import { responseRuleUid } from '#compiler/read/identity.ts'
import { checkHostName } from '#compiler/values/names.ts'
import { enclosingNames } from '#dns/enclosing-names.ts'
import type { Denial } from './answers.ts'
import { valueIn } from '#compiler/tree/tree.ts'
import type { Entry, EntryPlace, Tree } from '#compiler/tree/tree.ts'

export interface PlannedRule {
  readonly model: ResponseRuleModel
  readonly entry: Entry<'ResponsePolicy'>
  /** Position in the `rules` of its file. */
  readonly index: number
}

export interface ResponsePlan {
  /** In the order of the files, without rules of invalid names. */
  readonly rules: readonly PlannedRule[]
  /** The first rule of each name. */
  readonly exact: ReadonlyMap<string, PlannedRule>
  readonly domain: ReadonlyMap<string, PlannedRule>
}

export function planResponses(tree: Tree): ResponsePlan {
  const rules = tree.of.ResponsePolicy.flatMap((entry) =>
    modelsOf(entry).flatMap((model, index) =>
      model === undefined ? [] : [{ model, entry, index }],
    ),
  )
  const exact = new Map<string, PlannedRule>()
  const domain = new Map<string, PlannedRule>()
  for (const rule of rules) {
    const { triggerType, trigger } = rule.model
    const named = triggerType === 'exact' ? exact : domain
    if (!named.has(trigger)) named.set(trigger, rule)
  }
  return { rules, exact, domain }
}

/** The rule for a name in lower case: its exact one, else that of the deepest enclosing domain. */
export function ruleFor(plan: ResponsePlan, name: string): PlannedRule | undefined {
  return plan.exact.get(name) ?? plan.domain.get(name) ?? ruleAbove(plan, name)
}

/** The rule for the deepest domain above a name. */
export function ruleAbove({ domain }: ResponsePlan, name: string): PlannedRule | undefined {
  for (const above of enclosingNames(name)) {
    const rule = domain.get(above)
    if (rule !== undefined) return rule
  }
  return undefined
}

/** Checks whether a rule denies a name; undefined: no rule denies any. */
export function denialIn(plan: ResponsePlan): Denial | undefined {
  const denies = (rule: PlannedRule | undefined): boolean => rule?.model.action === 'nxdomain'
  return plan.rules.some(denies) ? (name) => denies(ruleFor(plan, name)) : undefined
}

export function placeOfRule(
  { entry, index }: PlannedRule,
  field: 'triggerValue' | 'actionTarget',
): EntryPlace {
  return valueIn(entry, 'spec', 'rules', index, field)
}

function modelsOf(entry: Entry<'ResponsePolicy'>): readonly (ResponseRuleModel | undefined)[] {
  const { metadata, spec } = entry.object
  entry.derived.responseRules ??= spec.rules.map((rule) => {
    const { triggerType, action, signed } = rule
    const trigger = checkHostName(rule.triggerValue).key
    const target = action === 'cname' ? checkHostName(rule.actionTarget).key : ''
    if (trigger === undefined || target === undefined) return undefined
    return {
      uid: rule.uid?.toLowerCase() ?? responseRuleUid(entry.uid, triggerType, trigger),
      triggerType,
      trigger,
      action,
      target,
      signed,
      source: spec.source ?? metadata.name,
    }
  })
  return entry.derived.responseRules
}
