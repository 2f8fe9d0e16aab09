// Tells which nodes still answer by earlier keys, and for how long. Rolls wait for them, up to a
// limit.

export interface KeyNode {
  readonly name: string
  /** Revision of the keys that the node reports; see `KeySet`. */
  readonly revision: number
  /** The report may be this old. */
  readonly lateMs: number
}

export interface BehindNode {
  readonly name: string
  readonly behindMs: number
  /** False: the node is behind for too long, and rolls go on without it. */
  readonly isWaitedFor: boolean
}

interface BehindNodesParts {
  /** Live nodes that answer by keys they are sent. */
  readonly nodes: () => readonly KeyNode[]
  /** Revision of the keys that nodes should have. */
  readonly revision: () => number
  readonly monotonicMs: () => number
}

type Lag = BehindNode & Pick<KeyNode, 'lateMs'>

const freshMs = 1_000
/** A roll can be a day late; a node that takes no keys for a day needs a person. */
export const waitedForMs = 86_400_000
/** Beyond this, every second one but the first is dropped, which makes nodes seem less behind. */
const revisionsMax = 256
/** Keys arrive within seconds; after this long people are told. */
const saidMs = 600_000

export class BehindNodes {
  readonly #parts: BehindNodesParts
  /** Ascending. The first revision that a node lacks tells since when it is behind. */
  #revisions: { readonly revision: number; readonly atMs: number }[] = []

  #known: readonly Lag[] = []
  #atMs = -Infinity

  constructor(parts: BehindNodesParts) {
    this.#parts = parts
  }

  /**
   * Names nodes that rolls wait for.
   *
   * @param beyondMs nodes that are behind for less are left out
   */
  waitedFor(beyondMs: number): readonly string[] {
    const lags = this.#lags()
    return lags
      .filter(({ behindMs, lateMs }) => behindMs > Math.max(beyondMs, lateMs))
      .filter(({ isWaitedFor }) => isWaitedFor)
      .map(({ name }) => name)
  }

  /** Nodes that people should know of. */
  notable(): readonly BehindNode[] {
    return this.#lags().filter(({ behindMs }) => behindMs >= saidMs)
  }

  /** Lists the nodes once for all zones of a look, each of which asks. */
  #lags(): readonly Lag[] {
    const nowMs = this.#parts.monotonicMs()
    if (nowMs - this.#atMs < freshMs) return this.#known
    const nodes = this.#parts.nodes()
    this.#note(nodes, nowMs)
    this.#atMs = nowMs
    return (this.#known = nodes.flatMap(({ name, revision, lateMs }) => {
      const lacked = this.#revisions.find((one) => one.revision > revision)
      if (lacked === undefined) return []
      const behindMs = nowMs - lacked.atMs
      return [{ name, lateMs, behindMs, isWaitedFor: behindMs <= waitedForMs }]
    }))
  }

  #note(nodes: readonly KeyNode[], nowMs: number): void {
    const now = this.#parts.revision()
    const last = this.#revisions.at(-1)
    if (now > (last?.revision ?? 0)) {
      if (this.#revisions.length >= revisionsMax) {
        this.#revisions = this.#revisions.filter((_, i) => i === 0 || i % 2 === 1)
      }
      this.#revisions.push({ revision: now, atMs: nowMs })
    }
    const least = Math.min(...nodes.map(({ revision }) => revision))
    // The last one stays for the comparison.
    this.#revisions = this.#revisions.filter(
      (one, i) => one.revision > least || i === this.#revisions.length - 1,
    )
  }
}
