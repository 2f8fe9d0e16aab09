// What nodes share of a push, as a text in the database: who pushes, what a person asked for, and
// how the last round ended.
import { fieldsOf, parseJson } from '#lib/text/json.ts'

/** What a person asked for. */
export interface AskedPush {
  /** Digest of the plan that may be carried out beyond its limits; empty: within them. */
  readonly plan: string
  /** Records that are there as they are wanted count as ours from now on. */
  readonly adopt: boolean
  readonly atMs: number
}

export interface PushReport {
  /** End of the last round, Unix epoch. */
  readonly atMs: number
  /** Why it failed, a sentence; empty: it did not. */
  readonly fault: string
  /** What the limit holds back; null: nothing. */
  readonly held: { readonly deletes: number; readonly limit: number } | null
  /** Names what is still to be done; see `PushPlan`. */
  readonly plan: string
  /** Records that are still to be written, and to be deleted. */
  readonly adds: number
  readonly deletes: number
  /** Records that are there, and still to get another TTL. */
  readonly ttlChanges: number
  /** Records at the target that are as they are wanted. */
  readonly same: number
  /** Drift: records of ours that somebody took away, those of others, sets that are in the way. */
  readonly missing: number
  readonly foreign: number
  readonly conflicts: number
  /** Sets that the target cannot have. */
  readonly skipped: number
  /** When something was written there last, Unix epoch; 0: never. */
  readonly writtenAtMs: number
  /** Records that were written, changed and deleted there, since the first round. */
  readonly written: number
  /** Lines about sets that are skipped or in conflict. */
  readonly notes: readonly string[]
  /** See `ttlChangeKey`: those that the target has taken last, made or not; one a set at most. */
  readonly taken: readonly string[]
}

export interface PushState {
  /** Node and process that push; empty: nobody. */
  readonly holder: string
  readonly beat: number
  /** See `PushTarget`. */
  readonly place: string
  readonly asked: AskedPush | null
  readonly report: PushReport | null
}

export const noState: PushState = Object.freeze({
  ...{ holder: '', beat: 0, place: '', asked: null, report: null },
})

/** A text of another version, or none, is nothing that is known: the next round writes it anew. */
export function readPushState(text: string): PushState {
  const { version, ...state } = fieldsOf(parseJson(text))
  return version === formatVersion ? (state as unknown as PushState) : noState
}

export const printPushState = (state: PushState): string =>
  JSON.stringify({ version: formatVersion, ...state })

const formatVersion = 1
