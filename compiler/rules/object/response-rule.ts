// Checks a response rule: a valid name, and a target where it is an alias.
import { checkHostName } from '#compiler/values/names.ts'
import { keyAt, valueAt } from '#diagnostics/diagnostic.ts'
import type { Place } from '#diagnostics/diagnostic.ts'
import { reportFault } from '#diagnostics/finding.ts'
import type { Report } from '#diagnostics/finding.ts'
import type { ResponseRule } from '#schemas/objects/response-policy.ts'
import type { ObjectRule } from './object-rule.ts'

export const responseRule: ObjectRule<'ResponsePolicy'> = ({ spec }, report) => {
  for (const [i, rule] of spec.rules.entries()) {
    checkTrigger(rule, valueAt('spec', 'rules', i, 'triggerValue'), report)
    checkTarget(rule, i, report)
  }
}

function checkTrigger({ triggerValue }: ResponseRule, place: Place, report: Report): void {
  const { fault } = checkHostName(triggerValue)
  if (fault?.code === 'name-wildcard') {
    const suggestion = triggerValue.replace(/^\*\./, '')
    const isPlain = checkHostName(suggestion).fault === undefined
    const args = [triggerValue]
    report('response-trigger-wildcard', place, isPlain ? { args, suggestion } : { args })
  } else reportFault(fault, place, report)
}

function checkTarget(rule: ResponseRule, index: number, report: Report): void {
  const { action, actionTarget, triggerValue } = rule
  const place = valueAt('spec', 'rules', index, 'actionTarget')
  if (action !== 'cname') {
    if (actionTarget !== '') report('response-target-ignored', place, { args: [action] })
  } else if (actionTarget === '') {
    const at = keyAt('spec', 'rules', index, 'action')
    report('response-target-missing', at, { args: [triggerValue] })
  } else reportFault(checkHostName(actionTarget).fault, place, report)
}
