// Defines the port to zones that are pushed to other servers, and the JSON of a plan.
import type { Result } from '#lib/result.ts'
import { Type } from '#lib/schema/type.ts'
import type { Shown } from '#lib/schema/type.ts'

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

const Count = (description: string) => Type.Integer({ description })
const Note = Type.Object({ name: Type.String(), type: Type.String(), why: Type.String() })
export type ShownNote = Shown<typeof Note>

export const ZonePushPlan = Type.Object(
  {
    digest: Type.String({ description: 'Names these changes, for `apply`' }),
    adds: Type.Integer(),
    deletes: Count('Records that go without another one in their set'),
    ttlChanges: Count('Records that are there, and get another TTL'),
    deletesMax: Type.Integer(),
    changes: Type.Array(
      Type.Object({
        name: Type.String(),
        type: Type.String(),
        ttl: Type.Integer(),
        adds: Type.Array(Type.String()),
        deletes: Type.Array(Type.String()),
      }),
      { description: 'At most 1,000, as in each list' },
    ),
    foreign: Type.Array(
      Type.Object({
        ...{ name: Type.String(), type: Type.String() },
        values: Type.Array(Type.String()),
      }),
      { description: 'What is of others, and stays' },
    ),
    conflicts: Type.Array(Note),
    skipped: Type.Array(Note),
    counts: Type.Object({
      ...{ changes: Type.Integer(), foreign: Type.Integer(), conflicts: Type.Integer() },
      ...{ skipped: Type.Integer(), same: Type.Integer() },
      adoptable: Count('Records of others that are as they are wanted: `adopt` makes them ours'),
    }),
  },
  { title: 'ZonePushPlan' },
)
export type ShownPlan = Shown<typeof ZonePushPlan>

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
