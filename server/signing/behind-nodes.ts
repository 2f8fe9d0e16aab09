// Knows which nodes answer by keys of before, and for how long: rolls wait for them, for a time.

export interface KeyNode {
  readonly name: string
  /** Revision of the keys that it says it has; see `KeySet`. */
  readonly revision: number
  /** Its word may be so old. */
  readonly lateMs: number
}

export interface BehindNode {
  readonly name: string
  readonly behindMs: number
  /** False: it is behind for too long, and rolls go on without it. */
  readonly isWaitedFor: boolean
}

export interface BehindNodesParts {
  /** Nodes that live and count, and answer by keys that they are sent. */
  readonly nodes: () => readonly KeyNode[]
  /** What the keys are of that nodes are to have. */
  readonly revision: () => number
  readonly monotonicMs: () => number
}

type Lag = BehindNode & Pick<KeyNode, 'lateMs'>

const freshMs = 1_000
/** A roll can be a day late; a node that takes no keys for a day needs a person. */
export const waitedForMs = 86_400_000
/** Beyond, each second one but the first is left out: nodes are behind for a little less. */
const revisionsMax = 256
/** Keys come within seconds; said to people after so long. */
const saidMs = 600_000

export class BehindNodes {
  readonly #parts: BehindNodesParts
  /** Rising; the first one that a node lacks says since when it is behind. */
  #revisions: { readonly revision: number; readonly atMs: number }[] = []

  #known: readonly Lag[] = []
  #atMs = -Infinity

  constructor(parts: BehindNodesParts) {
    this.#parts = parts
  }

  /** @param beyondMs who is behind for longer, and is waited for; names in their order */
  waitedFor(beyondMs: number): readonly string[] {
    const lags = this.#lags()
    return lags
      .filter(({ behindMs, lateMs }) => behindMs > Math.max(beyondMs, lateMs))
      .filter(({ isWaitedFor }) => isWaitedFor)
      .map(({ name }) => name)
  }

  /** What people should know of. */
  notable(): readonly BehindNode[] {
    return this.#lags().filter(({ behindMs }) => behindMs >= saidMs)
  }

  /** Each zone of a look asks: they are listed once for all. */
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
    // The last one stays, to be compared with.
    this.#revisions = this.#revisions.filter(
      (one, i) => one.revision > least || i === this.#revisions.length - 1,
    )
  }
}
