// The table of strategies. Adding one means one file, one line here, one set of cases.
import { failover } from '#routing/strategies/failover.ts'
import { roundRobin } from '#routing/strategies/round-robin.ts'
import { weightedRoundRobin } from '#routing/strategies/weighted-round-robin.ts'
import type { Strategy } from '#routing/state/strategy.ts'

export const strategies: readonly Strategy[] = Object.freeze([
  roundRobin,
  weightedRoundRobin,
  failover,
])

/** By `code`; a hole is a code that no strategy has. */
export const strategiesByCode: readonly (Strategy | undefined)[] = Object.freeze(
  Array.from({ length: Math.max(...strategies.map(({ code }) => code)) + 1 }, (_, code) =>
    strategies.find((strategy) => strategy.code === code),
  ),
)

/** Finds a strategy by its name or an alias. */
export function strategyNamed(name: string): Strategy | undefined {
  return strategies.find((strategy) => strategy.name === name || strategy.aliases.includes(name))
}
