// Places spans of time on a line: in hundredths of its width, cut at its ends.

export interface Line {
  readonly fromMs: number
  readonly toMs: number
}

interface Stretch {
  readonly left: number
  readonly width: number
}

const hourMs = 3_600_000
const least = 0.6

/** @param hours of the line; a quarter of it is what has been */
export function lineAround(nowMs: number, hours: number): Line {
  const past = (hours * hourMs) / 4
  return { fromMs: nowMs - past, toMs: nowMs - past + hours * hourMs }
}

/** undefined: it is not on the line. @param endMs undefined: nobody knows when it ends */
export function stretchOf(line: Line, startMs: number, endMs?: number): Stretch | undefined {
  const end = Math.min(line.toMs, endMs ?? line.toMs)
  const start = Math.max(line.fromMs, startMs)
  if (end < line.fromMs || start > line.toMs) return undefined
  const left = shareOf(line, start)
  return { left: Math.min(left, 100 - least), width: Math.max(least, shareOf(line, end) - left) }
}

export const shareOf = ({ fromMs, toMs }: Line, ms: number): number =>
  (100 * (ms - fromMs)) / (toMs - fromMs)

/** Whole hours or days, at most `most` of them. */
export function ticksOf({ fromMs, toMs }: Line, most: number): number[] {
  const steps = [1, 2, 3, 6, 12, 24, 48, 96, 168].map((hours) => hours * hourMs)
  const stepMs = steps.find((one) => (toMs - fromMs) / one <= most) ?? steps.at(-1)!
  // Days begin at midnight where the reader is.
  const day = new Date(fromMs)
  day.setHours(0, 0, 0, 0)
  const ticks: number[] = []
  for (let ms = day.getTime(); ms <= toMs; ms += stepMs) if (ms >= fromMs) ticks.push(ms)
  return ticks
}
