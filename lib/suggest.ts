// Finds the known word nearest to a misspelt one, for "did you mean".

/**
 * @returns the closest of `known` within about a third of its length; else the first that begins
 *   or ends with the word, as `weighted-round-robin` for `weighted`, or `httpPath` for `path`; else
 *   undefined
 */
export function suggest(word: string, known: Iterable<string>): string | undefined {
  const typed = word.toLowerCase()
  let best: string | undefined
  let longer: string | undefined
  let bestDistance = Math.max(1, Math.floor(typed.length / 3)) + 1
  for (const candidate of known) {
    if (isPartOf(typed, candidate)) longer ??= candidate
    const distance = editDistance(typed, candidate.toLowerCase(), bestDistance)
    if (distance < bestDistance) {
      best = candidate
      bestDistance = distance
    }
  }
  return best ?? longer
}

/** @returns a clause to put behind a message; '' where no known word is near */
export function didYouMean(word: string, known: Iterable<string>): string {
  const near = suggest(word, known)
  return near === undefined ? '' : `; did you mean "${near}"?`
}

/** Whether it is the first or last part of the candidate; four letters begin one without a mark. */
function isPartOf(typed: string, candidate: string): boolean {
  if (typed === '' || typed.length >= candidate.length) return false
  const lower = candidate.toLowerCase()
  const next = candidate[typed.length]!
  if (lower.startsWith(typed)) return typed.length >= 4 || next === '-' || isCapital(next)
  return lower.endsWith(typed) && isCapital(candidate[candidate.length - typed.length]!)
}

const isCapital = (letter: string): boolean => letter >= 'A' && letter <= 'Z'

/** Optimal string alignment distance; returns `limit` once it cannot be lower. */
function editDistance(a: string, b: string, limit: number): number {
  if (Math.abs(a.length - b.length) >= limit) return limit
  let beforePrevious: number[] = []
  let previous = Array.from({ length: b.length + 1 }, (_, j) => j)
  for (let i = 1; i <= a.length; i++) {
    const current = [i]
    let rowMin = i
    for (let j = 1; j <= b.length; j++) {
      const same = a[i - 1] === b[j - 1]
      let cost = Math.min(
        (previous[j] ?? 0) + 1,
        (current[j - 1] ?? 0) + 1,
        (previous[j - 1] ?? 0) + (same ? 0 : 1),
      )
      const swapped = i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1]
      if (swapped) cost = Math.min(cost, (beforePrevious[j - 2] ?? 0) + 1)
      current.push(cost)
      if (cost < rowMin) rowMin = cost
    }
    if (rowMin >= limit) return limit
    beforePrevious = previous
    previous = current
  }
  return previous[b.length] ?? limit
}
