// Defines the read-only port to the running node, and the JSON of its Git status.
import { Type } from '#lib/schema/type.ts'
import type { Shown } from '#lib/schema/type.ts'
import { nullable } from '#http/shapes.ts'

/** Everything that the API reads of the node; built from the parts that were started. */
export interface OperatorView {
  readonly health: () => HealthStatus
  /** Lists the reasons why the node has not been ready since its start; empty: it is ready. */
  readonly unready: () => readonly HealthReason[]
  readonly gitops: () => GitopsStatus
  /** @param accept the header of the request: it chooses the format */
  readonly metrics: (
    accept: string | undefined,
  ) => Promise<{ readonly type: string; readonly text: string }>
}

export interface HealthStatus {
  /** `starting`: there is no bundle yet. `degraded`: it answers, but needs a person. */
  readonly status: 'ok' | 'degraded' | 'starting'
  /** Empty exactly when the status is ok. */
  readonly reasons: readonly HealthReason[]
}

/** A reason that everybody may see, so without path, host or name. */
export interface HealthReason {
  /** A word for programs, such as `redis-away`. */
  readonly code: string
  /** Cause, and where to look. */
  readonly message: string
}

/** `held`: the head was refused, or the next one would be; the accepted commit goes on serving. */
export const syncStates = ['starting', 'synced', 'pending', 'held', 'unreachable'] as const
export type SyncState = (typeof syncStates)[number]

const text = (description: string) => Type.String({ description })
const Sequence = Type.Integer({ description: 'Of its channel record' })

const Reason = nullable(
  Type.Object(
    {
      code: text('A word for programs, such as `Unsigned` or `HistoryRewritten`'),
      message: text('Cause and remedy, in a sentence'),
      sinceMs: Type.Integer({ description: 'Unix milliseconds' }),
    },
    { description: 'Why `sync` is held or unreachable; null: it is neither' },
  ),
)

const Note = nullable(
  text(
    'Why no guardrail held the accepted commit: it is a repair, and goes back to which earlier ' +
      'commit. Null also where the node has started since it was accepted. For the system ' +
      'administrator.',
  ),
)

const Diagnostic = Type.Object({
  severity: Type.Enum(['error', 'warning', 'note']),
  code: Type.String(),
  message: Type.String(),
  help: Type.String(),
  file: text('Empty: it is about no file'),
  line: Type.Integer(),
  column: Type.Integer(),
  text: Type.Optional(
    text('As `gslbd check` prints it, with the line of the file. For the system administrator.'),
  ),
})

const RefusedBundle = nullable(
  Type.Object(
    {
      code: text('A word for programs, such as `rollback` or `bad-bundle`'),
      message: Type.String(),
      seq: Sequence,
      digest: text('SHA-256 in hex'),
    },
    { description: 'What was published last and not activated; null: a later one was' },
  ),
)

const NodeStatus = Type.Object(
  {
    channel: Type.String(),
    seq: Sequence,
    serial: Type.Integer({ description: 'Of its SOA records' }),
    digest: nullable(text('SHA-256 in hex')),
    issuedAtMs: nullable(Type.Number()),
    ageSeconds: nullable(Type.Number({ description: 'Since `issuedAtMs`' })),
    expired: Type.Boolean({
      description: 'Its channel record has: the node serves on, and somebody should look',
    }),
    swapCount: Type.Integer(),
    lastSwapMs: nullable(Type.Number()),
    refused: RefusedBundle,
  },
  { description: 'The bundle that this node answers from; null and 0 before the first' },
)

/** Head, accepted and active are three commits; each may be behind the one before. */
export const GitopsStatus = Type.Object({
  branch: Type.String(),
  head: nullable(text('Newest commit of the branch; null: none was seen yet')),
  accepted: nullable(text('Newest commit that passed all checks')),
  active: nullable(text('The commit that is answered from')),
  sync: Type.Enum([...syncStates]),
  reason: Reason,
  note: Note,
  diagnostics: Type.Array(Diagnostic, {
    description:
      'Of the head, also the warnings of an accepted one, at most 100; then what the accepted ' +
      'commit uses beyond the licence, again at most 100',
  }),
  lookedFromMs: nullable(
    Type.Number({ description: 'When the last finished look at the branch began' }),
  ),
  node: NodeStatus,
})
export type GitopsStatus = Shown<typeof GitopsStatus>
