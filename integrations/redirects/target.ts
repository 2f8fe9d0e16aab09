// The interface of a server that gets redirects: reads what it has, and changes what differs.
import { err, ok } from '#lib/result.ts'
import type { Result } from '#lib/result.ts'
import type { PushedRedirect } from './rule.ts'

export interface Change {
  readonly verb: 'create' | 'update' | 'delete'
  /** The mark of the redirect that changes. */
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

/** Failures in a row after which a server is left alone until the next round. */
const failuresMax = 20

/** One that is refused stops no other. Errors: the first one, and how many there were. */
export async function writeEach<One>(
  all: readonly One[],
  write: (one: One) => Promise<Result<unknown, string>>,
  signal: AbortSignal,
): Promise<Result<null, string>> {
  let [first, failures, inARow] = ['', 0, 0]
  for (const one of all) {
    const done = await write(one)
    inARow = done.ok ? 0 : inARow + 1
    if (done.ok) continue
    failures++
    if (first === '') first = done.error
    if (signal.aborted || inARow === failuresMax) break
  }
  if (failures === 0) return ok(null)
  return err(failures === 1 ? first : `${first} (and ${failures - 1} more)`)
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
