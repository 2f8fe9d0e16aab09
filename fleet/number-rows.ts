// Packs a column of numbers as its differences to an older one. Where a row came or went, many
// cells rise by the same amount: that is one step, and nearly all that is left is zeros. (ADR 24)

/** Rows of the new column that stand in a row in the old one. */
export interface RowRun {
  /** In the new rows. */
  readonly row: number
  readonly count: number
  /** In the old rows. */
  readonly place: number
}

/** Cells are u32; both have whole rows. */
export interface RowPair {
  readonly now: Uint32Array
  readonly old: Uint32Array
  /** Cells of one row. */
  readonly words: number
}

export const rowLimits = {
  /** More are another table. */
  runsMax: 256,
  /** How many rows can come or go at one place. */
  reach: 64,
  /** By which it is seen where the rows go on. */
  aheadRows: 8,
  searchesMax: 256,
  /** Of all cells of a row together. */
  stepsMax: 4_096,
  wordsMax: 64,
  /** Fewer cells in a row than this make no step of their own. */
  stepCellsMin: 3,
} as const

/**
 * @param place where the first new row probably stands in the old rows
 * @returns in order and without a gap; undefined: they have too little in common
 */
export function runsOf(pair: RowPair, place: number): readonly RowRun[] | undefined {
  const rows = pair.now.length / pair.words
  const changes = changesIn(pair)
  const runs: RowRun[] = []
  let run = { row: 0, place }
  let shift = place
  let searches = 0
  let usual = 0
  for (let row = 0; row < rows; row++) {
    const change = changes(row, shift)
    if (change <= 2 * usual + 2 || searches === rowLimits.searchesMax) {
      usual += (change - usual) / 8
      continue
    }
    searches++
    let better = betterShift(changes, row, rows, shift)
    // Behind many rows that came, the old ones go on.
    if (better === shift) better = betterShift(changes, row + rowLimits.reach, rows, shift)
    if (better === shift) {
      usual += (change - usual) / 8
      continue
    }
    if (row > run.row) runs.push({ ...run, count: row - run.row })
    if (runs.length === rowLimits.runsMax) return undefined
    shift = better
    run = { row, place: row + shift }
  }
  if (rows > run.row) runs.push({ ...run, count: rows - run.row })
  return runs
}

/** How much the differences of a row to the one that it was differ from those of the row above. */
type Changes = (row: number, shift: number) => number

function changesIn({ now, old, words }: RowPair): Changes {
  return (row, shift) => {
    const at = row * words
    const from = (row + shift) * words
    if (from < 0 || from + words > old.length) return 32 * words
    let bits = 0
    for (let i = 0; i < words; i++) {
      const difference = now[at + i]! - old[from + i]!
      const isFirst = row === 0 || from < words
      const above = isFirst ? 0 : now[at + i - words]! - old[from + i - words]!
      bits += 32 - Math.clz32(Math.abs((difference - above) | 0))
    }
    return bits
  }
}

/** @returns with which the rows from `row` on are far more alike; `shift` if there is none */
function betterShift(changes: Changes, row: number, rows: number, shift: number): number {
  const end = Math.min(rows, row + rowLimits.aheadRows)
  const sumAt = (other: number, most: number): number => {
    let sum = 0
    for (let ahead = row; ahead < end && sum < most; ahead++) sum += changes(ahead, other)
    return sum
  }
  let best = shift
  let least = sumAt(shift, Infinity) / 2
  for (let by = 1; by <= rowLimits.reach; by++) {
    for (const other of [shift - by, shift + by]) {
      const sum = sumAt(other, least)
      if (sum < least) [best, least] = [other, sum]
    }
  }
  return best
}

/**
 * For each cell of a row: how many steps it has, and of each from which value on it is how much
 * more. Behind them what is left of each cell.
 *
 * @param pair as many old rows as new ones
 */
export function packRows({ now, old, words }: RowPair): Uint32Array {
  const head: number[] = []
  const rest = new Uint32Array(now.length)
  let left: number = rowLimits.stepsMax
  for (let word = 0; word < words; word++) {
    const all = stepsOf({ now, old, words }, word)
    const steps = all.length / 2 > left ? [] : all
    left -= steps.length / 2
    head.push(steps.length / 2, ...steps)
    const difference = differenceIn(steps)
    for (let i = word; i < now.length; i += words) {
      rest[i] = now[i]! - old[i]! - difference(old[i]!)
    }
  }
  const packed = new Uint32Array(head.length + rest.length)
  packed.set(head)
  packed.set(rest, head.length)
  return packed
}

/** Values and differences in turns, by rising values. */
function stepsOf({ now, old, words }: RowPair, word: number): readonly number[] {
  const rows = now.length / words
  const differenceOf = (row: number): number =>
    (now[row * words + word]! - old[row * words + word]!) >>> 0
  const first = differenceOf(0)
  let row = 1
  while (row < rows && differenceOf(row) === first) row++
  if (row === rows) return first === 0 ? [] : [0, first]
  // A value of 32 bits and a row of 18 are exact in the 53 of a number.
  const byValue = new Float64Array(rows)
  for (let i = 0; i < rows; i++) byValue[i] = old[i * words + word]! * rowsMax + i
  byValue.sort()
  const steps: number[] = []
  let last = 0
  for (let start = 0; start < rows;) {
    const difference = differenceOf(byValue[start]! % rowsMax)
    let end = start + 1
    while (end < rows && differenceOf(byValue[end]! % rowsMax) === difference) end++
    const value = Math.floor(byValue[start]! / rowsMax)
    if (difference !== last && end - start >= rowLimits.stepCellsMin && value !== steps.at(-2)) {
      steps.push(value, difference)
      last = difference
    }
    start = end
  }
  return steps
}
/** In a piece of a bundle. */
const rowsMax = 2 ** 18

/** The difference of a cell, by what it was. */
function differenceIn(steps: ArrayLike<number>): (value: number) => number {
  const count = steps.length / 2
  // Of most cells: all rise by the same, or none does.
  if (count === 0) return () => 0
  if (count === 1 && steps[0] === 0) {
    const difference = steps[1]!
    return () => difference
  }
  return (value) => {
    let low = 0
    let high = count
    while (low < high) {
      const middle = (low + high) >>> 1
      if (steps[2 * middle]! <= value) low = middle + 1
      else high = middle
    }
    return low === 0 ? 0 : steps[2 * low - 1]!
  }
}

/**
 * Makes the new rows of `packed`, which is not trusted.
 *
 * @param old as many octets as there will be
 * @returns undefined: `packed` is not of these rows
 */
export function unpackRows(
  packed: Uint32Array,
  old: Uint32Array,
  words: number,
): Uint32Array | undefined {
  const steps: Uint32Array[] = []
  let at = 0
  let left: number = rowLimits.stepsMax
  for (let word = 0; word < words; word++) {
    const count = packed[at++] ?? Infinity
    left -= count
    if (left < 0) return undefined
    steps.push(packed.subarray(at, at + 2 * count))
    at += 2 * count
  }
  if (packed.length !== at + old.length) return undefined
  const now = new Uint32Array(old.length)
  for (let word = 0; word < words; word++) {
    const difference = differenceIn(steps[word]!)
    for (let i = word; i < now.length; i += words) {
      now[i] = old[i]! + difference(old[i]!) + packed[at + i]!
    }
  }
  return now
}
