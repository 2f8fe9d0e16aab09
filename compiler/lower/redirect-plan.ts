// Resolves the redirects of a tree, and finds the one that answers for a host.
import { redirectCodeOf } from '#bundle/redirects/redirect-table.ts'
import type { RedirectModel } from '#bundle/redirects/redirect-table.ts'
import { redirectCodeDefault } from '#schemas/objects/redirect.ts'
import { checkHostPattern } from '#compiler/values/names.ts'
import { enclosingNames } from '#dns/enclosing-names.ts'
import { headerTarget } from '#bundle/redirects/redirect-target.ts'
import type { Entry, Tree } from '#compiler/tree/tree.ts'

export interface PlannedRedirect {
  readonly model: RedirectModel
  readonly entry: Entry<'Redirect'>
}

export interface RedirectPlan {
  /** In the order of the files, without redirects of invalid hosts. */
  readonly redirects: readonly PlannedRedirect[]
  /** The first of each host, by `*.old.example.` or `old.example.` */
  readonly at: ReadonlyMap<string, PlannedRedirect>
}

export function planRedirects(tree: Tree): RedirectPlan {
  const redirects = tree.of.Redirect.flatMap((entry) => {
    const model = (entry.derived.redirect ??= modelOf(entry))
    return model === undefined ? [] : [{ model, entry }]
  })
  const at = new Map<string, PlannedRedirect>()
  for (const one of redirects) {
    const key = `${one.model.isWildcard ? '*.' : ''}${one.model.host}`
    if (!at.has(key)) at.set(key, one)
  }
  return { redirects, at }
}

/** @param host lower case with its trailing dot */
export function redirectFor({ at }: RedirectPlan, host: string): PlannedRedirect | undefined {
  const exact = at.get(host)
  if (exact !== undefined) return exact
  for (const above of enclosingNames(host)) {
    const wildcard = at.get(`*.${above}`)
    if (wildcard !== undefined) return wildcard
  }
  return undefined
}

function modelOf({ uid, tenant, object: { spec } }: Entry<'Redirect'>): RedirectModel | undefined {
  const { key } = checkHostPattern(spec.sourceFqdn)
  if (key === undefined) return undefined
  const isWildcard = key.startsWith('*.')
  return {
    uid,
    tenant,
    host: isWildcard ? key.slice(2) : key,
    isWildcard,
    target: headerTarget(spec.targetUrl),
    code: redirectCodeOf.find((code) => code === spec.code) ?? redirectCodeDefault,
    preservePath: spec.preservePath,
    hstsSeconds: spec.hstsMaxAge,
    hstsIncludeSubDomains: spec.hstsIncludeSubDomains,
  }
}
