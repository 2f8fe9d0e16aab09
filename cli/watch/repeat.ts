// Shows something once, or repeatedly until it is interrupted.
import { setTimeout as wait } from 'node:timers/promises'
import { Exit, UsageError } from '#system/process/command.ts'
import type { Io } from '#system/process/command.ts'

interface Repetition {
  /** Pause from the end of one look to the next. */
  readonly intervalMs: number
  /** Infinity: until an interruption. */
  readonly times: number
}

const intervalMaxSeconds = 3_600
const timesMax = 1_000_000
/** ECMA-48: moves the cursor to the top left, and erases what is below. */
const clear = '\u001b[H\u001b[2J'

/** Reads `--interval` and `--times`. @throws UsageError */
export function repetitionOf(interval: string, times: string | undefined): Repetition {
  const seconds = /^\d{1,4}(\.\d{1,3})?$/.test(interval) ? Number(interval) : NaN
  if (!(seconds >= 0.1 && seconds <= intervalMaxSeconds)) {
    throw new UsageError(`--interval is a number of seconds from 0.1 to ${intervalMaxSeconds}`)
  }
  const count = times === undefined ? Infinity : /^\d{1,7}$/.test(times) ? Number(times) : NaN
  if (!(count >= 1) || (count > timesMax && times !== undefined)) {
    throw new UsageError(`--times is a whole number from 1 to ${timesMax}`)
  }
  return { intervalMs: seconds * 1_000, times: count }
}

export interface Look {
  readonly exit: Exit
  readonly text: string
}

/** Clears a terminal; elsewhere an empty line between two looks. */
export function screenBefore({ isTerminal }: Pick<Io, 'isTerminal'>): (done: number) => string {
  return (done) => (isTerminal ? clear : done > 0 ? '\n' : '')
}

/**
 * Ends at SIGINT or SIGTERM.
 *
 * @param before returns the text before a look, by the number of looks
 * @returns the exit code of the last look
 */
export async function repeat(
  { intervalMs, times }: Repetition,
  look: () => Promise<Look>,
  out: Io['out'],
  before: (done: number) => string = () => '',
): Promise<Exit> {
  const stop = new AbortController()
  const end = (): void => stop.abort()
  process.once('SIGINT', end).once('SIGTERM', end)
  let exit: Exit = Exit.Ok
  try {
    for (let done = 0; done < times && !stop.signal.aborted; done++) {
      if (done > 0) await pause(intervalMs, stop.signal)
      if (stop.signal.aborted) break
      const seen = await look()
      exit = seen.exit
      out(before(done) + seen.text)
    }
  } finally {
    process.off('SIGINT', end).off('SIGTERM', end)
  }
  return exit
}

/** Ends early at an interruption. */
async function pause(ms: number, signal: AbortSignal): Promise<void> {
  await wait(ms, undefined, { signal }).catch(() => undefined)
}
