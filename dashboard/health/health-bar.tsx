// Shows how many members are up, as a bar with words.
import type { Standing } from '../api/live.ts'

type Counts = Readonly<Record<Standing, number>> & { readonly all: number }

export function barOf(standings: readonly Standing[]): Counts {
  const counts = { up: 0, down: 0, split: 0, disabled: 0, unknown: 0, all: standings.length }
  for (const standing of standings) counts[standing]++
  return counts
}

export const hasFault = ({ down, split }: Counts): boolean => down + split > 0

export function countsText({ all, up, down, split, disabled, unknown }: Counts): string {
  if (all === 0) return 'no members'
  const parts = [
    ...(up > 0 ? [`${up} up`] : []),
    ...(down > 0 ? [`${down} down`] : []),
    ...(split > 0 ? [`${split} differ`] : []),
    ...(disabled > 0 ? [`${disabled} disabled`] : []),
    ...(unknown > 0 ? [`${unknown} not probed`] : []),
  ]
  return parts.join(', ')
}

export function HealthBar({ counts }: { counts: Counts }) {
  const { all, up, split, down } = counts
  const part = (count: number): { width: string } => ({ width: `${(100 * count) / all}%` })
  return (
    <div style={{ minWidth: '7rem' }}>
      {all > 0 && (
        <div class="bar" aria-hidden="true">
          <span class="up" style={part(up)} />
          <span class="split" style={part(split)} />
          <span class="down" style={part(down)} />
        </div>
      )}
      <span class="hint">{countsText(counts)}</span>
    </div>
  )
}
