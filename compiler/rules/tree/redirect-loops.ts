// Finds redirects that lead in a circle over plain HTTP.
import { valueAt } from '#compiler/diagnostics/diagnostic.ts'
import { redirectFor } from '#compiler/plan/redirect-plan.ts'
import type { PlannedRedirect, RedirectPlan } from '#compiler/plan/redirect-plan.ts'
import { placeIn } from '#compiler/tree/tree.ts'
import { plainHostOf } from '#bundle/redirects/redirect-target.ts'
import type { TreeRule } from './tree-rule.ts'

/** As many hosts as one sentence can hold. */
const hostsShown = 5

export const redirectLoops: TreeRule = {
  name: 'redirect-loops',
  check({ redirects }, report) {
    // A redirect has one target, so that each is walked over once; a walk that meets itself is one.
    const walkOf = new Map<PlannedRedirect, number>()
    for (const [walk, start] of redirects.redirects.entries()) {
      let at: PlannedRedirect | undefined = start
      while (at !== undefined && !walkOf.has(at)) {
        walkOf.set(at, walk)
        at = nextOf(redirects, at)
      }
      if (at === undefined || walkOf.get(at) !== walk) continue
      // That is told where its object is read.
      if (!at.model.isWildcard && nextOf(redirects, at) === at) continue
      const args = [hostsFrom(redirects, at)]
      report('redirect-loop', placeIn(at.entry, valueAt('spec', 'targetUrl')), { args })
    }
  },
}

/** The redirect that answers when the target of another is asked for. */
function nextOf(plan: RedirectPlan, { model }: PlannedRedirect): PlannedRedirect | undefined {
  const host = plainHostOf(model.target)
  return host === undefined ? undefined : redirectFor(plan, host)
}

function hostsFrom(plan: RedirectPlan, first: PlannedRedirect): string {
  const hosts = [nameOf(first)]
  let at = first
  do {
    at = nextOf(plan, at)!
    hosts.push(nameOf(at))
  } while (at !== first && hosts.length < hostsShown)
  return at === first ? hosts.join(' → ') : [...hosts, '…'].join(' → ')
}

function nameOf({ model }: PlannedRedirect): string {
  return `${model.isWildcard ? '*.' : ''}${model.host}`
}
