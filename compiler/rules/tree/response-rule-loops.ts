// Finds loops of alias rules.
import { placeOfRule, ruleFor } from '#compiler/lower/response-plan.ts'
import type { PlannedRule, ResponsePlan } from '#compiler/lower/response-plan.ts'
import type { TreeRule } from './tree-rule.ts'

/** As many names as one sentence can hold. */
const namesShown = 5

export const responseRuleLoops: TreeRule = {
  name: 'response-rule-loops',
  check({ responses }, report) {
    // A rule has one target, so that each is walked over once; a walk that meets itself is a loop.
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
  },
}

/** The rule that answers when the target of an alias is asked for. */
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
