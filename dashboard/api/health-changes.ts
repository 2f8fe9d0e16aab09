// Holds changes of health since the page was opened, as the feed sent them: newest last, bounded.

export interface HealthChange {
  readonly memberId: string
  readonly node: string
  /** Unix milliseconds. */
  readonly since: number
  readonly healthy: boolean
}

const changesMax = 20_000
/** Dropped together, so that not each new change moves the rest. */
const forgottenAtOnce = 5_000

const changes: HealthChange[] = []

export function noteTrail(change: HealthChange): void {
  changes.push(change)
  if (changes.length > changesMax) changes.splice(0, forgottenAtOnce)
}

export const trailOf = (memberId: string): readonly HealthChange[] =>
  changes.filter((change) => change.memberId === memberId)

export function forgetTrail(): void {
  changes.length = 0
}
