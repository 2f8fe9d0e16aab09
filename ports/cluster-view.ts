// Defines the port to the nodes of the cluster: their state and its JSON, and a restart of one.
import type { Result } from '#lib/result.ts'
import { Type } from '#lib/schema/type.ts'
import type { Shown } from '#lib/schema/type.ts'
import type { ClusterNode as AnnouncedNode } from '#state/ports/cluster-nodes.ts'
import { nullable } from '#http/shapes.ts'

/** Equal to those of `fleet/drift.ts`, which a test checks. */
export const driftCodes = [
  'missing',
  'behind',
  'split-seq',
  'clock',
  'refusing',
  'name-taken',
] as const

export const ClusterNode = Type.Object(
  {
    name: Type.String(),
    isSelf: Type.Boolean({ description: 'It is the node that answers' }),
    isMissing: Type.Boolean({
      description: 'It was not heard for 20 seconds; of the role dns, 100 seconds',
    }),
    role: Type.Enum(['control', 'dns', 'agent'], {
      description:
        'dns: it pulls bundles and answers; control: it gives them, and may answer as well',
    }),
    labels: Type.Record(Type.String(), Type.String(), { description: 'Its `node.labels`' }),
    version: Type.String(),
    startedAt: Type.Integer({ description: 'Unix milliseconds' }),
    seenAt: Type.Integer({ description: 'When it last said so, Unix milliseconds, by its clock' }),
    commit: nullable(
      Type.String({
        description: 'It answers from it; null: from nothing yet, or its role is dns',
      }),
    ),
    digest: nullable(Type.String({ description: 'Of its bundle' })),
    seq: Type.Integer({ description: 'Of its channel record' }),
    ageSeconds: nullable(Type.Number({ description: 'Of its channel record' })),
    load: nullable(
      Type.Object(
        {
          busyRatio: Type.Number({ description: 'CPU time of its busiest DNS thread, 0 to 1' }),
          queries: Type.Integer({ description: 'DNS queries since it started' }),
        },
        { description: 'null: it answers no DNS (`roles: [control]`)' },
      ),
    ),
    health: Type.Object({
      status: Type.Enum(['ok', 'degraded', 'starting']),
      reasons: Type.Array(Type.String(), { description: 'Codes, as in GET /api/v1/health' }),
      members: Type.Object({
        healthy: Type.Integer(),
        unhealthy: Type.Integer(),
        warming: Type.Integer(),
        unprobed: Type.Optional(
          Type.Integer({ description: 'Of the healthy: nobody probes them, so nobody knows' }),
        ),
        unresolved: Type.Optional(
          Type.Integer({ description: 'Beside these: what they name has no address now' }),
        ),
      }),
    }),
    clockOffsetMs: nullable(
      Type.Integer({ description: 'Its clock before (+) or behind (-) ours; null: not known' }),
    ),
    refusals: Type.Array(
      Type.Object({
        digest: Type.String({ description: 'Of the bundle; empty: the record said none' }),
        code: Type.String(),
        reason: Type.String(),
        at: Type.Integer({ description: 'Unix milliseconds, by its clock' }),
      }),
      { description: 'What it refused lately, oldest first' },
    ),
    isKnown: Type.Boolean({
      description: 'false: it is not listed, or has not signed what it says, and counts nowhere',
    }),
    drift: Type.Array(Type.Enum([...driftCodes]), {
      description:
        'What is wrong with it as one of a fleet: silent, behind for five minutes, another ' +
        'bundle under the same seq, a clock off by more than a second, refusing, its name taken twice',
    }),
    canRestart: Type.Boolean({ description: 'Something starts it again when it ends' }),
  },
  { title: 'ClusterNode' },
)

type FleetFields =
  'isSelf' | 'isMissing' | 'role' | 'isKnown' | 'labels' | 'clockOffsetMs' | 'drift'

export interface SeenNode extends AnnouncedNode, Pick<Shown<typeof ClusterNode>, FleetFields> {
  /** The last refusals, oldest first. */
  readonly refusals: readonly {
    readonly digest: string
    readonly code: string
    readonly reason: string
    readonly atMs: number
  }[]
}

/**
 * `unknown`: there is no such node. `unsupervised`: nothing would start it again. `silent`: it did
 * not answer. `alone`: this node reaches no other.
 */
export type RestartFault = 'unknown' | 'unsupervised' | 'silent' | 'alone'

export interface ClusterView {
  /** Lists this node first, then the others by name. */
  readonly nodes: () => Promise<readonly SeenNode[]>
  /** Resolves when the node has agreed to restart. Errors: why not, with a sentence. */
  readonly restart: (
    name: string,
  ) => Promise<Result<null, { readonly code: RestartFault; readonly message: string }>>
}
