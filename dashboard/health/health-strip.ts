// Verdicts of a member as stretches on a line of time, one line for each node.
import type { HealthChange } from '../api/health-changes.ts'
import { countOf, spanOf } from '../parts/formats.ts'

interface Strip {
  readonly node: string
  readonly parts: readonly { left: number; width: number; tone: 'up' | 'down' }[]
  /** `up for 5 min, 2 changes seen`. */
  readonly words: string
}

export const stripMs = 30 * 60_000

/** @param trail in order of time */
export function stripsOf(
  verdicts: ReadonlyMap<string, Pick<HealthChange, 'healthy' | 'since'>>,
  trail: readonly HealthChange[],
  nowMs: number,
): Strip[] {
  const fromMs = nowMs - stripMs
  return [...verdicts].map(([node, { healthy, since }]) => {
    const heard = trail.filter((one) => one.node === node)
    const edges = heard.length === 0 ? [{ since, healthy }] : heard
    const parts = edges
      .map((one, i) => ({
        from: Math.max(fromMs, one.since),
        to: Math.max(fromMs, edges[i + 1]?.since ?? nowMs),
        tone: one.healthy ? ('up' as const) : ('down' as const),
      }))
      .filter(({ from, to }) => to > from)
      .map(({ from, to, tone }) => ({
        ...{ left: (100 * (from - fromMs)) / stripMs, width: (100 * (to - from)) / stripMs, tone },
      }))
    const span = since > 0 ? ` for ${spanOf(Math.max(0, Math.round((nowMs - since) / 1_000)))}` : ''
    const turns = heard.length - 1
    const changes = turns > 0 ? `, ${countOf(turns, 'change')} seen` : ''
    return { node, parts, words: `${healthy ? 'up' : 'down'}${span}${changes}` }
  })
}
