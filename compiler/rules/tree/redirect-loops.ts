// Finds loops of redirects.
import { hostOf, plainHostOf } from '#bundle/redirects/redirect-target.ts'
import { redirectFor } from '#compiler/lower/redirect-plan.ts'
import type { PlannedRedirect, RedirectPlan } from '#compiler/lower/redirect-plan.ts'
import { placeIn } from '#compiler/tree/tree.ts'
import { valueAt } from '#diagnostics/diagnostic.ts'
import type { TreeRule } from './tree-rule.ts'

/** Hosts that fit into one sentence. */
const hostsShown = 5

type Next = (plan: RedirectPlan, from: PlannedRedirect) => PlannedRedirect | undefined

export const redirectLoops: TreeRule = ({ redirects }, report) => {
  for (const first of circles(redirects, nextOverHttp)) {
    // An object rule reports this.
    if (!first.model.isWildcard && nextOverHttp(redirects, first) === first) continue
    const args = [hostsFrom(redirects, first, nextOverHttp)]
    report('redirect-loop', placeIn(first.entry, target), { args })
  }
  for (const first of circles(redirects, nextOverAny)) {
    if (isOverHttp(redirects, first)) continue
    const args = [hostsFrom(redirects, first, nextOverAny)]
    report('redirect-loop-https', placeIn(first.entry, target), { args })
  }
}

const target = valueAt('spec', 'targetUrl')

/** @returns one redirect of each loop */
function circles(plan: RedirectPlan, next: Next): readonly PlannedRedirect[] {
  // A redirect has one target, so each is visited once; a walk that meets itself is a loop.
  const walkOf = new Map<PlannedRedirect, number>()
  const found: PlannedRedirect[] = []
  for (const [walk, start] of plan.redirects.entries()) {
    let at: PlannedRedirect | undefined = start
    while (at !== undefined && !walkOf.has(at)) {
      walkOf.set(at, walk)
      at = next(plan, at)
    }
    if (at !== undefined && walkOf.get(at) === walk) found.push(at)
  }
  return found
}

/** The redirect that answers the target of another one. */
function nextOverHttp(plan: RedirectPlan, { model }: PlannedRedirect): PlannedRedirect | undefined {
  const host = plainHostOf(model.target)
  return host === undefined ? undefined : redirectFor(plan, host)
}

/** The same for servers that answer https, too. */
function nextOverAny(plan: RedirectPlan, { model }: PlannedRedirect): PlannedRedirect | undefined {
  const host = hostOf(model.target)
  return host === undefined ? undefined : redirectFor(plan, host)
}

/** True: no step of the loop of `first` needs https. */
function isOverHttp(plan: RedirectPlan, first: PlannedRedirect): boolean {
  let at: PlannedRedirect | undefined = first
  do at = nextOverHttp(plan, at)
  while (at !== undefined && at !== first)
  return at === first
}

function hostsFrom(plan: RedirectPlan, first: PlannedRedirect, next: Next): string {
  const hosts = [nameOf(first)]
  let at = first
  do {
    at = next(plan, at)!
    hosts.push(nameOf(at))
  } while (at !== first && hosts.length < hostsShown)
  return at === first ? hosts.join(' → ') : [...hosts, '…'].join(' → ')
}

function nameOf({ model }: PlannedRedirect): string {
  return `${model.isWildcard ? '*.' : ''}${model.host}`
}
