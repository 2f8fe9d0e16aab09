// Tells the nodes of a cluster which commit each of them answers from: a node that is behind looks
// at the repository at once, and a write waits until the others follow.
import type { Clock } from '#lib/clock.ts'
import { WaitList } from '#lib/timer.ts'

interface CommitNewsParts {
  /** Unique name of this node. */
  readonly name: string
  /** Number of commits in the history of the active one, which only rises. 0: none is active. */
  readonly count: () => number
  /** Looks at the repository. */
  readonly look: () => void
  /** Sends a text to all nodes. Failures are ignored, since `tick` sends it again. */
  readonly announce: (text: string) => void
  readonly clock: Clock
}

export const commitNewsLimits = {
  /** How long a write waits for the other nodes. */
  patienceMs: 5_000,
  /** A node that is silent for so long counts as gone. */
  forgetMs: 30_000,
  peersMax: 1_000,
  nameCharactersMax: 253,
} as const

interface Peer {
  count: number
  heardMs: number
  /** True when the peer did not follow in time: no write waits for it until it has caught up. */
  isLate: boolean
}

export class CommitNews {
  readonly #parts: CommitNewsParts
  readonly #peers = new Map<string, Peer>()
  readonly #waiting = new WaitList()

  constructor(parts: CommitNewsParts) {
    this.#parts = parts
  }

  /** To be called when this node answers from another commit. */
  activated(): void {
    const { name, count, announce } = this.#parts
    announce(`${count()} ${name}`)
  }

  /** To be called every few seconds. */
  tick(): void {
    const { clock } = this.#parts
    for (const [name, { heardMs }] of this.#peers) {
      if (clock.monotonicMs() - heardMs > commitNewsLimits.forgetMs) this.#peers.delete(name)
    }
    this.activated()
  }

  /** Reads an announcement of any node, also of this one. Anything else is ignored. */
  heard(text: string): void {
    const { name: own, count: ownCount, look, clock } = this.#parts
    const [, digits = '', name = ''] = /^(\d{1,15}) (\S+)$/.exec(text) ?? []
    if (name === '' || name === own || name.length > commitNewsLimits.nameCharactersMax) return
    const count = Number(digits)
    const known = this.#peers.get(name)
    if (known === undefined && this.#peers.size >= commitNewsLimits.peersMax) return
    const isLate = known?.isLate === true && count < ownCount()
    this.#peers.set(name, { count, heardMs: clock.monotonicMs(), isLate })
    if (count > ownCount()) look()
    this.#waiting.wakeAll()
  }

  /** Resolves when all nodes that follow answer from this node's commit, or after `patienceMs`. */
  async followed(): Promise<void> {
    const { clock, count } = this.#parts
    const wanted = count()
    const deadlineMs = clock.monotonicMs() + commitNewsLimits.patienceMs
    for (;;) {
      const behind = [...this.#peers.values()].filter((one) => !one.isLate && one.count < wanted)
      if (behind.length === 0) return
      const leftMs = deadlineMs - clock.monotonicMs()
      if (leftMs <= 0) {
        for (const one of behind) one.isLate = true
        return
      }
      await this.#waiting.wait(leftMs)
    }
  }
}
