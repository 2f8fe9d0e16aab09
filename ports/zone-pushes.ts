// Defines the port to zones that are pushed to other servers.
import type { Result } from '#lib/result.ts'

export const pushStates = ['waiting', 'synced', 'pending', 'held', 'conflict', 'failing'] as const

/** A target of the settings of this node; numbers are those of the last look at it. */
export interface ShownPush {
  readonly name: string
  readonly type: string
  readonly zone: string
  readonly state: (typeof pushStates)[number]
  /** Name of the node that pushes; null: none does. */
  readonly node: string | null
  /** Unix epoch; 0: never. */
  readonly lookedAtMs: number
  readonly writtenAtMs: number
  /** A sentence; empty: nothing is wrong. */
  readonly error: string
  /** Digest of what is to be done; empty: it is not known, or nothing is. */
  readonly plan: string
  readonly adds: number
  readonly deletes: number
  /** Records that are there, and get another TTL. */
  readonly ttlChanges: number
  readonly deletesMax: number
  readonly same: number
  readonly missing: number
  readonly foreign: number
  readonly conflicts: number
  readonly skipped: number
  readonly written: number
  readonly notes: readonly string[]
}

export interface ShownChange {
  readonly name: string
  readonly type: string
  readonly ttl: number
  readonly adds: readonly string[]
  readonly deletes: readonly string[]
}

export interface ShownNote {
  readonly name: string
  readonly type: string
  readonly why: string
}

export interface ShownPlan {
  readonly digest: string
  readonly adds: number
  readonly deletes: number
  readonly ttlChanges: number
  readonly deletesMax: number
  /** At most a thousand of each; the counts are whole. */
  readonly changes: readonly ShownChange[]
  readonly foreign: readonly { name: string; type: string; values: readonly string[] }[]
  readonly conflicts: readonly ShownNote[]
  readonly skipped: readonly ShownNote[]
  readonly counts: Readonly<
    Record<'changes' | 'foreign' | 'conflicts' | 'skipped' | 'same' | 'adoptable', number>
  >
}

export interface AskedApply {
  /** Digest of the plan that is permitted beyond its limit; empty: none. */
  readonly plan: string
  readonly adopt: boolean
}

export interface ZonePushView {
  readonly list: () => readonly ShownPush[]
  /** null: there is no such target. Errors: a sentence. */
  readonly plan: (name: string) => Promise<Result<ShownPlan, string> | null>
  /** Has the node that pushes do so. null: there is no such target. Errors: a sentence. */
  readonly ask: (name: string, asked: AskedApply) => Promise<Result<null, string> | null>
}
