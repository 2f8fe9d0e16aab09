// Defines the port to zones that are pushed to other servers, and their JSON.
import type { Result } from '#lib/result.ts'
import { Type } from '#lib/schema/type.ts'
import type { Shown } from '#lib/schema/type.ts'
import { nullable } from '#http/shapes.ts'

const pushStates = ['waiting', 'synced', 'pending', 'held', 'conflict', 'failing'] as const

const Count = (description: string) => Type.Integer({ description })
const Unix = (description: string) =>
  nullable(Type.Integer({ description: `${description}, Unix milliseconds; null: never` }))

/** A target of the settings of a node; numbers are those of the last look at it. */
export const ZonePush = Type.Object(
  {
    name: Type.String(),
    type: Type.String({ description: 'rfc2136, route53 or cloudflare' }),
    zone: Type.String(),
    state: Type.Enum([...pushStates], {
      description:
        'waiting: nobody has looked yet; pending: a person has to apply it; held: it would ' +
        'delete more than its limit; conflict: sets of others are in the way; failing: see `error`',
    }),
    node: nullable(Type.String({ description: 'The node that pushes; null: none does' })),
    lookedAt: Unix('When the target was looked at last'),
    writtenAt: Unix('When something was written there last'),
    error: Type.String({ description: 'Why it fails; empty: it does not' }),
    plan: Type.String({ description: 'Digest of what is to be done; empty: nothing, or unknown' }),
    adds: Count('Records that are still to be written'),
    deletes: Count('Records that are still to be deleted'),
    ttlChanges: Count('Records that are there, and still to get another TTL'),
    deletesMax: Count('How many one push may delete without replacing them'),
    same: Count('Records there that are as they are wanted'),
    missing: Count('Records of ours that somebody had taken away at the last look'),
    foreign: Count('Records of others, which stay'),
    conflicts: Count(
      'Sets that cannot be written: others are in the way, or the target does not take them',
    ),
    skipped: Count('Sets that the target cannot have'),
    written: Count('Records that were written, changed and deleted there, since the first push'),
    notes: Type.Array(Type.String(), {
      description: 'On conflicts and what is skipped, at most 20',
    }),
  },
  { title: 'ZonePush' },
)

/** The same with times of which 0 is never. */
export interface ShownPush extends Omit<Shown<typeof ZonePush>, 'lookedAt' | 'writtenAt'> {
  readonly lookedAtMs: number
  readonly writtenAtMs: number
}

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
