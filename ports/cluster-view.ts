// Defines the port to the nodes of the cluster: their state, and a restart of one.
import type { Result } from '#lib/result.ts'
import type { ClusterNode } from '#state/ports/cluster-nodes.ts'

export interface SeenNode extends ClusterNode {
  /** True for the node that answers the request. */
  readonly isSelf: boolean
  /** True when it has been silent for too long. */
  readonly isMissing: boolean
  /** `control` nodes serve bundles, and may answer as well; `dns` nodes pull bundles and answer. */
  readonly role: 'control' | 'dns' | 'agent'
  /** false: it is not listed, or has not signed its report. */
  readonly isKnown: boolean
  readonly labels: Readonly<Record<string, string>>
  /** How far its clock is ahead (+) or behind (-) of the node that heard it; null: unknown. */
  readonly clockOffsetMs: number | null
  /** The last refusals, oldest first. */
  readonly refusals: readonly {
    readonly digest: string
    readonly code: string
    readonly reason: string
    readonly atMs: number
  }[]
  /** How it differs from the rest of the fleet. */
  readonly drift: readonly (typeof driftCodes)[number][]
}

/** Equal to those of `fleet/drift.ts`, which a test checks. */
export const driftCodes = [
  'missing',
  'behind',
  'split-seq',
  'clock',
  'refusing',
  'name-taken',
] as const

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
