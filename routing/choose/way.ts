// Defines a way to choose: one row of the table in ways.ts, and the step that it becomes.
import type { ValueName } from '#bundle/format/routing-text.ts'
import type { Random } from '#lib/random.ts'
import type { Chain } from '#routing/chain/chain.ts'
import type { RangeTable } from '#routing/tables/range-table.ts'
import type { RoutingQuery } from '#routing/state/query.ts'
import type { RoutingState } from '#routing/state/state.ts'
import type { RoutingEnvironment } from './environment.ts'

/**
 * Changes the candidates of a chain in place: a narrowing step orders or drops some, a selecting
 * one puts its pick first. Never leaves none. Must not allocate, wait, or read a clock; says with
 * `chain.need` how much of the client's address it looked at.
 */
export interface Step {
  (chain: Chain): void
  /** Set when the step looks at the client in one range table and nowhere else. */
  readonly byTable?: TableStep
}

/** What such a step is made of, by what the table says of the client. */
export interface TableStep {
  readonly ranges: RangeTable
  /** Its values are from 0 to one less. */
  readonly values: number
  /** One of LikenessKind. */
  readonly kind: number
  /** What is to be done, as a number: two that differ do not do the same. */
  readonly actionFor: (chain: Chain, value: number) => number
  /** Does what `chain.picked` says. */
  readonly act: (chain: Chain) => void
}

/** What a pool or the settings must have, or the way has no effect. The compiler checks each. */
export type WayNeed =
  | 'locations'
  | 'regions'
  | 'two-regions'
  | 'map-rules'
  | 'asn-rules'
  | 'round-trips'
  | 'rum-urls'
  | 'signals'
  | 'small-pool'

export interface Way {
  /** As people write it. Two ways may share a name where one is for `algorithm` only. */
  readonly name: string
  readonly aliases: readonly string[]
  /** The fields of a service that may name it. */
  readonly usedAs: readonly ('algorithm' | 'filter')[]
  /** A `selecting` one ends a chain. */
  readonly kind: 'narrowing' | 'selecting'
  /** How many of the members that it is given go on to the next step. */
  readonly leaves: 'all' | 'fewer' | 'one'
  /** It takes turns or throws dice: any member that it is given may come first. */
  readonly picksAny: boolean
  /** What stands behind the colon in a chain, `name:BODY`: a program. Without it, no colon. */
  readonly argument?: 'BODY'
  /**
   * From the same candidates it chooses the same for every client until the lists of their pool
   * are rebuilt: the result can be kept.
   */
  readonly repeats?: true
  readonly needs: readonly WayNeed[]
  /** The settings by which it chooses: where they differ, so may its answers. */
  readonly reads?: ValueName
  /**
   * What the weight of a member is to it: a share of the answers, of which weight 0 gets nothing,
   * or a number that a program is told. Without it: nothing, whatever the weight.
   */
  readonly weightAs?: 'share' | 'input'
  /** What a licence must have for it, besides chains. */
  readonly feature?: 'filter-scripts' | 'rum-routing' | 'signal-weight'
  /** By what it compares clients for the scope: of LikenessKind, each in one row only. */
  readonly likeness: readonly number[]
  /** Its row in docs/routing.md. */
  readonly page: WayPage
  /**
   * The fast path: a service that has this algorithm and nothing else needs no chain. Round
   * robin over 4 members takes 24 ns instead of 39, over 1,000 it takes 26 instead of 1,794.
   */
  readonly plain?: PlainWay
  /** Called once for each distinct policy of a bundle. @param argument what follows `name:` */
  readonly bind: (environment: RoutingEnvironment, argument: string) => Step
}

/** True where a step divides the answers by weight: members of weight 0 are no candidates. */
export function dividesByWeight(ways: readonly Way[]): boolean {
  return ways.some(({ weightAs }) => weightAs === 'share')
}

export interface WayPage {
  readonly does: string
  /** Where its settings stand, with defaults in brackets. Empty: it has none. */
  readonly settings: string
  /** How much of the client's address its answer is for. */
  readonly scope: string
}

export interface PlainWay {
  /** `Algorithm` of a service in a bundle. Never given to another way. */
  readonly code: number
  /**
   * Picks from the pool's candidates: members that are enabled, healthy and of the asked family.
   * Must not allocate, wait, or read a clock.
   *
   * @returns a member index, or -1 when there is no candidate
   */
  readonly select: (state: RoutingState, query: RoutingQuery, random: Random) => number
}
