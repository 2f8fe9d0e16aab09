// The interface of a server that gets redirects: it is looked at, and what differs is mended.
import type { Result } from '#lib/result.ts'
import type { PushedRedirect } from './rule.ts'

export interface Change {
  readonly verb: 'create' | 'update' | 'delete'
  /** Of the redirect. */
  readonly mark: string
  /** For people: `old.example -> https://new.example 301`; empty for what goes. */
  readonly what: string
}

export interface Plan {
  readonly changes: readonly Change[]
  /** Redirects that this server cannot have, each with the reason. */
  readonly skipped: readonly { readonly mark: string; readonly reason: string }[]
  /** There is something to do even without a change. */
  readonly isPending?: boolean
  /** Errors: a sentence for the operator. */
  readonly apply: (signal: AbortSignal) => Promise<Result<null, string>>
}

export interface RedirectTarget {
  /** `caddy` */
  readonly name: string
  /**
   * Reads what is there, and says what `apply` would do; changes nothing. Errors: a sentence for
   * the operator.
   */
  readonly look: (
    wanted: readonly PushedRedirect[],
    signal: AbortSignal,
  ) => Promise<Result<Plan, string>>
}

export function describe(one: PushedRedirect): string {
  const host = one.isWildcard ? `*.${one.host}` : one.host
  return `${host} -> ${one.target} ${one.code}${one.preservePath ? ', with the path' : ''}`
}

/**
 * @param there by mark: what the server has of ours
 * @param isSame whether what is there is what is wanted
 */
export function changesOf<There>(
  wanted: readonly PushedRedirect[],
  there: ReadonlyMap<string, There>,
  isSame: (one: PushedRedirect, found: There) => boolean,
): Change[] {
  const changes: Change[] = []
  const marks = new Set<string>()
  for (const one of wanted) {
    marks.add(one.mark)
    const found = there.get(one.mark)
    const verb = found === undefined ? 'create' : 'update'
    if (found !== undefined && isSame(one, found)) continue
    changes.push({ verb, mark: one.mark, what: describe(one) })
  }
  for (const mark of there.keys()) {
    if (!marks.has(mark)) changes.push({ verb: 'delete', mark, what: '' })
  }
  return changes
}
