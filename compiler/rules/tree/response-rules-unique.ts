// Checks that a name has at most one exact rule and one domain rule in all files.
import { placeOfRule } from '#compiler/lower/response-plan.ts'
import type { TreeRule } from './tree-rule.ts'

export const responseRulesUnique: TreeRule = {
  name: 'response-rules-unique',
  check({ responses }, report) {
    for (const rule of responses.rules) {
      const { triggerType, trigger } = rule.model
      const first = responses[triggerType].get(trigger)!
      if (first === rule) continue
      report('response-rule-duplicate', placeOfRule(rule, 'triggerValue'), {
        args: [triggerType, trigger],
        other: placeOfRule(first, 'triggerValue'),
      })
    }
  },
}
