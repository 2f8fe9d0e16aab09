// Defines a way to choose: one row of the table in ways.ts, and the step that is bound from it.
import type { ValueName } from '#bundle/format/routing-text.ts'
import type { Random } from '#lib/random.ts'
import type { Chain } from '#routing/chain/chain.ts'
import type { RangeTable } from '#routing/tables/range-table.ts'
import type { RoutingQuery } from '#routing/state/query.ts'
import type { RoutingState } from '#routing/state/state.ts'
import type { RoutingEnvironment } from './environment.ts'

/**
 * Changes the candidates of a chain in place: a narrowing step orders or drops some, a selecting
 * one puts its pick first. It always leaves at least one. It must not allocate, wait, or read a
 * clock; it reports with `chain.need` how much of the client's address it used.
 */
export interface Step {
  (chain: Chain): void
  /** Set when the step looks at the client in one range table and nowhere else. */
  readonly byTable?: TableStep
}

/** The parts of such a step, which acts by the table's value for the client. */
export interface TableStep {
  readonly ranges: RangeTable
  /** Number of values in the table, from 0. */
  readonly values: number
  /** One of LikenessKind. */
  readonly kind: number
  /** Returns the action as a number: two different numbers do different things. */
  readonly actionFor: (chain: Chain, value: number) => number
  /** Does the action in `chain.picked`. */
  readonly act: (chain: Chain) => void
}

/** What a way needs from a pool or the settings to have an effect. The compiler checks each. */
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
  /** The name in configurations. Two ways may share a name when one is for `algorithm` only. */
  readonly name: string
  readonly aliases: readonly string[]
  /** Fields of a service in which it may be named. */
  readonly usedAs: readonly ('algorithm' | 'filter')[]
  /** A `selecting` one ends a chain. */
  readonly kind: 'narrowing' | 'selecting'
  /** How many of its members pass on to the next step. */
  readonly leaves: 'all' | 'fewer' | 'one'
  /** Whether it takes turns or draws at random, so that any candidate may come first. */
  readonly picksAny: boolean
  /** The part after the colon in a chain, `name:BODY`: a program. Left out: no colon. */
  readonly argument?: 'BODY'
  /**
   * Whether it chooses the same for every client until the lists of the pool are rebuilt, so that
   * the result can be stored.
   */
  readonly repeats?: true
  readonly needs: readonly WayNeed[]
  /** The settings that affect its choice: where they differ, answers may differ. */
  readonly reads?: ValueName
  /**
   * The meaning of a member's weight: a share of the answers, where weight 0 gets none, or an input
   * of a program. Left out: the weight has no effect.
   */
  readonly weightAs?: 'share' | 'input'
  /** The licence feature that it needs, besides chains. */
  readonly feature?: 'filter-scripts' | 'rum-routing' | 'signal-weight'
  /** Kinds of LikenessKind by which it compares clients for the scope, each in one row only. */
  readonly likeness: readonly number[]
  /** Its row in docs/routing.md. */
  readonly page: WayPage
  /**
   * The fast path: a service with this algorithm and nothing else needs no chain. Round robin over
   * 4 members takes 24 ns instead of 39, over 1,000 it takes 26 instead of 1,794.
   */
  readonly plain?: PlainWay
  /** Called once for each distinct policy of a bundle. @param argument the text after `name:` */
  readonly bind: (environment: RoutingEnvironment, argument: string) => Step
}

/** True where a step divides the answers by weight: members of weight 0 are no candidates. */
export function dividesByWeight(ways: readonly Way[]): boolean {
  return ways.some(({ weightAs }) => weightAs === 'share')
}

interface WayPage {
  readonly does: string
  /** Path of its settings, with defaults in brackets. Empty: it has none. */
  readonly settings: string
  /** The part of the client's address for which its answer is valid. */
  readonly scope: string
}

export interface PlainWay {
  /** `Algorithm` of a service in a bundle. Codes are never reused. */
  readonly code: number
  /**
   * Picks from the pool's candidates: members that are enabled, healthy and of the asked family.
   * Must not allocate, wait, or read a clock.
   *
   * @returns a member index, or -1 when there is no candidate
   */
  readonly select: (state: RoutingState, query: RoutingQuery, random: Random) => number
}
