// The interface of a routing strategy: one method that picks a member and allocates nothing.
import type { Random } from '#lib/random.ts'
import type { RoutingState } from './state.ts'

/** Which address family the query asks for. Also the offset in per-family columns. */
export const Family = { V4: 0, V6: 1 } as const
export type Family = (typeof Family)[keyof typeof Family]

/** What a decision may know of the query. One per thread; the answer path fills it each time. */
export interface RoutingQuery {
  serviceIndex: number
  poolIndex: number
  family: Family
}

export interface Strategy {
  /** As people write it in `algorithm`. */
  readonly name: string
  /** Aliases: other spellings that are accepted. */
  readonly aliases: readonly string[]
  /** `Algorithm` of a service in a bundle. Never given to another strategy. */
  readonly code: number
  /**
   * Picks from the pool's candidates: members that are enabled, healthy, of positive weight and of
   * the asked family. Must not allocate, wait, or read a clock.
   *
   * @returns a member index, or -1 when there is no candidate
   */
  readonly select: (state: RoutingState, query: RoutingQuery, random: Random) => number
}
