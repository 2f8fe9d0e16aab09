// Decides how much a test does: a tenth in the short lane (`npm test`), everything in the long one.
import { inject } from 'vitest'

export type Lane = 'short' | 'long'

declare module 'vitest' {
  interface ProvidedContext {
    /** `npm test` is short; `npm run test:long` and `npm run test:peers` are long. */
    readonly lane: Lane
  }
}

/**
 * How many random inputs, writes, kills or queries. A file that imports this runs in both lanes.
 *
 * @param full the count of the long lane
 * @param short the count of the short lane, where a tenth would show too little
 */
export const laneCount = (full: number, short = Math.ceil(full / 10)): number =>
  inject('lane') === 'long' ? full : short

/** Rows of a table that costs seconds a row: all in the long lane, some in the short one. */
export const laneRows = <Row>(
  rows: readonly Row[],
  isShort: (row: Row, index: number) => boolean,
): readonly Row[] => (inject('lane') === 'long' ? rows : rows.filter(isShort))

/** Tests of the long lane alone, in a file that has others as well. */
export function onlyLong(define: () => void): void {
  if (inject('lane') === 'long') define()
}
