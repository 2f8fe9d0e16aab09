// Puts the health of a member over time into words: of one stretch, and of all of them.
import { countOf, localOf, spanOf } from '../parts/formats.ts'

export interface Stretch {
  /** Unix milliseconds. */
  readonly from: number
  readonly to: number
  readonly state: string
  readonly reason: string
  /** Changes within it that are too short to be drawn. */
  readonly changes: number
}

const secondsOf = ({ from, to }: Stretch): number => Math.round((to - from) / 1_000)

const notKnown: Readonly<Record<string, string>> = { unknown: 'not known', unprobed: 'not probed' }

/** `down for 3 min from 14:02: probes found it down`. */
export function stretchText(one: Stretch): string {
  const { state, reason, changes, from } = one
  const storm = changes > 0 ? `, with ${countOf(changes, 'change')}` : ''
  const why = reason === '' ? '' : `: ${reason}`
  const what = notKnown[state] ?? state
  return `${what} for ${spanOf(secondsOf(one))} from ${localOf(from)}${storm}${why}`
}

/** `up 99.7 % of the time that is known, down 2 times`. */
export function summaryOf(stretches: readonly Stretch[], rangeMs: number): string {
  const lengthOf = (wanted: (state: string) => boolean): number =>
    stretches.reduce((sum, { state, from, to }) => sum + (wanted(state) ? to - from : 0), 0)
  const has = (...states: string[]): boolean =>
    stretches.some(({ state }) => states.includes(state))
  const isUnprobed = has('unprobed')
  // Times when an unprobed member was kept out say nothing about its health.
  const kept = isUnprobed ? ['disabled', 'maintenance', 'unresolved'] : []
  const notCounted = ['unknown', 'unprobed', 'absent', ...kept]
  const knownMs = lengthOf((state) => !notCounted.includes(state))
  if (knownMs === 0 && !isUnprobed) return 'nothing is known of this time'
  const falls = stretches.filter(({ state }) => state === 'down').length
  const storms = stretches.reduce((sum, { changes }) => sum + changes, 0)
  const times = falls === 0 ? '' : `, down ${countOf(falls, 'time')}`
  const more = storms === 0 ? '' : `, ${countOf(storms, 'short change')}`
  if (isUnprobed && !has('up', 'warming')) return `not probed${times}${more}`
  const share = (100 * lengthOf((state) => state === 'up')) / knownMs
  const part = knownMs < rangeMs * 0.99 ? ' of what is known' : ''
  // Never 100 where it was down.
  const shown = share === 100 ? '100' : Math.min(99.99, share).toFixed(share > 99 ? 2 : 1)
  return `up ${shown} %${part}${times}${more}`
}
