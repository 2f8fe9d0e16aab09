// Filters changes of member health for the feed: only another verdict, score or reason is sent.
import type { Clock } from '#lib/clock.ts'
import type { ConfigSnapshot } from '#config/object-index.ts'
import { healthOf } from '#api/resources/health-status.ts'
import type { KnownHealth, MemberHealthView } from '#ports/member-health.ts'
import type { MemberPart } from '#api/resources/member.ts'
import { healthMessage } from './messages.ts'
import type { FeedEvent, HealthFacts } from './messages.ts'

export class HealthNews {
  readonly #view: MemberHealthView
  readonly #clock: Clock
  /** By member: verdict, score and reason of each node, as last sent. */
  readonly #said = new Map<string, ReadonlyMap<string, string>>()

  constructor(view: MemberHealthView, clock: Clock) {
    this.#view = view
    this.#clock = clock
  }

  /** A round trip changes with each probe: it is sent along, and never alone. */
  eventsOf(memberUids: readonly string[], config: ConfigSnapshot): FeedEvent[] {
    return memberUids.flatMap((uid) => {
      const found = config.part('Member', uid)
      if (found === undefined) {
        this.#said.delete(uid)
        return []
      }
      const { part, owner } = found
      const known = healthOf(this.#view, part, owner.tenant)
      const said = this.#said.get(part.uid)
      const facts = healthFacts(this.#view.node, owner.uid, part, known, this.#clock.nowMs())
      this.#said.set(part.uid, new Map(facts.map((one) => [one.node, wordOf(one)])))
      return facts
        .filter((one) => said?.get(one.node) !== wordOf(one))
        .map((one) => ({ tenant: owner.tenant, message: healthMessage(one) }))
    })
  }

  /** Drops members that are gone. */
  forget(memberUids: Iterable<string>): void {
    for (const uid of memberUids) this.#said.delete(uid)
  }
}

/** Facts of each node; a round trip is only this node's own. */
export function healthFacts(
  ownNode: string,
  poolId: string,
  member: MemberPart,
  { isProbed, nodes, rttMs, lastCheckedMs }: KnownHealth,
  atMs: number,
): HealthFacts[] {
  return nodes.map((view) => {
    const own = view.node === ownNode ? { rttMs, lastCheckMs: lastCheckedMs } : notShared
    return { ...view, isProbed, poolId, member, atMs, ...own }
  })
}

/** Other nodes do not send these. */
const notShared = { rttMs: 0, lastCheckMs: 0 }

const wordOf = ({ healthy, isProbed, score, reason }: HealthFacts): string =>
  `${healthy} ${isProbed} ${score} ${reason}`
