// Finds the time on which most clocks of a fleet agree, where each is known within a range.

/** Least and most that a clock may be ahead (+) of the one here, or behind (-). */
export type ClockRange = readonly [leastMs: number, mostMs: number]

/** Clocks that agree differ by no more: reports take a while, and so does setting a clock. */
const agreeMs = 1_000

/**
 * The middle of where most ranges overlap (Marzullo's algorithm, as in NTP): where the clock here
 * is wrong, all others seem to be. Where equally many agree elsewhere, the nearest are believed.
 *
 * @returns an offset from the clock here
 */
export function fleetOffsetMs(ranges: readonly ClockRange[]): number {
  const edges = ranges
    .flatMap(([leastMs, mostMs]) => [
      { atMs: leastMs - agreeMs / 2, step: 1 },
      { atMs: mostMs + agreeMs / 2, step: -1 },
    ])
    .toSorted((a, b) => a.atMs - b.atMs || b.step - a.step)
  let [count, best, offsetMs] = [0, 0, 0]
  for (const [i, { atMs, step }] of edges.entries()) {
    count += step
    if (step < 0 || count < best) continue
    const foundMs = middleOf(atMs, edges[i + 1]!.atMs)
    if (count > best || Math.abs(foundMs) < Math.abs(offsetMs)) offsetMs = foundMs
    best = count
  }
  return offsetMs
}

/** The clock here is believed where it may be right. */
function middleOf(fromMs: number, toMs: number): number {
  if (fromMs <= 0 && toMs >= 0) return 0
  return toMs === Infinity ? fromMs : (fromMs + toMs) / 2
}

/** How far a clock is from an offset at least; 0: it may be right. */
export function distanceMs([leastMs, mostMs]: ClockRange, offsetMs: number): number {
  return Math.max(0, leastMs - offsetMs) || Math.min(0, mostMs - offsetMs)
}
