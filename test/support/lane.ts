// Scales tests by lane: a tenth in the short lane (`npm test`), everything in the long one.
import { inject } from 'vitest'

export type Lane = 'short' | 'long'

declare module 'vitest' {
  interface ProvidedContext {
    /** `npm test` is short; `npm run test:long` and `npm run test:peers` are long. */
    readonly lane: Lane
  }
}

/**
 * Number of random inputs, writes, kills or queries. A file that imports this runs in both lanes.
 *
 * @param full count in the long lane
 * @param short count in the short lane, where a tenth would show too little
 */
export const laneCount = (full: number, short = Math.ceil(full / 10)): number =>
  inject('lane') === 'long' ? full : short

/** Rows of a table with seconds per row: all in the long lane, some in the short one. */
export const laneRows = <Row>(
  rows: readonly Row[],
  isShort: (row: Row, index: number) => boolean,
): readonly Row[] => (inject('lane') === 'long' ? rows : rows.filter(isShort))

/** Defines tests of the long lane only, in a file that has others as well. */
export function onlyLong(define: () => void): void {
  if (inject('lane') === 'long') define()
}
