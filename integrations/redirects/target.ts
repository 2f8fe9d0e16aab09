// Defines the interface of a server that gets redirects: reads its redirects, and changes what
// differs.
import { isDeepStrictEqual } from 'node:util'
import { err, ok } from '#lib/result.ts'
import type { Result } from '#lib/result.ts'
import type { PushedRedirect } from './rule.ts'

export interface Change {
  readonly verb: 'create' | 'update' | 'delete'
  /** The mark of the redirect that changes. */
  readonly mark: string
  /** For people, such as `old.example -> https://new.example 301`; empty for a removed one. */
  readonly what: string
}

export interface Plan {
  readonly changes: readonly Change[]
  /** Redirects that this server does not support, each with the reason. */
  readonly skipped: readonly { readonly mark: string; readonly reason: string }[]
  /** True: there is work even without a change. */
  readonly isPending?: boolean
  /** Errors: a sentence for the operator. */
  readonly apply: (signal: AbortSignal) => Promise<Result<null, string>>
}

export interface RedirectTarget {
  /** Name, such as `caddy`. */
  readonly name: string
  /**
   * Compares without changing anything; `apply` makes the changes. Errors: a sentence for the
   * operator.
   */
  readonly look: (
    wanted: readonly PushedRedirect[],
    signal: AbortSignal,
  ) => Promise<Result<Plan, string>>
}

type Fields = Readonly<Record<string, unknown>>

/** Whether the server has all fields as they are wanted; it may add others, such as defaults. */
export function hasAll(there: Fields, wanted: Fields): boolean {
  return Object.entries(wanted).every(([key, value]) => isDeepStrictEqual(there[key], value))
}

/** Failures in a row after which a server is left alone until the next round. */
const failuresMax = 20

/** Goes on after a failure. Errors: the first one, and their number. */
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

function describe(one: PushedRedirect): string {
  const host = one.isWildcard ? `*.${one.host}` : one.host
  return `${host} -> ${one.target} ${one.code}${one.preservePath ? ', with the path' : ''}`
}

/**
 * @param there our redirects on the server, by mark
 *
 * @param isSame compares one with the wanted one
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
