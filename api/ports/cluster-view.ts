// The port to the nodes of the cluster: what each says of itself, and how one is started again.
import type { Result } from '#lib/result.ts'
import type { ClusterNode } from '#state/ports/cluster-nodes.ts'

export interface SeenNode extends ClusterNode {
  /** It is the node that answers. */
  readonly isSelf: boolean
  /** It was not heard for longer than it should be. */
  readonly isMissing: boolean
  /** `control` nodes give bundles, and may answer as well; `dns` ones pull them and answer. */
  readonly role: 'control' | 'dns' | 'agent'
  /** false: it is not listed, or has not signed what it says. */
  readonly isKnown: boolean
  readonly labels: Readonly<Record<string, string>>
  /** Its clock before (+) or behind (-) that of the node that heard it; null: not known. */
  readonly clockOffsetMs: number | null
  /** The last ones, oldest first. */
  readonly refusals: readonly {
    readonly digest: string
    readonly code: string
    readonly reason: string
    readonly atMs: number
  }[]
  /** What is wrong with it as one of a fleet. */
  readonly drift: readonly (typeof driftCodes)[number][]
}

/** As in `fleet/drift.ts`; a test compares them. */
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
 * not answer. `alone`: this node reaches no other one.
 */
export type RestartFault = 'unknown' | 'unsupervised' | 'silent' | 'alone'

export interface ClusterView {
  /** This node first, then the others by name. */
  readonly nodes: () => Promise<readonly SeenNode[]>
  /** Resolves when the node has said that it will. Errors: why not, and a sentence. */
  readonly restart: (
    name: string,
  ) => Promise<Result<null, { readonly code: RestartFault; readonly message: string }>>
}
