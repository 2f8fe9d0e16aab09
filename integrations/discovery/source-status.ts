// Says how a source stands, by what it was asked last and what members have of it.
import type { Query, Source } from './query.ts'
import type { Reference } from './reference.ts'

type State = 'ok' | 'asking' | 'failing' | 'held' | 'unused'

export interface SourceStatus {
  readonly name: string
  readonly type: string
  readonly tenants: readonly string[]
  readonly state: State
  /** When the members that are worst off were found, Unix epoch; 0: never. */
  readonly foundAtMs: number
  /** Why it is not as it should be; empty: it is. */
  readonly error: string
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
  // What a tenant may not use says nothing of the source.
  const own = references.filter(({ isRefused }) => !isRefused)
  const known = own.map((one) => one.describe())
  const holds = known.flatMap(({ held }) => held ?? [])
  const held = holds.reduce((sum, { missing }) => sum + missing, 0)
  // A pool that asks for what there cannot be is no fault of the source.
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
    members: known.reduce((sum, { members }) => sum + members.length, 0),
    heldSinceMs: earliest(holds.map(({ sinceMs }) => sinceMs)),
  }
}

/** 0 stands for never, and is passed over. */
function earliest(times: readonly number[]): number {
  const real = times.filter((atMs) => atMs > 0)
  return real.length === 0 ? 0 : Math.min(...real)
}
