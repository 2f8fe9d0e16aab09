// The interface of a step: its name, its kind, and the function that a chain runs.
import type { Chain } from '#routing/chain/chain.ts'
import type { RoutingEnvironment } from './environment.ts'

/**
 * Changes the candidates of a chain in place: a narrowing step orders or drops some, a selecting
 * one puts its pick first. Never leaves none. Must not allocate, wait, or read a clock; says with
 * `chain.need` how much of the client's address it looked at.
 */
export type Step = (chain: Chain) => void

export interface Filter {
  /** As people write it in `filterChain`. */
  readonly name: string
  readonly aliases: readonly string[]
  /** `selecting` ends a chain. */
  readonly kind: 'narrowing' | 'selecting'
  /** Called once for each distinct policy of a bundle. @param argument what follows `name:` */
  readonly bind: (environment: RoutingEnvironment, argument: string) => Step
}

/** An algorithm that needs more than candidate lists: geo data, settings, measurements. */
export interface Algorithm {
  /** As people write it in `algorithm`. */
  readonly name: string
  readonly aliases: readonly string[]
  readonly bind: (environment: RoutingEnvironment) => Step
}
