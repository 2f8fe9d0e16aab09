// Computes the status of a source from its last answers and the members that depend on it.
import type { Query, Source } from './query.ts'
import type { Reference } from './reference.ts'

type State = 'ok' | 'asking' | 'failing' | 'held' | 'unused'

export interface SourceStatus {
  readonly name: string
  readonly type: string
  readonly tenants: readonly string[]
  readonly state: State
  /** When the oldest answered members were found, Unix epoch; 0: never. */
  readonly foundAtMs: number
  /** What is wrong; empty: nothing. */
  readonly error: string
  /** What would make it better; empty: nothing. */
  readonly note: string
  readonly members: number
  readonly held: number
  /** Unix epoch; 0: none are held. */
  readonly heldSinceMs: number
}

/** @param references those that name the source */
export function sourceStatus(
  { settings }: Source,
  queries: readonly Query[],
  references: readonly Reference[],
): SourceStatus {
  const { name, type, tenants } = settings
  // A tenant that may not use the source tells nothing about it.
  const own = references.filter(({ isRefused }) => !isRefused)
  const known = own.map((one) => one.describe())
  const holds = known.flatMap(({ held }) => held ?? [])
  const held = holds.reduce((sum, { missing }) => sum + missing, 0)
  // An impossible question of a pool is no fault of the source.
  const fault = queries.map(({ error }) => error).find((error) => error !== '')
  const isAsking = queries.some(({ hasTried }) => !hasTried)
  let state: State = 'ok'
  if (queries.length === 0) state = 'unused'
  else if (fault !== undefined) state = 'failing'
  else if (held > 0) state = 'held'
  else if (isAsking) state = 'asking'
  return {
    ...{ name, type, tenants, state, held },
    foundAtMs: earliest(known.map(({ foundAtMs }) => foundAtMs)),
    error: fault ?? known.find(({ held: some }) => some !== null)?.error ?? '',
    note: queries.map(({ note }) => note).find((note) => note !== '') ?? unaskedNote(own),
    members: known.reduce((sum, { members }) => sum + members.length, 0),
    heldSinceMs: earliest(holds.map(({ sinceMs }) => sinceMs)),
  }
}

/** Members that ask what nobody can be asked for are no fault of the source. */
function unaskedNote(references: readonly Reference[]): string {
  const unasked = references.filter(({ query }) => query === undefined)
  const first = unasked[0]?.describe()
  if (first === undefined) return ''
  const { from, tenant, error } = first
  const more = unasked.length === 1 ? '' : `, and ${unasked.length - 1} more`
  return `not asked for ${from} of the tenant ${tenant}${more}: ${error}`
}

/** The earliest time; 0 (never) is ignored. */
function earliest(times: readonly number[]): number {
  const real = times.filter((atMs) => atMs > 0)
  return real.length === 0 ? 0 : Math.min(...real)
}
