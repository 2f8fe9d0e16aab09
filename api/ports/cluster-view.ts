// The port to the nodes of the cluster: what each says of itself, and how one is started again.
import type { Result } from '#lib/result.ts'
import type { ClusterNode } from '#state/ports/cluster-nodes.ts'

export interface SeenNode extends ClusterNode {
  /** It is the node that answers. */
  readonly isSelf: boolean
  /** It was not heard for longer than it should be. */
  readonly isMissing: boolean
}

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
